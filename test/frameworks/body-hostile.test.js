// Careless programs and hostile clients: functions that throw non-errors, bytes that a program keeps, endless bodies, and
// connections that continue after an error. On threads and in processes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { chunk, lastChunk, open, requestBytes, send } from '../helpers/raw-http.js'
import { untilItWorks } from '../helpers/retry.js'
import { frameworks, listener, openPool } from './body-servers.js'
import { Client } from './client.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const module = new URL('./body-functions.js', import.meta.url)
const headers = { 'content-type': 'application/json' }
const body = JSON.stringify({ items: Array.from({ length: 200 }, (_, index) => index) })
const places = { 'in the pool': 0, 'in the host': Number.POSITIVE_INFINITY }

for (const [name, start] of Object.entries(frameworks)) {
  describe(name, { timeout: 120_000 }, () => {
    for (const [place, threshold] of Object.entries(places)) {
      for (const thrown of [null, 'route']) {
        test(`a request is answered with 500 when validate throws ${JSON.stringify(thrown)} ${place} (${name})`, async t => {
          const { told, next } = listener()
          const options = { pool: openPool(t), threshold, module, validate: 'throwIt' }
          const port = await start(t, options, told)
          const answer = await send(port, { headers, body: JSON.stringify({ thrown }) })
          assert.equal(answer.status, 500)
          const { message, cause } = await next()
          assert.match(message, /threw/)
          assert.equal(cause, thrown === 'undefined' ? undefined : thrown)
        })
      }
    }

    test(`an endless body over the limit is answered with 413 and not kept in memory (${name})`, async t => {
      const bytes = 1_000_000
      const port = await start(t, { pool: openPool(t), limit: bytes }, () => {})
      const held = () => process.memoryUsage().arrayBuffers
      const part = chunk(Buffer.alloc(bytes, '1'))
      const socket = await open(port)
      const refused = once(socket, 'data').then(([answer]) => String(answer))
      socket.write(requestBytes({ headers: { ...headers, 'transfer-encoding': 'chunked' } }))
      const before = held()
      for (let count = 0; count < 40 && socket.writable; count++)
        await Promise.race([new Promise(written => socket.write(part, written)), refused])
      // Memory that is never freed makes the test time out.
      await untilItWorks(() => {
        collectGarbage()
        assert.ok(held() < before + 5 * bytes)
      })
      // Fastify answers at the limit. body-parser waits for the end of the body and ignores the rest of it.
      if (name !== 'Fastify') socket.write(lastChunk)
      assert.match(await refused, /^HTTP\/1.1 413 /)
      socket.destroy()
    })

    describe('backend: process', () => {
      test(`bodies are parsed, refused and returned by a worker process (${name})`, async t => {
        const pool = openPool(t, { backend: 'process' })
        const { told, next } = listener()
        const port = await start(t, { pool, threshold: 0, limit: 1_000_000 }, told)
        assert.equal((await send(port, { headers, body })).body, body)
        assert.equal((await send(port, { headers, body: '{"a":1,' })).status, 400)
        assert.equal((await next()).statusCode, 400)
        // A value of this depth returns as bytes.
        const deep = '['.repeat(2000) + ']'.repeat(2000)
        assert.equal((await send(port, { headers, body: deep })).body, deep)
        assert.deepEqual([pool.completed, pool.stats().backend], [3, 'process'])
      })

      test(`a request whose worker process exits is answered with 500, and the pool keeps working (${name})`, async t => {
        const pool = openPool(t, { backend: 'process' })
        const { told, next } = listener()
        const port = await start(t, { pool, threshold: 1000, module, select: 'exit' }, told)
        // The body reaches the threshold, because a function that runs in the host would end this process.
        assert.equal((await send(port, { headers, body: body.padEnd(1000) })).status, 500)
        assert.equal((await next()).code, 'ERR_LIDO_WORKER_EXIT')
        assert.equal(await pool.run({ items: [] }, { filename: module, name: 'reasons' }), undefined)
      })
    })

    // Fastify closes the connection of a refused body, and it has no hook for the bytes before the parser.
    if (name === 'Fastify') return
    test(`a connection stays usable after each kind of refused body, also for pipelined requests (${name})`, async t => {
      const pool = openPool(t)
      const port = await start(t, { pool, threshold: 0, maxDepth: 3, module, validate: 'reasons' }, () => {})
      const client = await Client.to(port)
      for (const [index, wrong] of ['[1,', '[[[[1]]]]', '{"a":1}'].entries()) {
        client.post('/', wrong)
        client.post('/', `{"items":[${index}]}`)
        const told = await client.received(`{"items":[${index}]}`)
        assert.equal(told.match(/HTTP\/1.1 4/g).length, index + 1)
      }
      assert.equal(pool.completed, 6)
    })

    test(`bytes that verify() keeps stay unchanged, in the pool and in the host (${name})`, async t => {
      const kept = []
      const verify = (_request, _response, bytes) => kept.push(bytes)
      for (const threshold of Object.values(places)) {
        const port = await start(t, { pool: openPool(t), threshold, verify, limit: 1_000_000 }, () => {})
        const large = `["${'x'.repeat(200_000)}"]`
        assert.equal((await send(port, { headers, body: large })).body, large)
        assert.equal(String(kept.at(-1)), large)
      }
    })
  })
}
