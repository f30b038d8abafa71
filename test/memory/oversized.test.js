// Values that are too large for a clone or a pipe, and that are copied. They arrive, or an error names their size and the limit. The
// worker and its other tasks continue.
import assert from 'node:assert/strict'
import { assertTooLarge, needs, OVER_2_GIB, OVER_4_GIB, openBesideAnother } from '../helpers/oversized.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

test('a result over 2 GiB arrives whole (transport: messages)', needs(12), async (open, t) => {
  const { pool, isUnharmed } = await openBesideAnother(open, t, { transport: 'messages' })
  assert.equal((await pool.run(OVER_2_GIB, { name: 'make' })).byteLength, OVER_2_GIB)
  await isUnharmed()
})

test('a result over 4 GiB arrives whole (transport: shared-memory)', needs(12), async (open, t) => {
  const { pool, isUnharmed } = await openBesideAnother(open, t, { transport: 'shared-memory' })
  // The worker transfers a copy of a large buffer, so any size arrives.
  assert.equal((await pool.run(OVER_4_GIB, { name: 'make' })).byteLength, OVER_4_GIB)
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
