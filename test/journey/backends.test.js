// The main behaviour of tasks on each backend, for `npm test`. The conformance suite tests the backends in detail.
import assert from 'node:assert/strict'
import { Journal } from '../conformance/journal.js'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

for (const [title, options] of Object.entries(backends)) {
  test(`a pool runs, rejects, queues and cancels tasks, and close() waits for them (${title})`, async (open, t) => {
    const journal = new Journal(t)
    const pool = open({ filename: handler('conformant.js'), minWorkers: 1, maxWorkers: 1, ...options })
    const payload = { list: [new Map([['key', new Date(0)]])], bytes: new Uint8Array([1, 2]) }
    assert.deepEqual(await pool.run(payload), payload)
    assert.equal(await pool.run(21, { name: 'twice' }), 42)
    const error = await rejection(pool.run('own', { name: 'fail' }))
    assert.ok(error instanceof TypeError)
    assert.equal(error.code, 'E_OWN')
    assert.equal((await rejection(pool.run({ call() {} }))).path, 'payload.call')

    const running = pool.run(journal.task('running'), { name: 'gated' })
    await journal.lines(1)
    const controller = new AbortController()
    const cancelled = pool.run(journal.task('cancelled'), { name: 'note', signal: controller.signal })
    const waiting = pool.run(journal.task('waiting'), { name: 'note' })
    controller.abort()
    assert.equal((await rejection(cancelled)).name, 'AbortError')
    const closed = pool.close()
    assert.equal((await rejection(pool.run(1))).code, 'ERR_LIDO_POOL_CLOSED')
    journal.open()
    assert.deepEqual(await Promise.all([running, waiting]), ['running', 'waiting'])
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    assert.deepEqual(journal.written, ['running', 'waiting'])
  })
}
