// Clients that disconnect, workers that exit, full queues and memory, on real sockets with each framework.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { chunk, open, requestBytes, send } from '../helpers/raw-http.js'
import { untilItWorks } from '../helpers/retry.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'
import { frameworks, listener, openPool } from './body-servers.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const STARTED = 0
const GATE = 1
const module = new URL('./body-functions.js', import.meta.url)
const headers = { 'content-type': 'application/json' }
const body = JSON.stringify({ items: Array.from({ length: 200 }, (_, index) => index) })

for (const [name, start] of Object.entries(frameworks)) {
  describe(name, () => {
    const parts = requestBytes({ headers, body })
    const headersEnd = parts.indexOf('\r\n\r\n') + 4
    const chunkedHead = requestBytes({ headers: { ...headers, 'transfer-encoding': 'chunked' } })
    const unfinished = {
      'after the headers': [parts.subarray(0, headersEnd)],
      'in the middle of the body': [parts.subarray(0, headersEnd + 100)],
      'in the middle of a chunk': [chunkedHead, chunk(body.slice(0, 50)).subarray(0, 20)],
      'between two chunks': [chunkedHead, chunk(body.slice(0, 50))],
    }

    for (const [stage, sent] of Object.entries(unfinished)) {
      test(`a client that disconnects ${stage} starts no task (${name})`, async t => {
        const pool = openPool(t)
        const { told, next } = listener()
        const port = await start(t, { pool, threshold: 0 }, told)
        const socket = await open(port)
        for (const bytes of sent) socket.write(bytes)
        // The server has received these bytes when it answers a later request.
        await send(port, { headers, body: '[1]' })
        socket.destroy()
        const error = await next()
        assert.equal(error.statusCode, 400)
        const { status } = await send(port, { headers, body })
        assert.deepEqual([status, pool.stats().tasks.accepted], [200, 2])
      })
    }

    test(`the task of a client that disconnects while its body is parsed is cancelled (${name})`, async t => {
      const words = sharedWords(2)
      const pool = openPool(t, { workerData: words, cancelGrace: 0 })
      const { told, next } = listener()
      const port = await start(t, { pool, threshold: 0, module, select: 'gated' }, told)
      const socket = await open(port)
      socket.write(parts)
      await reached(words, STARTED)
      socket.destroy()
      const error = await next()
      assert.deepEqual([error.status, error.type, error.code], [400, 'request.aborted', 'ECONNABORTED'])
      assert.equal(pool.stats().tasks.cancelled, 1)
      set(words, GATE)
      assert.equal((await send(port, { headers, body })).body, body)
    })

    test(`the queued task of a client that disconnects is cancelled and never starts (${name})`, async t => {
      const words = sharedWords(2)
      const pool = openPool(t, { workerData: words })
      const { told, next } = listener()
      const port = await start(t, { pool, threshold: 0, module, select: 'gated' }, told)
      const first = send(port, { headers, body })
      await reached(words, STARTED)
      const socket = await open(port)
      socket.write(parts)
      await untilItWorks(() => assert.equal(pool.queueSize, 1))
      socket.destroy()
      assert.equal((await next()).type, 'request.aborted')
      set(words, GATE)
      assert.equal((await first).body, body)
      assert.deepEqual([Atomics.load(words, STARTED), pool.stats().tasks.cancelled], [1, 1])
    })

    test(`a request is answered with 503 and Retry-After when the queue is full (${name})`, async t => {
      const words = sharedWords(2)
      const pool = openPool(t, { workerData: words, maxQueue: 0 })
      const { told, next } = listener()
      const port = await start(t, { pool, threshold: 0, module, select: 'gated' }, told)
      const first = send(port, { headers, body })
      await reached(words, STARTED)
      const refused = await send(port, { headers, body })
      assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
      const error = await next()
      assert.deepEqual(
        [error.type, error.code, error.expose],
        ['service.unavailable', 'ERR_LIDO_QUEUE_FULL', false],
      )
      set(words, GATE)
      assert.equal((await first).status, 200)
    })

    for (const [death, select, code, options] of [
      ['exits', 'exit', 'ERR_LIDO_WORKER_EXIT', {}],
      [
        'reaches its heap limit',
        'hungry',
        'ERR_WORKER_OUT_OF_MEMORY',
        { resourceLimits: { maxOldGenerationSizeMb: 40 } },
      ],
    ]) {
      test(`a request whose worker ${death} is answered with 500, and the pool keeps working (${name})`, async t => {
        const pool = openPool(t, options)
        const { told, next } = listener()
        const port = await start(t, { pool, threshold: 1000, module, select }, told)
        // The body reaches the threshold, because a function that runs in the host would end this process.
        const { status } = await send(port, { headers, body: body.padEnd(1000) })
        assert.equal(status, 500)
        const error = await next()
        assert.deepEqual(
          [error.status, error.type, error.code, error.expose],
          [500, 'task.failed', code, false],
        )
        assert.equal(await pool.run({ items: [] }, { filename: module, name: 'reasons' }), undefined)
      })
    }

    test(`a request is answered with 503 when the pool is closed (${name})`, async t => {
      const pool = openPool(t)
      const { told } = listener()
      const port = await start(t, { pool, threshold: 0 }, told)
      await pool.close()
      assert.equal((await send(port, { headers, body })).status, 503)
    })

    test(`gzip bombs and truncated bodies leave no memory behind (${name})`, async t => {
      const pool = openPool(t)
      const limit = 4_000_000
      // An error holds its body, as the errors of the framework do. So the test keeps no list of errors.
      const port = await start(t, { pool, threshold: 0, limit }, () => {})
      const bomb = gzipSync(Buffer.alloc(50_000_000, '1'))
      const torn = Buffer.alloc(2_000_000, '[')
      const held = () => process.memoryUsage().arrayBuffers
      await send(port, { headers, body: torn })
      collectGarbage()
      const before = held()
      for (let round = 0; round < 5; round++) {
        const asked = { headers: { ...headers, 'content-encoding': 'gzip' }, body: bomb }
        const expected = name === 'Fastify' ? 400 : 413
        assert.equal((await send(port, asked)).status, expected)
        assert.equal((await send(port, { headers, body: torn })).status, 400)
        const socket = await open(port)
        socket.write(requestBytes({ headers: { ...headers, 'content-length': 3_000_000 }, body: torn }))
        await once(socket.resume().end(), 'close')
      }
      assert.equal((await send(port, { headers, body })).body, body)
      // Memory that is never freed makes the test time out.
      await untilItWorks(() => {
        collectGarbage()
        assert.ok(held() < before + 2 * limit)
      })
    })
  })
}
