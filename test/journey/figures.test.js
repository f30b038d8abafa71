// The counts, histograms and times that a pool reports are in range and add up.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

test('the task counts of stats() add up to the accepted tasks', async open => {
  const track = new Track(4)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const controller = new AbortController()
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  const cancelled = pool.run(track.task(3), { signal: controller.signal })
  const missing = pool.run(null, { name: 'nothing' })
  await track.startAt(0)
  controller.abort()
  await cancelled.catch(() => {})
  const { tasks, queue } = pool.stats()
  assert.deepEqual(tasks, {
    accepted: 5,
    completed: 0,
    fulfilled: 0,
    rejected: 0,
    cancelled: 1,
    waiting: 3,
    inFlight: 1,
  })
  assert.deepEqual([queue.size, pool.queueSize], [3, 3])
  track.releaseAll()
  await Promise.allSettled([...answers, missing])
  const after = pool.stats().tasks
  assert.deepEqual([after.fulfilled, after.rejected, after.cancelled], [3, 1, 1])
  assert.deepEqual([after.waiting, after.inFlight, after.completed, pool.completed], [0, 0, 4, 4])
})

test('utilization is 0 before the first task, and above 0 and at most 1 afterwards', async open => {
  const pool = open({
    filename: handler('echo.js'),
    minWorkers: 1,
    maxWorkers: 2,
    concurrentTasksPerWorker: 3,
  })
  assert.equal(pool.utilization, 0)
  for (let round = 0; round < 50; round++) {
    await Promise.all([1, 2, 3, 4, 5, 6].map(value => pool.run(value)))
    assert.ok(pool.utilization > 0 && pool.utilization <= 1, String(pool.utilization))
  }
  assert.ok(pool.duration > 0)
})

test('histograms count each answered task, have ordered percentiles, and can be reset', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, workerHistogram: true })
  assert.equal(pool.stats().runTime, null)
  for (let value = 0; value < 20; value++) await pool.run(value)
  for (const summary of [pool.histogram.runTime, pool.histogram.waitTime, pool.workers[0].histogram]) {
    assert.equal(summary.count, 20)
    const { min, mean, max } = summary
    assert.ok(0 <= min && min <= mean && mean <= max, `${min} ${mean} ${max}`)
    assert.ok(summary.percentile(50) <= summary.percentile(99))
    assert.ok(summary.stddev >= 0)
  }
  const { runTime } = pool.stats()
  assert.ok(
    runTime.minMs <= runTime.p50Ms && runTime.p50Ms <= runTime.p99Ms && runTime.p99Ms <= runTime.maxMs,
  )
  pool.histogram.reset()
  assert.equal(pool.histogram.runTime.count, 0)
  assert.equal(pool.histogram.waitTime.count, 0)
})

test('recordTiming: false removes the histograms and keeps the count of completed tasks', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, recordTiming: false })
  await pool.run(1)
  assert.deepEqual(
    [pool.histogram.runTime, pool.histogram.waitTime, pool.utilization],
    [undefined, undefined, 0],
  )
  assert.equal(pool.completed, 1)
  assert.equal(pool.workers[0].histogram, null)
})

test('stats() returns plain data with the state, the queue limit and the workers', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 2, maxQueue: 7 })
  await pool.run(1)
  const stats = pool.stats()
  assert.deepEqual(structuredClone(stats), stats)
  assert.equal(stats.state, 'open')
  assert.equal(stats.queue.limit, 7)
  assert.equal(stats.workers[0].id, 1)
  assert.deepEqual([pool.minWorkers, pool.maxWorkers, pool.maxQueue], [1, 2, 7])
})

test('waitTime and runTime count each task and never exceed pool.duration', async open => {
  const track = new Track(2)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  track.releaseAll()
  await Promise.all(answers)
  const { waitTime, runTime } = pool.histogram
  assert.ok(waitTime.max <= pool.duration && runTime.max <= pool.duration)
  assert.deepEqual([waitTime.count, runTime.count], [2, 2])
})

for (const transport of ['shared-memory', 'messages']) {
  test(`a worker that is terminated during a task reports no task afterwards (transport: ${transport})`, async open => {
    const track = new Track(1)
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, transport })
    const call = pool.run(track.task(0)).catch(error => error.code)
    await track.startAt(0)
    const [worker] = pool.workers
    assert.deepEqual([worker.usage, worker.isIdle], [1, false])
    await worker.terminate()
    assert.equal(await call, 'ERR_LIDO_WORKER_EXIT')
    const { state, usage, isIdle, tasks } = worker
    assert.deepEqual({ state, usage, isIdle, tasks }, { state: 'exited', usage: 0, isIdle: true, tasks: [] })
  })
}
