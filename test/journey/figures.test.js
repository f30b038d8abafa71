// The counts, histograms and times that a pool reports are in range and add up.
import assert from 'node:assert/strict'
import { backends } from '../helpers/backends.js'
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
  const held = pool.histogram.runTime
  pool.histogram.reset()
  assert.deepEqual([held.count, pool.histogram.runTime.count, pool.histogram.waitTime.count], [0, 0, 0])
  await pool.run(1)
  assert.deepEqual([held.count, pool.histogram.runTime.count, pool.histogram.waitTime.count], [1, 1, 1])
  const after = pool.stats()
  assert.deepEqual([after.runTime.count, after.waitTime.count, after.handlers[0].fulfilled], [21, 21, 21])
})

test('stats() counts the tasks of each handler by outcome, for all ways to call it', async open => {
  const pool = open({ filename: handler('functions.js'), minWorkers: 2, maxWorkers: 2 })
  const aborted = new AbortController()
  const never = pool.run(null, { name: 'never', signal: aborted.signal })
  await pool.api.listArguments(1, 2)
  await pool.run(1, { name: 'listArguments' })
  await pool.map([1, 2, 3], { name: 'listArguments' })
  await assert.rejects(pool.api.fail('no'), RangeError)
  aborted.abort()
  await assert.rejects(never)
  const counts = pool
    .stats()
    .handlers.map(({ name, fulfilled, rejected, cancelled }) => [name, fulfilled, rejected, cancelled])
  assert.deepEqual(counts.sort(), [
    ['fail', 0, 1, 0],
    ['listArguments', 5, 0, 0],
    ['never', 0, 0, 1],
  ])
  const { handlers, runTime, tasks } = pool.stats()
  for (const { name, p50Ms, p99Ms } of handlers)
    if (name === 'never') assert.deepEqual([p50Ms, p99Ms], [null, null])
    else assert.ok(0 < p50Ms && p50Ms <= p99Ms && p99Ms <= runTime.maxMs, `${name} ${p50Ms} ${p99Ms}`)
  assert.deepEqual([tasks.fulfilled, tasks.rejected, tasks.cancelled], [5, 1, 1])
})

test('stats() keeps the figures of 256 handlers, and the totals of all', async open => {
  const pool = open({ filename: handler('functions.js'), minWorkers: 1, maxWorkers: 1 })
  const calls = Array.from({ length: 300 }, (_, index) => pool.run(1, { name: `missing${index}` }))
  await Promise.allSettled(calls)
  await pool.run(1, { name: 'listArguments' })
  const { handlers, tasks, runTime } = pool.stats()
  assert.equal(handlers.length, 256)
  assert.deepEqual([tasks.rejected, tasks.fulfilled, runTime.count], [300, 1, 301])
})

for (const [title, options] of Object.entries(backends)) {
  test(`stats() tells the work, the age and the memory of each worker (${title})`, async open => {
    const pool = open({ filename: handler('metered.js'), minWorkers: 1, maxWorkers: 1, ...options })
    await pool.run(null, { name: 'computes' })
    const isInline = options.backend === 'inline'
    while (!isInline && pool.stats().workers[0].heapMb === null) await pool.run(null, { name: 'computes' })
    const [{ answered, busy, ageMs, heapMb, memoryMb, cpuMs, replaced }] = pool.stats().workers
    assert.equal(answered, pool.completed)
    assert.ok(busy > 0 && busy <= 1 && ageMs > 0 && ageMs <= pool.duration, JSON.stringify({ busy, ageMs }))
    assert.equal(replaced, null)
    if (isInline) return assert.deepEqual([heapMb, memoryMb, cpuMs], [null, null, null])
    assert.ok(heapMb > 0 && heapMb <= memoryMb, `${heapMb} ${memoryMb}`)
    const isMeasured = options.backend === 'process' || process.threadCpuUsage !== undefined
    if (isMeasured) assert.ok(cpuMs > 0, String(cpuMs))
    else assert.equal(cpuMs, null)
  })
}

test('stats() tells why the worker stopped that another one replaced', async open => {
  const pool = open({ filename: handler('worker-ends.js'), minWorkers: 1, maxWorkers: 1 })
  const replaced = () => pool.stats().workers.map(worker => worker.replaced)
  await pool.ready()
  assert.deepEqual(replaced(), [null])
  await pool.recycle()
  assert.deepEqual(replaced(), ['recycle'])
  const [worker] = pool.workers
  await worker.terminate()
  await pool.ready()
  assert.deepEqual(replaced(), ['terminate'])
  pool.resize({ minWorkers: 2, maxWorkers: 2 })
  await pool.ready()
  assert.deepEqual(replaced(), ['terminate', null])
  const single = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, maxTasksPerWorker: 1 })
  await single.run(1)
  await single.run(2)
  await single.ready()
  assert.deepEqual(
    single
      .stats()
      .workers.map(worker => worker.replaced)
      .at(-1),
    'maxTasksPerWorker',
  )
})

test('the pools of a thread have numbers that only grow', async open => {
  const [first, second] = [1, 2].map(() => open({ filename: handler('echo.js'), minWorkers: 0 }).stats().id)
  assert.equal(second, first + 1)
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
