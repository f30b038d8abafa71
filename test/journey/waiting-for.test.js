// `stats().waitingFor` names what the oldest waiting task waits for, and `queue.oldestMs` tells its age.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { set, sharedWords } from '../helpers/shared-words.js'
import { openBusy, Track } from '../helpers/track.js'

const filename = handler('tracked.js')

/** Resolves when the pool gives this reason. */
async function waitsFor(pool, reason) {
  while (pool.stats().waitingFor !== reason) await nextTurn()
}

function expectWaiting(pool, reason) {
  const { waitingFor, queue } = pool.stats()
  assert.equal(waitingFor, reason)
  assert.ok(queue.oldestMs >= 0 && queue.oldestMs < pool.duration, String(queue.oldestMs))
}

function expectNoneWaiting(pool) {
  const { waitingFor, queue } = pool.stats()
  assert.deepEqual([waitingFor, queue.oldestMs], [null, null])
}

for (const options of [{}, { transport: 'messages' }, { backend: 'process' }]) {
  const title = JSON.stringify(options)
  test(`waitingFor is 'worker starting', then 'all busy', then null (${title})`, async open => {
    const pool = open({ filename: handler('until-aborted.js'), maxWorkers: 1, ...options })
    expectNoneWaiting(pool)
    const ending = new AbortController()
    const { signal } = ending
    let onRunning
    const running = new Promise(resolve => {
      onRunning = resolve
    })
    const first = pool.run(null, { signal, onProgress: onRunning })
    expectWaiting(pool, 'worker starting')
    await running
    expectNoneWaiting(pool)
    const second = pool.run(null, { signal })
    expectWaiting(pool, 'all busy')
    ending.abort()
    await Promise.allSettled([first, second])
    expectNoneWaiting(pool)
  })
}

test("waitingFor is 'broadcast' while a broadcast waits for its busy worker", async open => {
  const track = new Track(1)
  const { pool, busy } = await openBusy(open, track, {})
  const answers = pool.broadcast(null, { filename: handler('echo.js') })
  expectWaiting(pool, 'broadcast')
  track.releaseAll()
  await Promise.all([busy, answers])
  expectNoneWaiting(pool)
})

test("waitingFor is 'exclusive task' for a task that needs a whole worker, and behind a task that has one", async open => {
  const track = new Track(3)
  const pool = open({ filename, name: 'patient', minWorkers: 1, maxWorkers: 1, concurrentTasksPerWorker: 2 })
  // A starting worker may begin a task before the host knows that the worker is ready.
  await pool.ready()
  const first = pool.run(track.task(0))
  await track.startAt(0)
  const alone = pool.run(track.task(1), { exclusive: true })
  expectWaiting(pool, 'exclusive task')
  track.release(0)
  await track.startAt(1)
  const behind = pool.run(track.task(2))
  expectWaiting(pool, 'exclusive task')
  track.releaseAll()
  await Promise.all([first, alone, behind])
  expectNoneWaiting(pool)
})

test("waitingFor is 'load balancer' while the load balancer returns null for a free slot", async open => {
  const track = new Track(2)
  let isHeld = true
  const loadBalancer = (task, workers) => (isHeld && task.payload.index === 1 ? null : workers[0])
  const pool = open({
    filename,
    name: 'patient',
    minWorkers: 1,
    maxWorkers: 1,
    concurrentTasksPerWorker: 2,
    loadBalancer,
  })
  await pool.ready()
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  expectWaiting(pool, 'load balancer')
  isHeld = false
  track.releaseAll()
  await Promise.all(answers)
})

test("waitingFor is 'worker blocked' when the thread of a free slot is busy", async open => {
  const track = new Track(2)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, concurrentTasksPerWorker: 2 })
  const first = pool.run(track.task(0))
  await track.startAt(0)
  const second = pool.run(track.task(1))
  await waitsFor(pool, 'worker blocked')
  track.releaseAll()
  await Promise.all([first, second])
  expectNoneWaiting(pool)
})

test("waitingFor is not 'worker blocked' when a slot becomes free for an old task", async open => {
  const pool = open({
    filename: handler('nested-calls.js'),
    name: 'callBack',
    maxWorkers: 1,
    backend: 'process',
  })
  let release
  const held = new Promise(resolve => {
    release = resolve
  })
  const functions = { runNested: () => held }
  const first = pool.run(null, { functions })
  const second = pool.run(null, { functions })
  while (pool.stats().queue.oldestMs < 200 || pool.stats().waitingFor !== 'all busy') await nextTurn()
  release()
  await first
  assert.equal(pool.stats().waitingFor, null)
  await second
})

test("waitingFor is 'circuit open' when the pool may start no second worker", async open => {
  const track = new Track(2)
  const pool = open({
    filename: handler('starts-once.js'),
    minWorkers: 1,
    maxWorkers: 2,
    workerData: sharedWords(1),
    restart: { failures: 1, pause: 60_000 },
  })
  const first = pool.run(track.task(0))
  await track.startAt(0)
  const second = pool.run(track.task(1))
  await once(pool, 'workerDestroy')
  expectWaiting(pool, 'circuit open')
  track.releaseAll()
  await Promise.all([first, second])
})

test("waitingFor is 'worker stopping' while old workers run their teardowns", async (open, t) => {
  const gate = sharedWords(1)
  t.after(() => set(gate, 0))
  const pool = open({
    filename: handler('ends-late.js'),
    minWorkers: 0,
    maxWorkers: 1,
    maxTasksPerWorker: 1,
    workerData: gate,
  })
  await pool.run(1)
  await pool.run(2)
  const third = pool.run(3)
  await waitsFor(pool, 'worker stopping')
  set(gate, 0)
  assert.equal(await third, 3)
})
