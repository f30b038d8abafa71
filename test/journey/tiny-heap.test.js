// Payloads that do not fit into the heap of a worker: one worker dies, and its task rejects with the reason.
import assert from 'node:assert/strict'
import { share, WorkerMemoryError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('tiny-heap.js')
const resourceLimits = { maxOldGenerationSizeMb: 12 }
const rows = () => Array.from({ length: 400_000 }, (_, n) => ({ n, text: `row ${n}` }))

const { 'the host thread': _, ...ownedBackends } = backends
for (const [title, options] of Object.entries(ownedBackends)) {
  test(`a payload above the heap of a worker rejects its call, and one worker dies, on ${title}`, async open => {
    const large = rows()
    const pool = open({ filename, name: 'lengthOf', maxWorkers: 1, resourceLimits, ...options })
    let deaths = 0
    pool.on('workerDestroy', () => deaths++)
    pool.on('error', () => {})
    const unread = /^The payload.*does not fit into the heap of a worker, which is limited to 12 MiB/
    const attempts = {
      // The worker is still starting.
      'a payload of a new pool': [() => pool.run(large), /^The payload has \d+\.\d MiB.*12 MiB/],
      'a payload': [() => pool.run(large), unread],
      'a payload with retry': [() => pool.run(large, { retry: { attempts: 3, when: () => true } }), unread],
      'a payload of a class': [() => pool.run(Object.assign(rows(), { of: new (class Class {})() })), unread],
      'an item of map()': [() => pool.map([large], { concurrency: 1 }).toArray(), unread],
      'a broadcast': [() => pool.broadcast(large), unread],
      'a shared value': [() => pool.run({ table: share(large) }, { name: 'firstOf' }), /heap/],
      'a handler': [() => pool.run(null, { name: 'fill' }), /while it held this task/],
    }
    for (const [what, [attempt, message]] of Object.entries(attempts)) {
      const before = deaths
      const error = await rejection(attempt())
      assert.ok(error instanceof WorkerMemoryError, `${what}: ${error}`)
      assert.match(error.message, message, what)
      assert.equal(await pool.run([1, 2, 3]), 3, what)
      assert.equal(deaths - before, 1, what)
    }
  })
}
