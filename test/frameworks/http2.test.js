// HTTP/2 on real sockets: each request is a stream of its own, and may end without its connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import { describe, test } from 'node:test'
import Fastify from 'fastify'
import { fastifyJson, jsonReader, runFor } from 'lido/body'
import { answerOf, breakOff, http2To, openStream, sendOver } from '../helpers/http2-client.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'
import { openPool } from './body-servers.js'
import { until } from './client.js'
import { oneWorker, serveApp } from './fastify-app.js'
import { Held } from './held.js'

const STARTED = 0
const GATE = 1
const module = new URL('./body-functions.js', import.meta.url)
const body = JSON.stringify({ items: Array.from({ length: 200 }, (_, index) => index) })
const limit = 10_000

async function listen(t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return http2To(t, server.address().port)
}

function answering(answer) {
  return (request, response) =>
    answer(request).then(
      value => response.end(JSON.stringify(value)),
      error => {
        response.writeHead(error.status ?? 500, error.headers)
        response.end(error.type)
      },
    )
}

/** Each starts a server that echoes bodies, tells of them, and resolves to a client's session. */
const servers = {
  async 'node:http2'(t, { bodyLimit, ...options }, tell = () => {}) {
    const read = jsonReader({ limit: bodyLimit, ...options })
    const echo = async request => {
      const value = await read(request)
      tell(value)
      return value
    }
    return await listen(t, createServer(answering(echo)))
  },
  async Fastify(t, { bodyLimit, ...options }, tell = () => {}) {
    const app = Fastify({ http2: true, bodyLimit })
    await app.register(fastifyJson(options))
    app.post('/', async request => {
      tell(request.body)
      return request.body
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const session = http2To(t, app.server.address().port)
    t.after(async () => {
      session.destroy()
      await app.close()
    })
    return session
  },
}

for (const [name, start] of Object.entries(servers)) {
  describe(`large bodies over HTTP/2 to ${name}`, { timeout: 60_000 }, () => {
    for (const [what, headers] of [
      ['says how long it is', { 'content-length': body.length }],
      ['does not', {}],
    ]) {
      test(`one that ${what} is parsed in the pool`, async t => {
        const pool = openPool(t)
        const session = await start(t, { pool, threshold: 0, bodyLimit: limit })
        const { status, body: echoed } = await sendOver(session, body, headers)
        assert.deepEqual([status, echoed, pool.completed], [200, body, 1])
      })
    }

    test('one below the threshold is parsed in place, whether or not it says how long it is', async t => {
      const pool = openPool(t)
      const session = await start(t, { pool, bodyLimit: limit })
      for (const headers of [{}, { 'content-length': body.length }])
        assert.equal((await sendOver(session, body, headers)).body, body)
      assert.equal(pool.completed, 0)
    })

    test('what is too large or broken is refused, and the connection serves on', async t => {
      const session = await start(t, { pool: openPool(t), threshold: 0, bodyLimit: limit })
      const tooLarge = `[${'1,'.repeat(limit)}1]`
      assert.equal((await sendOver(session, tooLarge)).status, 413)
      assert.equal((await sendOver(session, tooLarge, { 'content-length': tooLarge.length })).status, 413)
      assert.equal((await sendOver(session, '[1,')).status, 400)
      assert.equal((await sendOver(session, body)).body, body)
    })

    test('a client that breaks off its stream while its body is parsed has its task cancelled, and no other', async t => {
      const words = sharedWords(2)
      const pool = openPool(t, { workerData: words, concurrentTasksPerWorker: 2 })
      const options = { pool, threshold: 0, module, select: 'gated', bodyLimit: limit }
      const session = await start(t, options)
      const staying = sendOver(session, body)
      await reached(words, STARTED)
      const leaving = openStream(session)
      leaving.end(body)
      await reached(words, STARTED, 2)
      breakOff(leaving)
      await until(() => pool.stats().tasks.cancelled === 1)
      set(words, GATE)
      assert.equal((await staying).body, body)
    })

    // To a program, what had come looks like all that was to come: Node tells of the end first, and then that there was none.
    test('a client that breaks off its stream in the middle of its body has nothing of it taken for the whole', async t => {
      const pool = openPool(t)
      const told = []
      const session = await start(t, { pool, threshold: 0, bodyLimit: limit }, body => told.push(body))
      const leaving = openStream(session)
      leaving.write('["so far"]')
      // The server has that when it has answered a request that came later.
      assert.equal((await sendOver(session, '[1]')).body, '[1]')
      breakOff(leaving)
      assert.equal((await sendOver(session, '[2]')).body, '[2]')
      await until(() => {
        const { accepted, fulfilled, rejected, cancelled } = pool.stats().tasks
        return accepted === fulfilled + rejected + cancelled
      })
      assert.deepEqual(told, [[1], [2]])
    })
  })
}

describe('a task for a request over HTTP/2', { timeout: 60_000 }, () => {
  test('runFor() ends with its stream, and not with another of the connection', async t => {
    const held = new Held()
    const pool = openPool(t, { filename: oneWorker.filename, concurrentTasksPerWorker: 2 })
    const serve = answering(request => runFor(request, pool, held.words, { name: 'held' }))
    const session = await listen(t, createServer(serve))
    const [leaving, staying] = [openStream(session), openStream(session)]
    leaving.end()
    staying.end()
    await held.starts(2)
    breakOff(leaving)
    await held.cancels(1)
    held.openGate()
    assert.equal((await answerOf(staying)).body, '"done"')
    assert.equal(pool.stats().tasks.cancelled, 1)
  })

  test('request.pool of Fastify ends with its stream, and not with another of the connection', async t => {
    const held = new Held()
    const options = { ...oneWorker, concurrentTasksPerWorker: 2 }
    const server = { http2: true, forceCloseConnections: undefined }
    const routes = scope =>
      scope.get('/', async request => await request.pool.run(held.words, { name: 'held' }))
    const { app, port } = await serveApp(t, options, routes, server)
    const session = http2To(t, port)
    const get = { method: 'GET', endStream: true }
    const [leaving, staying] = [openStream(session, get), openStream(session, get)]
    await held.starts(2)
    breakOff(leaving)
    await held.cancels(1)
    held.openGate()
    assert.equal((await answerOf(staying)).body, 'done')
    assert.equal(app.pool.stats().tasks.cancelled, 1)
    session.destroy()
  })

  test('a request without a body has none', async t => {
    const reader = jsonReader()
    const session = await listen(t, createServer(answering(async request => [await reader(request)])))
    assert.equal((await answerOf(openStream(session, { endStream: true }))).body, '[null]')
  })
})
