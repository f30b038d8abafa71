// HTTP/2 on real sockets: each request is a stream, and a stream can end without its connection.
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

/** Each starts a server that echoes bodies and passes them to `tell`. Resolves to the session of a client. */
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
  describe(`bodies over HTTP/2 to ${name}`, { timeout: 60_000 }, () => {
    for (const [preposition, headers] of [
      ['with', { 'content-length': body.length }],
      ['without', {}],
    ]) {
      test(`a body ${preposition} content-length is parsed in the pool (HTTP/2, ${name})`, async t => {
        const pool = openPool(t)
        const session = await start(t, { pool, threshold: 0, bodyLimit: limit })
        const { status, body: echoed } = await sendOver(session, body, headers)
        assert.deepEqual([status, echoed, pool.completed], [200, body, 1])
      })
    }

    test(`a body below the threshold is parsed in the host, also without content-length (HTTP/2, ${name})`, async t => {
      const pool = openPool(t)
      const session = await start(t, { pool, bodyLimit: limit })
      for (const headers of [{}, { 'content-length': body.length }])
        assert.equal((await sendOver(session, body, headers)).body, body)
      assert.equal(pool.completed, 0)
    })

    test(`a too large or invalid body is refused, and the connection stays usable (HTTP/2, ${name})`, async t => {
      const session = await start(t, { pool: openPool(t), threshold: 0, bodyLimit: limit })
      const tooLarge = `[${'1,'.repeat(limit)}1]`
      assert.equal((await sendOver(session, tooLarge)).status, 413)
      assert.equal((await sendOver(session, tooLarge, { 'content-length': tooLarge.length })).status, 413)
      assert.equal((await sendOver(session, '[1,')).status, 400)
      assert.equal((await sendOver(session, body)).body, body)
    })

    test(`a client that cancels its stream during parsing cancels only that task (HTTP/2, ${name})`, async t => {
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

    // To a program, the incomplete body looks complete: Node reports the end first, and the abort afterwards.
    test(`an incomplete body of a cancelled stream never reaches the route (HTTP/2, ${name})`, async t => {
      const pool = openPool(t)
      const told = []
      const session = await start(t, { pool, threshold: 0, bodyLimit: limit }, body => told.push(body))
      const leaving = openStream(session)
      leaving.write('["so far"]')
      // The server has received these bytes when it answers a later request.
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

describe('tasks of HTTP/2 requests', { timeout: 60_000 }, () => {
  test('a client that cancels its stream cancels only the runFor() task of that stream', async t => {
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

  test('a client that cancels its stream cancels only the request.pool task of that stream', async t => {
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

  test('jsonReader() resolves to undefined for an HTTP/2 request without a body', async t => {
    const reader = jsonReader()
    const session = await listen(t, createServer(answering(async request => [await reader(request)])))
    assert.equal((await answerOf(openStream(session, { endStream: true }))).body, '[null]')
  })
})
