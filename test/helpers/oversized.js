// Pools and assertions for values that are too large for a clone or a pipe.
import assert from 'node:assert/strict'
import { NotCloneableError } from 'lido'
import { Journal } from '../conformance/journal.js'
import { handler } from './handler.js'

export const OVER_2_GIB = 2 ** 31 + 4096
export const OVER_4_GIB = 2 ** 32

export const needs = gibibytes => ({
  skip: process.availableMemory?.() < gibibytes * 2 ** 30 && `less than ${gibibytes} GiB of memory`,
  timeout: 200_000,
})

/** Opens a pool of one worker, in which another task runs during the whole test. */
export async function openBesideAnother(open, t, options) {
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

export function assertTooLarge(error, path, bytes) {
  assert.ok(error instanceof NotCloneableError, String(error))
  assert.equal(error.path, path)
  assert.match(error.message, /too large.*in parts/)
  assert.ok(error.cause.bytes >= bytes, `${error.cause.bytes} bytes`)
  assert.ok(error.cause.limitBytes < bytes)
  for (const count of [error.cause.bytes, error.cause.limitBytes])
    assert.ok(error.message.includes(` ${count} `), error.message)
}
