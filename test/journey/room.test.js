// A producer that awaits room() is never refused, and producers get room in order.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { FifoQueue, PoolClosedError, TaskCancelledError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

class QueueOfFour extends FifoQueue {
  capacity = 4
}

const kinds = {
  'maxQueue: 3': { maxQueue: 3 },
  'maxQueue: 1': { maxQueue: 1 },
  'maxQueue: 0': { maxQueue: 0 },
  'a queue with a capacity of 4': { queue: new QueueOfFour() },
  'an unlimited queue': {},
}

for (const [what, options] of Object.entries(kinds)) {
  test(`six producers that await room() are never refused (${what})`, async open => {
    const pool = open({
      filename: handler('echo.js'),
      name: 'later',
      minWorkers: 2,
      maxWorkers: 2,
      ...options,
    })
    const answers = []
    let mostWaiting = 0
    async function produce(producer) {
      for (let item = 0; item < 100; item++) {
        await pool.room()
        answers.push(pool.run(producer * 100 + item))
        mostWaiting = Math.max(mostWaiting, pool.queueSize)
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5].map(produce))
    const results = await Promise.all(answers)
    assert.equal(new Set(results).size, 600)
    assert.ok(mostWaiting <= Math.min(pool.maxQueue, 4), `${mostWaiting} tasks waited`)
  })
}

test('room() resolves for its callers in order, once for each free place', async open => {
  const track = new Track(12)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
  const answers = [pool.run(track.task(0)), pool.run(track.task(1))]
  await track.startAt(0)
  const served = []
  const producers = Array.from({ length: 10 }, async (_, place) => {
    await pool.room()
    served.push(place)
    answers.push(pool.run(track.task(2 + place)))
  })
  for (let step = 0; step < 10; step++) {
    assert.equal(served.length, step)
    track.release(step)
    await track.startAt(step + 1)
    await Promise.race(producers.slice(step))
  }
  track.releaseAll()
  await Promise.all([...producers, ...answers])
  assert.deepEqual(served, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a place that a caller of room() does not use goes to the next caller', async open => {
  const track = new Track(3)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
  const answers = [pool.run(track.task(0)), pool.run(track.task(1))]
  await track.startAt(0)
  const idler = pool.room()
  const worker = pool.room().then(() => pool.run(track.task(2)))
  track.releaseAll()
  await idler
  assert.equal(await worker, 2)
  await Promise.all(answers)
})

test('a task with a signal is never refused after room(), with 4 slots and maxQueue: 1', async open => {
  const track = new Track(6)
  const options = { name: 'patient', minWorkers: 1, maxWorkers: 1, maxQueue: 1, concurrentTasksPerWorker: 4 }
  const pool = open({ filename, ...options })
  const { signal } = new AbortController()
  const answers = [pool.run(track.task(0), { signal })]
  await track.startAt(0)
  const producers = [1, 2, 3, 4, 5].map(async index => {
    await pool.room()
    return pool.run(track.task(index), { signal })
  })
  track.releaseAll()
  assert.deepEqual(await Promise.all([...answers, ...producers]), [0, 1, 2, 3, 4, 5])
})

test('a task is never refused after room() while a load balancer keeps tasks queued', async open => {
  const track = new Track(6)
  const loadBalancer = (_task, workers) => workers.find(worker => worker.id === 1 && worker.isIdle) ?? null
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, maxQueue: 1, loadBalancer })
  const first = pool.run(track.task(0))
  await track.startAt(0)
  const producers = [1, 2, 3, 4, 5].map(async index => {
    await pool.room()
    return pool.run(track.task(index))
  })
  track.releaseAll()
  assert.deepEqual(await Promise.all([first, ...producers]), [0, 1, 2, 3, 4, 5])
})

test('an abort rejects a pending room() and leaves no abort listener', async open => {
  const track = new Track(2)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
  const answers = [pool.run(track.task(0)), pool.run(track.task(1))]
  const controller = new AbortController()
  const { signal } = controller
  const waiting = [pool.room({ signal }), pool.room({ signal })]
  const reason = new Error('no more')
  controller.abort(reason)
  const outcomes = await Promise.allSettled([...waiting, pool.room({ signal })])
  for (const { reason: error } of outcomes) {
    assert.ok(error instanceof TaskCancelledError)
    assert.equal(error.reason, reason)
  }
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  const patient = new AbortController()
  const served = pool.room({ signal: patient.signal })
  track.releaseAll()
  await served
  assert.equal(getEventListeners(patient.signal, 'abort').length, 0)
  await Promise.all(answers)
})

test('a pending room() and a new room() reject when the pool closes', async open => {
  const track = new Track(2)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
  const answers = [pool.run(track.task(0)), pool.run(track.task(1))]
  const waiting = pool.room()
  const closed = pool.close()
  await assert.rejects(waiting, PoolClosedError)
  await assert.rejects(pool.room(), PoolClosedError)
  track.releaseAll()
  assert.deepEqual(await Promise.all(answers), [0, 1])
  await closed
})
