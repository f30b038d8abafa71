// Closing a Fastify server: every accepted request is answered, no task keeps running, and the process exits with code 0.
// Also the health check for @fastify/under-pressure.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import { fastifyJson } from 'lido/body'
import fastifyPool, { fastifyPiscina, healthCheck } from 'lido/fastify'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { Client, until } from './client.js'
import { oneWorker, openApp, serveApp } from './fastify-app.js'
import { Held } from './held.js'
import { listenOnTwo } from './two-addresses.js'

const limit = { timeout: 60_000 }
const sum = { filename: fileURLToPath(new URL('./handlers/sum.cjs', import.meta.url)) }

describe('app.close()', limit, () => {
  test('app.close() waits for accepted requests and their tasks', async t => {
    const held = new Held()
    const { app, port } = await serveApp(
      t,
      { ...oneWorker, concurrentTasksPerWorker: 2 },
      scope => {
        scope.get('/', async request => await request.pool.run(held.words, { name: 'held' }))
      },
      { forceCloseConnections: 'idle' },
    )
    // Two tasks run, and one is queued.
    const clients = await Promise.all([Client.to(port), Client.to(port), Client.to(port)])
    for (const client of clients) client.get('/')
    await held.starts(2)
    await until(() => app.pool.stats().tasks.accepted === 3)
    const closed = app.close()
    await until(() => !app.server.listening)
    assert.equal(app.pool.stats().state, 'open')
    held.openGate()
    for (const client of clients) {
      await client.received('done')
      // Otherwise the server would wait for this connection until its keepAliveTimeout.
      client.leave()
    }
    await closed
    assert.deepEqual([app.pool.stats().state, app.pool.workers.length], ['closed', 0])
  })

  for (const [name, plugin, options, answer] of [
    ['fastifyPool', fastifyPool, oneWorker, request => request.pool.run(request.body)],
    ['fastifyPiscina', fastifyPiscina, sum, request => request.server.runTask(request.body)],
    ['fastifyJson', fastifyJson, { threshold: 1 }, request => request.body],
  ]) {
    test(`app.close() waits for a request on the second address of the server (${name})`, async t => {
      const app = Fastify({ forceCloseConnections: 'idle' })
      app.register(plugin, options)
      const isTaken = new Promise(resolve => app.addHook('onRequest', async () => resolve()))
      app.post('/', async request => ({ answer: await answer(request) }))
      const second = await listenOnTwo(t, () => app.listen({ host: 'localhost', port: 0 }))
      if (app.addresses().length < 2) return t.skip('the machine has one address')
      const client = await Client.to(app.server.address().port, second)
      const body = '{"a":1,"b":2}'
      client.post('/', body.slice(0, 5), body.length)
      await isTaken
      const order = []
      const closed = app.close().then(() => order.push('closed'))
      await once(app.server, 'close')
      // By now the hooks that close pools have run, unless they wait.
      for (let turn = 0; turn < 10; turn++) await setImmediate()
      client.send(body.slice(5))
      order.push((await client.received('"answer"')).split('\r\n')[0])
      client.leave()
      await closed
      assert.deepEqual(order, ['HTTP/1.1 200 OK', 'closed'])
    })
  }

  test('app.close() waits for tasks without a request', async t => {
    const held = new Held()
    const app = await openApp(t)
    const answer = app.pool.run(held.words, { name: 'held' })
    await held.starts()
    const closed = app.close()
    await until(() => app.pool.stats().state === 'closing')
    held.openGate()
    assert.equal(await answer, 'done')
    await closed
  })

  test('run() rejects with ERR_LIDO_POOL_CLOSED after app.close()', async t => {
    const app = await openApp(t)
    await app.close()
    assert.equal((await rejection(app.pool.run(1))).code, 'ERR_LIDO_POOL_CLOSED')
  })

  test(
    'app.close() under load answers every accepted request, and the process exits with code 0',
    limit,
    async () => {
      const { exitCode, output, errors } = await runProgram(`
      import { Agent, request } from 'node:http'
      const Fastify = (await import('${import.meta.resolve('fastify')}')).default
      const fastifyPool = (await import('${import.meta.resolve('lido/fastify')}')).default
      const filename = '${new URL('./handlers/work.js', import.meta.url)}'
      const app = Fastify({ forceCloseConnections: 'idle' })
      app.register(fastifyPool, { filename, maxWorkers: 2, maxQueue: 20 })
      app.get('/', async request => await request.pool.run(5, { name: 'spin' }))
      await app.listen({ host: '127.0.0.1', port: 0 })
      const { port } = app.server.address()
      const agent = new Agent({ keepAlive: false })
      const seen = { ok: 0, unavailable: 0, refused: 0, other: 0 }
      const ask = () => new Promise(resolve => {
        const asked = request({ agent, port, host: '127.0.0.1' }, answer => {
          const kind = { 200: 'ok', 503: 'unavailable' }[answer.statusCode] ?? 'other'
          seen[kind]++
          answer.resume().on('close', resolve)
        })
        // The server no longer listens, so it never accepted this request.
        asked.on('error', error => {
          seen[['ECONNREFUSED', 'ECONNRESET'].includes(error.code) ? 'refused' : 'other']++
          resolve()
        })
        asked.end()
      })
      let isOver = false
      const callers = Array.from({ length: 50 }, async () => {
        while (!isOver) await ask()
      })
      while (seen.ok < 100) await new Promise(resolve => setImmediate(resolve))
      const closed = app.close()
      await closed
      isOver = true
      await Promise.all(callers)
      const { tasks, state } = app.pool.stats()
      console.log(JSON.stringify({ ...seen, state, ...tasks, workers: app.pool.workers.length }))`)
      assert.equal(exitCode, 0, errors)
      const seen = JSON.parse(output)
      assert.deepEqual(
        [seen.other, seen.state, seen.workers, seen.waiting, seen.inFlight],
        [0, 'closed', 0, 0, 0],
      )
      assert.ok(seen.ok >= 100)
      // Each completed task was answered, and no task was cancelled.
      assert.deepEqual([seen.fulfilled, seen.cancelled], [seen.ok, 0])
    },
  )
})

describe('healthCheck() for @fastify/under-pressure', limit, () => {
  async function pressedServer(t, options, limits) {
    const held = new Held()
    const served = await serveApp(t, options, async scope => {
      scope.get('/busy', async request => await request.pool.run(held.words, { name: 'held' }))
      await scope.register(underPressure, {
        healthCheck: healthCheck(limits),
        healthCheckInterval: 10,
        exposeStatusRoute: {
          url: '/status',
          routeResponseSchemaOpts: { pools: { type: 'object', additionalProperties: true } },
        },
      })
      scope.get('/', async () => 'fine')
    })
    t.after(() => held.openGate())
    const status = async path => (await fetch(served.url + path)).status
    return { ...served, held, status }
  }

  async function untilAnswers(status, path, expected) {
    while ((await status(path)) !== expected);
  }

  for (const limits of [undefined, { maxWaiting: 50 }]) {
    test(`requests get 503 while the queue is full and 200 afterwards${limits ? ', also below maxWaiting' : ''}`, async t => {
      const { held, status, url, app } = await pressedServer(t, { ...oneWorker, maxQueue: 1 }, limits)
      assert.equal(await status('/'), 200)
      const busy = [fetch(`${url}/busy`)]
      await held.starts()
      busy.push(fetch(`${url}/busy`))
      await untilAnswers(status, '/', 503)
      const answer = await fetch(url)
      assert.deepEqual(
        [(await answer.json()).code, answer.headers.get('retry-after')],
        ['FST_UNDER_PRESSURE', '10'],
      )
      assert.equal(app.pool.needsDrain, true)
      held.openGate()
      for (const answer of busy) assert.equal((await answer).status, 200)
      await untilAnswers(status, '/', 200)
    })
  }

  test('requests get 503 when more than maxWaiting tasks of the named pools are queued', async t => {
    const { held, status, url } = await pressedServer(t, oneWorker, { maxWaiting: 0, pools: ['default'] })
    const busy = [fetch(`${url}/busy`)]
    await held.starts()
    assert.equal(await status('/'), 200)
    busy.push(fetch(`${url}/busy`))
    await untilAnswers(status, '/', 503)
    held.openGate()
    for (const answer of busy) assert.equal((await answer).status, 200)
  })

  test('the status route shows the figures of each pool', async t => {
    const { url } = await pressedServer(t, oneWorker)
    const { status, pools } = await (await fetch(`${url}/status`)).json()
    assert.equal(status, 'ok')
    const { waiting, inFlight, workers } = pools.default
    assert.deepEqual([waiting, inFlight, workers], [0, 0, 1])
  })

  test('healthCheck() rejects with the name of a pool that is not registered', async t => {
    const app = await openApp(t)
    for (const name of ['images', 'toString', '__proto__']) {
      const error = await rejection(healthCheck({ pools: [name] })(app))
      assert.ok(error.message.startsWith(`There is no pool '${name}'. Register it first`), error.message)
    }
    assert.match((await rejection(healthCheck()({}))).message, /Register 'lido\/fastify' first/)
  })

  test('healthCheck() throws for wrong values and misspelt options', () => {
    for (const [options, option, message = /./] of [
      [{ maxWaiting: Number(undefined) }, 'maxWaiting'],
      [{ maxWaiting: '5' }, 'maxWaiting', /a number of at least 0; got '5'/],
      [{ maxwaiting: 5 }, 'maxwaiting'],
      [{ pools: 'images' }, 'pools', /an array of names; got 'images'/],
    ]) {
      assert.throws(() => healthCheck(options), { code: 'ERR_LIDO_INVALID_OPTION', option, message })
    }
  })
})
