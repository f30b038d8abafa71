// A task of a request ends with its request: clients that disconnect, time limits, full queues and exiting workers, on real sockets.
// Where something must not happen, the test waits for a later event.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Fastify from 'fastify'
import fastifyPool from 'lido/fastify'
import { Client, until } from './client.js'
import { oneWorker, serveApp } from './fastify-app.js'
import { Held } from './held.js'

const limit = { timeout: 60_000 }
const counts = app => app.pool.stats().tasks

describe('clients that disconnect', limit, () => {
  test('the running task of a client that disconnects is cancelled and keeps its worker', async t => {
    const held = new Held()
    const ended = []
    const { app, port } = await serveApp(t, { ...oneWorker, cancelGrace: Infinity }, scope => {
      scope.get('/', async request => {
        const answer = request.pool.run(held.words, { name: 'held' })
        answer.catch(error => ended.push(error))
        return await answer
      })
      scope.get('/next', async request => await request.pool.run('next'))
    })
    const [{ id }] = app.pool.workers
    const client = await Client.to(port)
    client.get('/')
    await held.starts()
    client.leave()
    await held.cancels()
    assert.equal(await app.inject('/next').then(answer => answer.body), 'next')
    const [{ code, reason, statusCode }] = ended
    assert.deepEqual(
      [code, reason.code, statusCode],
      ['ERR_LIDO_TASK_CANCELLED', 'ERR_LIDO_CLIENT_GONE', 499],
    )
    assert.deepEqual(
      app.pool.workers.map(worker => worker.id),
      [id],
    )
  })

  test('the queued task of a client that disconnects is cancelled and never starts', async t => {
    const held = new Held()
    const { app, port } = await serveApp(t, oneWorker, scope => {
      scope.get('/', async request => await request.pool.run(held.words, { name: 'held' }))
    })
    const [first, second] = [await Client.to(port), await Client.to(port)]
    first.get('/')
    await held.starts()
    second.get('/')
    await until(() => counts(app).waiting === 1)
    second.leave()
    await until(() => counts(app).cancelled === 1)
    held.openGate()
    await first.received('done')
    assert.equal(held.started, 1)
  })

  test('request.pool.run() rejects without a task when the client has already disconnected', async t => {
    const held = new Held()
    let outcome
    const { app, port } = await serveApp(t, oneWorker, scope => {
      scope.get('/', async (request, reply) => {
        const gone = new Promise(resolve => reply.raw.once('close', resolve))
        first.leave()
        await gone
        outcome = await request.pool.run(held.words, { name: 'held' }).catch(error => error.code)
      })
    })
    const first = await Client.to(port)
    first.get('/')
    await until(() => outcome !== undefined)
    assert.equal(outcome, 'ERR_LIDO_TASK_CANCELLED')
    assert.equal(counts(app).accepted, 0)
  })

  test('a client that disconnects while it sends its body starts no task', async t => {
    const { app, port } = await serveApp(t, oneWorker, scope => {
      scope.post('/', async request => await request.pool.run(request.body))
    })
    const client = await Client.to(port)
    const seen = new Promise(resolve => app.server.once('request', request => request.once('close', resolve)))
    client.post('/', '{"a":', 100)
    client.leave()
    await seen
    const answer = await app.inject({ method: 'POST', url: '/', payload: { a: 1 } })
    assert.deepEqual(answer.json(), { a: 1 })
    assert.equal(counts(app).accepted, 1)
  })

  test('the task of a client that disconnects after its body was read is cancelled', async t => {
    const held = new Held()
    const { port } = await serveApp(t, oneWorker, scope => {
      scope.post('/', async request => await request.pool.run(held.words, { name: 'held' }))
    })
    const client = await Client.to(port)
    client.post('/', '{}')
    await held.starts()
    client.leave()
    await held.cancels()
  })

  test('a task that continues after the answer is not cancelled when the client disconnects', async t => {
    const held = new Held()
    const { port } = await serveApp(t, oneWorker, scope => {
      scope.get('/', async request => {
        request.pool.run(held.words, { name: 'held' }).catch(() => {})
        return 'accepted'
      })
    })
    const client = await Client.to(port)
    client.get('/')
    await client.received('accepted')
    await held.starts()
    client.leave()
    held.openGate()
    await until(() => held.finished === 1)
  })

  test('a task with its own signal is cancelled by that signal or when its client disconnects', async t => {
    const held = new Held()
    const controller = new AbortController()
    const { port, app } = await serveApp(t, { ...oneWorker, concurrentTasksPerWorker: 2 }, scope => {
      scope.get('/', async request => {
        return await request.pool.run(held.words, { name: 'held', signal: controller.signal })
      })
    })
    const [leaving, staying] = [await Client.to(port), await Client.to(port)]
    leaving.get('/')
    staying.get('/')
    await held.starts(2)
    leaving.leave()
    await held.cancels(1)
    assert.equal(counts(app).inFlight, 1)
    controller.abort()
    await staying.received('ERR_LIDO_TASK_CANCELLED')
  })
})

describe('time limits', limit, () => {
  const late = { statusCode: 503, code: 'ERR_LIDO_TASK_TIMEOUT' }
  const limited = (held, config) => async (t, options) => {
    const { app } = await serveApp(t, { ...oneWorker, ...options }, scope => {
      scope.get('/', { config }, async request => {
        const { deadlineMs } = request.query
        const deadline = deadlineMs === undefined ? undefined : Date.now() + Number(deadlineMs)
        return await request.pool.run(held.words, { name: 'held', deadline })
      })
    })
    return app
  }
  const expectLate = answer => {
    const { statusCode, code } = answer.json()
    assert.deepEqual({ statusCode, code }, late)
    assert.equal(answer.statusCode, 503)
    assert.equal(answer.headers['retry-after'], undefined)
  }

  test('deadlineMs of the plugin cancels the task and answers with 503', async t => {
    const app = await limited(new Held(), {})(t, { deadlineMs: 50 })
    expectLate(await app.inject('/'))
  })

  test('deadlineMs of the route overrides deadlineMs of the plugin', async t => {
    const app = await limited(new Held(), { pool: { deadlineMs: 50 } })(t, { deadlineMs: 3_600_000 })
    expectLate(await app.inject('/'))
  })

  test('deadline of the call overrides deadlineMs of the route', async t => {
    const app = await limited(new Held(), { pool: { deadlineMs: 3_600_000 } })(t)
    expectLate(await app.inject('/?deadlineMs=50'))
  })

  test('deadlineMs: Infinity of the route removes the limit of the plugin', async t => {
    const held = new Held()
    const app = await limited(held, { pool: { deadlineMs: Infinity } })(t, { deadlineMs: 1 })
    const answer = app.inject('/')
    await held.starts()
    held.openGate()
    assert.equal((await answer).body, 'done')
  })

  for (const [pool, words] of [
    [
      { deadlineMs: '50' },
      /'config.pool.deadlineMs' must be milliseconds: a number above 0, or Infinity; got '50'/,
    ],
    [{ deadline: 50 }, /Unknown option 'config.pool.deadline' .* Did you mean 'config.pool.deadlineMs'\?/],
    [50, /'config.pool' must be an object, as in \{ deadlineMs: 2_000 \}; got 50/],
  ]) {
    test(`a wrong config.pool of a route is refused at registration: ${JSON.stringify(pool)}`, async t => {
      await assert.rejects(limited(new Held(), { pool })(t), error => {
        assert.equal(error.code, 'ERR_LIDO_INVALID_OPTION')
        assert.match(error.message, words)
        return true
      })
    })
  }

  // Fastify has this limit since version 5.8.
  const skip = !('handlerTimeout' in Fastify().initialConfig)
  test('handlerTimeout of Fastify also cancels the task', { skip }, async t => {
    const held = new Held()
    const { app } = await serveApp(t, oneWorker, scope => {
      scope.get('/', { handlerTimeout: 200 }, async request => {
        return await request.pool.run(held.words, { name: 'held' })
      })
    })
    const answer = await app.inject('/')
    assert.equal(answer.json().code, 'FST_ERR_HANDLER_TIMEOUT')
    await until(() => counts(app).cancelled === 1)
  })

  test('queueTimeout answers with 503 and Retry-After', async t => {
    const held = new Held()
    const { app } = await serveApp(t, { ...oneWorker, retryAfter: 7 }, scope => {
      scope.get('/:ms', async request => {
        return await request.pool.run(held.words, { name: 'held', queueTimeout: Number(request.params.ms) })
      })
    })
    const first = app.inject('/Infinity')
    await held.starts()
    const answer = await app.inject('/50')
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '7'])
    held.openGate()
    assert.equal((await first).body, 'done')
  })
})

describe('full queues', limit, () => {
  const full = { statusCode: 503, error: 'Service Unavailable', code: 'ERR_LIDO_QUEUE_FULL' }

  async function fullServer(t, routes = () => {}) {
    const held = new Held()
    const { app, url } = await serveApp(t, { ...oneWorker, maxQueue: 0, retryAfter: 3 }, scope => {
      scope.get('/tied', async request => await request.pool.run(held.words, { name: 'held' }))
      scope.get('/untied', async () => await app.pool.run(held.words, { name: 'held' }))
      routes(scope, held)
    })
    const first = fetch(`${url}/tied`)
    await held.starts()
    t.after(() => held.openGate())
    return { held, url, first }
  }

  for (const [path, run] of [
    ['/tied', 'request.pool.run()'],
    ['/untied', 'app.pool.run()'],
  ]) {
    test(`${run} on a full queue is answered with 503 and Retry-After in the error format of Fastify`, async t => {
      const { held, url, first } = await fullServer(t)
      const answer = await fetch(url + path)
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '3'])
      const { message, ...rest } = await answer.json()
      assert.deepEqual(rest, full)
      assert.match(message, /All workers are busy/)
      held.openGate()
      assert.equal(await (await first).text(), 'done')
    })

    test(`${run} on a full queue keeps its status and Retry-After with a custom error handler`, async t => {
      const { url } = await fullServer(t, scope =>
        scope.setErrorHandler((error, _request, reply) => {
          reply.code(error.statusCode).send({ mine: error.code })
        }),
      )
      const answer = await fetch(url + path)
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '3'])
      assert.deepEqual(await answer.json(), { mine: full.code })
    })
  }

  test('a full queue of a pool in a scope is answered with the retryAfter of that pool', async t => {
    const held = new Held()
    const { url } = await serveApp(t, { ...oneWorker, as: 'outer' }, async scope => {
      await scope.register(fastifyPool, { ...oneWorker, name: 'held', maxQueue: 0, retryAfter: 3 })
      scope.get('/', async () => await scope.pool.run(held.words))
    })
    const first = fetch(url)
    await held.starts()
    const answer = await fetch(url)
    held.openGate()
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '3'])
    assert.equal(await (await first).text(), 'done')
  })
})

describe('failed tasks', limit, () => {
  test('workers that do not start give 503 with Retry-After, unless restart.pause is Infinity', async t => {
    for (const [pause, expected] of [
      [90_000, /^\d+$/],
      [Infinity, /^undefined$/],
    ]) {
      const restart = { failures: 1, period: 1_000, pause }
      const options = { ...oneWorker, minWorkers: 0, execArgv: ['--require', './missing.cjs'], restart }
      const { app } = await serveApp(t, options, scope => {
        scope.get('/', async request => await request.pool.run(1))
      })
      assert.equal((await app.inject('/')).statusCode, 500)
      const { statusCode, headers } = await app.inject('/')
      assert.equal(statusCode, 503)
      assert.match(String(headers['retry-after']), expected)
    }
  })

  test('a request whose worker exits is answered with 500, and the next request succeeds', async t => {
    const { url } = await serveApp(t, oneWorker, scope => {
      scope.get('/die', async request => await request.pool.run(1, { name: 'die' }))
      scope.get('/', async request => await request.pool.run('alive'))
    })
    const answer = await fetch(`${url}/die`)
    const { statusCode, error, code } = await answer.json()
    assert.deepEqual(
      [answer.status, statusCode, error, code],
      [500, 500, 'Internal Server Error', 'ERR_LIDO_WORKER_EXIT'],
    )
    assert.equal(await (await fetch(url)).text(), 'alive')
  })

  test('an error of a handler is answered with its own status code', async t => {
    const { url } = await serveApp(t, oneWorker, scope => {
      scope.get('/', async request => await request.pool.run('not so', { name: 'fail' }))
    })
    const answer = await fetch(url)
    assert.deepEqual(await answer.json(), {
      statusCode: 422,
      error: 'Unprocessable Entity',
      message: 'not so',
    })
  })
})

test('request.pool.run() rejects wrong options with ERR_LIDO_INVALID_TASK', async t => {
  const { app } = await serveApp(t, oneWorker, scope => {
    scope.get('/', async request => {
      const ends = [null, 5, 'x', []].map(options => request.pool.run(1, options).catch(error => error.code))
      return await Promise.all(ends)
    })
  })
  assert.deepEqual((await app.inject('/')).json(), Array(4).fill('ERR_LIDO_INVALID_TASK'))
})
