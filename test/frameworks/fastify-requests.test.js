// What runs for a request ends with it: clients that leave at each stage, limits of time, a full queue, a worker that dies.
// Real sockets; that something did not happen is told by what must have happened after it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fastifyPool from 'lido/fastify'
import { Client, until } from './client.js'
import { oneWorker, serveApp } from './fastify-app.js'
import { Held } from './held.js'

const limit = { timeout: 60_000 }
const counts = app => app.pool.stats().tasks

describe('a client that leaves', limit, () => {
  test('while its task runs ends the task, and costs no worker', async t => {
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

  test('while its task waits takes it from the queue: no worker sees it', async t => {
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

  test('before its task is submitted keeps it from being submitted', async t => {
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

  test('while it sends its body leaves the pool alone, and the server answers the next', async t => {
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

  test('after its body was read ends the task all the same', async t => {
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

  test('does not end what runs on after its answer', async t => {
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

  test("ends a task beside the call's own signal, which works too", async t => {
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

describe('a limit of time', limit, () => {
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

  test('of the plugin ends the task and answers 503', async t => {
    const app = await limited(new Held(), {})(t, { deadlineMs: 50 })
    expectLate(await app.inject('/'))
  })

  test('of the route goes before that of the plugin', async t => {
    const app = await limited(new Held(), { pool: { deadlineMs: 50 } })(t, { deadlineMs: 3_600_000 })
    expectLate(await app.inject('/'))
  })

  test('of the call goes before that of the route', async t => {
    const app = await limited(new Held(), { pool: { deadlineMs: 3_600_000 } })(t)
    expectLate(await app.inject('/?deadlineMs=50'))
  })

  test("of the plugin is taken away by a route's Infinity", async t => {
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
    [{ deadline: 50 }, /no option 'config.pool.deadline' .* Did you mean 'config.pool.deadlineMs'\?/],
    [50, /'config.pool' must be an object, as in \{ deadlineMs: 2_000 \}; got 50/],
  ]) {
    test(`of a route is refused with the route: ${JSON.stringify(pool)}`, async t => {
      await assert.rejects(limited(new Held(), { pool })(t), error => {
        assert.equal(error.code, 'ERR_LIDO_INVALID_OPTION')
        assert.match(error.message, words)
        return true
      })
    })
  }

  test("of Fastify's own handlerTimeout ends the task as well", async t => {
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

  test('of waiting, queueTimeout, answers 503 and says when to come back', async t => {
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

describe('a full queue', limit, () => {
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

  for (const path of ['/tied', '/untied']) {
    test(`answers 503 with Retry-After in the shape of Fastify: a run ${path.slice(1)} to its request`, async t => {
      const { held, url, first } = await fullServer(t)
      const answer = await fetch(url + path)
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '3'])
      const { message, ...rest } = await answer.json()
      assert.deepEqual(rest, full)
      assert.match(message, /All workers are busy/)
      held.openGate()
      assert.equal(await (await first).text(), 'done')
    })

    test(`tells an error handler of your own the status, and keeps Retry-After: a run ${path.slice(1)}`, async t => {
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

  test('of a pool without a name in a scope says when to come back as that one has it', async t => {
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

describe('a task that fails', limit, () => {
  test('by workers that do not start says when to come back, unless that is never', async t => {
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

  test('by the death of its worker answers 500, and the next request is answered', async t => {
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

  test("by its own error answers with that error's status", async t => {
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

test('request.pool.run() refuses wrong options with the error of the pool', async t => {
  const { app } = await serveApp(t, oneWorker, scope => {
    scope.get('/', async request => {
      const ends = [null, 5, 'x', []].map(options => request.pool.run(1, options).catch(error => error.code))
      return await Promise.all(ends)
    })
  })
  assert.deepEqual((await app.inject('/')).json(), Array(4).fill('ERR_LIDO_INVALID_TASK'))
})
