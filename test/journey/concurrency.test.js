// A pool fills all its slots with running tasks, and never runs more tasks than it has slots.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

for (const [maxWorkers, concurrentTasksPerWorker] of [
  [1, 1],
  [2, 1],
  [3, 1],
  [1, 4],
  [2, 3],
]) {
  const slots = maxWorkers * concurrentTasksPerWorker
  test(`a pool runs exactly ${slots} task(s) at once (${maxWorkers} worker(s), ${concurrentTasksPerWorker} slot(s) each)`, async open => {
    const track = new Track(5 * slots)
    const pool = open({ filename, name: 'patient', minWorkers: 0, maxWorkers, concurrentTasksPerWorker })
    const answers = Array.from({ length: track.size }, (_, index) => pool.run(track.task(index)))
    const running = await track.starts(slots)
    assert.equal(pool.workers.length, maxWorkers)
    assert.ok(pool.workers.every(worker => worker.usage === concurrentTasksPerWorker))
    for (let place = slots; place < track.size; place++) {
      assert.equal(track.started, place)
      track.release(running.shift())
      running.push(await track.startAt(place))
    }
    track.releaseAll()
    await Promise.all(answers)
    assert.equal(track.mostAtOnce, slots)
  })
}

for (const busyWait of [true, false]) {
  test(`three tasks that wait for each other run in parallel after many short tasks (busyWait: ${busyWait})`, async open => {
    const words = new Int32Array(new SharedArrayBuffer(4))
    const threads = { minWorkers: 3, maxWorkers: 3 }
    const pool = open({ filename: handler('busy.js'), name: 'meet', ...threads, busyWait, workerData: words })
    for (let round = 0; round < 12; round++) {
      for (let quick = 0; quick < 300; quick++) await pool.run(0)
      words[0] = 0
      await Promise.all([3, 3, 3].map(guests => pool.run(guests)))
    }
    assert.equal(words[0], 3)
  })
}

test('a burst of tasks starts a worker for each task, up to maxWorkers', async open => {
  const track = new Track(4)
  const pool = open({ filename, minWorkers: 0, maxWorkers: 4 })
  const answers = [0, 1, 2, 3].map(index => pool.run(track.task(index)))
  assert.equal(pool.workers.length, 4)
  await track.starts(4)
  track.releaseAll()
  await Promise.all(answers)
  assert.equal(track.mostAtOnce, 4)
})

test('sequential tasks start only one worker when minWorkers is 0', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 0, maxWorkers: 4 })
  await pool.run(1)
  await pool.run(2)
  assert.equal(pool.workers.length, 1)
})

test('an exclusive task runs alone in its worker', async open => {
  const track = new Track(4)
  const options = { name: 'patient', minWorkers: 1, maxWorkers: 1, concurrentTasksPerWorker: 4 }
  const pool = open({ filename, ...options })
  const exclusive = true
  const answers = [0, 1, 2, 3].map(index =>
    pool.run(track.task(index), index === 1 ? { exclusive } : undefined),
  )
  assert.equal(await track.startAt(0), 0)
  track.release(0)
  assert.equal(await track.startAt(1), 1)
  assert.equal(track.started, 2)
  assert.equal(pool.workers[0].isExclusive, true)
  track.release(1)
  await track.starts(4)
  track.releaseAll()
  await Promise.all(answers)
})

test('a caller keeps its AsyncLocalStorage store after it awaits run() and room()', async open => {
  const pool = open({ filename: handler('echo.js'), name: 'later', minWorkers: 1, maxWorkers: 2 })
  const storage = new AsyncLocalStorage()
  const seen = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      storage.run(index, async () => {
        await pool.run(index)
        const behindRun = storage.getStore()
        await pool.room()
        return [behindRun, storage.getStore()]
      }),
    ),
  )
  for (const [index, stores] of seen.entries()) assert.deepEqual(stores, [index, index])
})
