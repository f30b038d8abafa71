// Values that are too large for a clone. An error names their size and the limit. The worker and its other tasks continue. Nearly all
// of this memory is never written. `test/memory` has the tests that copy it.
import assert from 'node:assert/strict'
import { move, NotCloneableError } from 'lido'
import { assertTooLarge, needs, OVER_4_GIB, openBesideAnother } from '../helpers/oversized.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

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
      if (transport === 'messages')
        assertTooLarge(await rejection(pool.run(OVER_4_GIB, { name: 'make' })), 'result', OVER_4_GIB)
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
