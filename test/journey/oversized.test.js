// Values that are too large for a clone or a pipe. They arrive, or an error names their size and the limit. The worker and its
// other tasks continue. Most of this memory is never written.
import assert from 'node:assert/strict'
import { move, NotCloneableError } from 'lido'
import { Journal } from '../conformance/journal.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const OVER_2_GIB = 2 ** 31 + 4096
const OVER_4_GIB = 2 ** 32

const needs = gibibytes => ({
  skip: process.availableMemory?.() < gibibytes * 2 ** 30 && `less than ${gibibytes} GiB of memory`,
  timeout: 200_000,
})

/** Opens a pool of one worker, in which another task runs during the whole test. */
async function openBesideAnother(open, t, options) {
  const pool = open({
    filename: handler('large.js'),
    minWorkers: 1,
    maxWorkers: 1,
    concurrentTasksPerWorker: 2,
    ...options,
  })
  const journal = new Journal(t)
  const beside = { filename: handler('conformant.js'), name: 'gated' }
  const neighbour = pool.run(journal.task('beside'), beside)
  await journal.lines(1)
  return {
    pool,
    async isUnharmed() {
      assert.equal(await pool.run(new Uint8Array(8), { name: 'measure' }), 8)
      journal.open()
      assert.equal(await neighbour, 'beside')
      assert.equal(pool.workers[0].id, 1)
    },
  }
}

function assertTooLarge(error, path, bytes) {
  assert.ok(error instanceof NotCloneableError, String(error))
  assert.equal(error.path, path)
  assert.match(error.message, /too large.*in parts/)
  assert.ok(error.cause.bytes >= bytes, `${error.cause.bytes} bytes`)
  assert.ok(error.cause.limitBytes < bytes)
  for (const count of [error.cause.bytes, error.cause.limitBytes])
    assert.ok(error.message.includes(` ${count} `), error.message)
}

test('a result over 2 GiB arrives whole (transport: messages)', needs(12), async (open, t) => {
  const { pool, isUnharmed } = await openBesideAnother(open, t, { transport: 'messages' })
  assert.equal((await pool.run(OVER_2_GIB, { name: 'make' })).byteLength, OVER_2_GIB)
  await isUnharmed()
})

for (const transport of ['shared-memory', 'messages']) {
  test(
    `run() refuses to clone a 4 GiB buffer and names its path and size, and moves it (transport: ${transport})`,
    needs(6),
    async (open, t) => {
      const { pool, isUnharmed } = await openBesideAnother(open, t, { transport })
      const payload = { list: [1, new ArrayBuffer(OVER_4_GIB)] }
      assertTooLarge(await rejection(pool.run(payload, { name: 'measure' })), 'payload.list[1]', OVER_4_GIB)
      assert.equal(payload.list[1].byteLength, OVER_4_GIB)
      assert.equal((await pool.run(OVER_4_GIB, { name: 'makeMoved' })).byteLength, OVER_4_GIB)
      // The lane transfers a large buffer of a result instead of cloning it, so any size arrives.
      if (transport === 'shared-memory')
        assert.equal((await pool.run(OVER_4_GIB, { name: 'make' })).byteLength, OVER_4_GIB)
      else assertTooLarge(await rejection(pool.run(OVER_4_GIB, { name: 'make' })), 'result', OVER_4_GIB)
      await isUnharmed()
    },
  )
}

for (const transport of ['shared-memory', 'messages']) {
  test(
    `a moved or shared view that Node would not send whole is refused with its path (transport: ${transport})`,
    needs(6),
    async (open, t) => {
      const { pool, isUnharmed } = await openBesideAnother(open, t, { transport })
      const whole = new Uint8Array(OVER_4_GIB)
      const last = new DataView(new ArrayBuffer(OVER_4_GIB), OVER_4_GIB - 1, 1)
      const options = { name: 'measure' }
      const refused = {
        payload: () => pool.run(whole, { ...options, transferList: [whole.buffer] }),
        'payload.list[1]': () => pool.run({ list: [1, move(whole)] }, options),
        'payload.last': () => pool.run({ last: move(last) }, options),
        'payload.view': () => pool.run({ view: whole, memory: move(whole.buffer) }, options),
        'payload[0]': () => pool.run([new Uint8Array(new SharedArrayBuffer(OVER_4_GIB))], options),
        result: () => pool.run(OVER_4_GIB, { name: 'makeMovedView' }),
      }
      for (const [path, run] of Object.entries(refused)) {
        const error = await rejection(run())
        assert.ok(error instanceof NotCloneableError, String(error))
        assert.equal(error.path, path)
        assert.match(error.message, /4 GiB.*not send it whole\. Send its buffer/)
      }
      assert.deepEqual([whole.byteLength, last.byteLength], [OVER_4_GIB, 1])
      await isUnharmed()
    },
  )
}

test('a 4 GiB buffer can be transferred to a worker thread', needs(6), async (open, t) => {
  const { pool, isUnharmed } = await openBesideAnother(open, t)
  const buffer = new ArrayBuffer(OVER_4_GIB)
  assert.equal(await pool.run(buffer, { name: 'measure', transferList: [buffer] }), OVER_4_GIB)
  assert.equal(buffer.byteLength, 0)
  await isUnharmed()
})

test('a worker process refuses values over 2 GiB with their path and size', needs(12), async (open, t) => {
  const { pool, isUnharmed } = await openBesideAnother(open, t, { backend: 'process' })
  const payload = new ArrayBuffer(OVER_2_GIB)
  const refused = pool.run(payload, { name: 'measure', transferList: [payload] })
  assertTooLarge(await rejection(refused), 'payload', OVER_2_GIB)
  assert.equal(payload.byteLength, OVER_2_GIB)
  assertTooLarge(await rejection(pool.run(OVER_2_GIB, { name: 'make' })), 'result', OVER_2_GIB)
  await isUnharmed()
})
