// A signal takes a task back wherever it is, and touches no other.
import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { TaskCancelledError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

test('an aborted signal rejects at once, with its reason, and the task never runs', async open => {
  const track = new Track(2)
  const pool = open({ filename, name: 'quick', maxThreads: 1 })
  const reason = new Error('too late')
  const error = await rejection(pool.run(track.task(0), { signal: AbortSignal.abort(reason) }))
  assert.ok(error instanceof TaskCancelledError)
  assert.deepEqual([error.name, error.code], ['AbortError', 'ERR_LIDO_TASK_CANCELLED'])
  assert.equal(error.reason, reason)
  assert.equal(error.cause, reason)
  await pool.run(track.task(1))
  assert.deepEqual([track.started, await track.startAt(0)], [1, 1])
})

test('reasons of every kind arrive, that of AbortSignal.timeout too', async open => {
  const track = new Track(1)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const running = pool.run(track.task(0))
  for (const reason of [undefined, null, 'text', 0, { code: 1 }]) {
    const controller = new AbortController()
    const task = pool.run(track.task(0), { signal: controller.signal })
    controller.abort(reason)
    assert.equal((await rejection(task)).reason, controller.signal.reason)
  }
  const timedOut = await rejection(pool.run(track.task(0), { signal: AbortSignal.timeout(1) }))
  assert.equal(timedOut.reason.name, 'TimeoutError')
  track.releaseAll()
  await running
})

test('a task cancelled while it waits never runs; those before and behind it do', async open => {
  const track = new Track(4)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const controller = new AbortController()
  const answers = [0, 1, 2, 3].map(index =>
    pool.run(track.task(index), index === 2 ? { signal: controller.signal } : {}),
  )
  await track.startAt(0)
  controller.abort()
  await assert.rejects(answers[2], { name: 'AbortError' })
  track.releaseAll()
  assert.deepEqual(await Promise.all([answers[0], answers[1], answers[3]]), [0, 1, 3])
  assert.deepEqual(await track.starts(3), [0, 1, 3])
  assert.equal(pool.workers[0].id, 1)
})

test('an endless loop is really stopped: its thread ends, a new worker runs the next task', async open => {
  const track = new Track(2)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const controller = new AbortController()
  const endless = pool.run(track.task(0), { name: 'endless', signal: controller.signal })
  await track.startAt(0)
  const [thread] = pool.threads
  const ended = once(thread, 'exit')
  const next = pool.run(track.task(1), { name: 'quick' })
  controller.abort()
  await assert.rejects(endless, { name: 'AbortError' })
  await ended
  assert.equal(await next, 1)
  assert.deepEqual(
    pool.workers.map(worker => worker.id),
    [2],
  )
})

test('a task that awaits for ever gives its worker back when it is cancelled', async open => {
  const track = new Track(2)
  const pool = open({ filename, name: 'patient', minThreads: 1, maxThreads: 1 })
  const controller = new AbortController()
  const waiting = pool.run(track.task(0), { signal: controller.signal })
  const next = pool.run(track.task(1))
  await track.startAt(0)
  controller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  track.release(1)
  assert.equal(await next, 1)
})

test('the waiting task is cancelled, then the running one: the third still runs', async open => {
  const track = new Track(3)
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  const controllers = [new AbortController(), new AbortController()]
  const answers = [0, 1, 2].map(index => pool.run(track.task(index), { signal: controllers[index]?.signal }))
  await track.startAt(0)
  controllers[1].abort()
  controllers[0].abort()
  await rejections(answers.slice(0, 2))
  track.release(2)
  assert.equal(await answers[2], 2)
  assert.deepEqual(await track.starts(2), [0, 2])
})

test('a task whose worker is still loading is cancelled at once, and the worker serves the next', async open => {
  const loading = sharedWords(2)
  const track = new Track(2)
  const pool = open({ filename: handler('slow-to-load.js'), maxThreads: 1, workerData: loading })
  const controller = new AbortController()
  const cancelled = pool.run(track.task(0), { signal: controller.signal })
  await reached(loading, 0)
  controller.abort()
  await assert.rejects(cancelled, { name: 'AbortError' })
  set(loading, 1)
  track.releaseAll()
  assert.equal(await pool.run(track.task(1)), 1)
  assert.equal(track.started, 1)
})

test("a call's own file that never finishes loading costs nobody else once the call is cancelled", async open => {
  const loading = sharedWords(1)
  const pool = open({ minThreads: 1, maxThreads: 1, workerData: loading })
  const controller = new AbortController()
  const { signal } = controller
  const stuck = pool.run(null, { filename: handler('spins-at-load.js'), signal })
  await reached(loading, 0)
  controller.abort()
  await assert.rejects(stuck, { name: 'AbortError' })
  assert.equal(await pool.run('x', { filename: handler('echo.js') }), 'x')
})

test('one signal for 1,000 tasks has one listener, none afterwards, and warns of nothing', async open => {
  const warnings = []
  const onWarning = warning => warnings.push(warning)
  process.on('warning', onWarning)
  const pool = open({ filename: handler('echo.js'), minThreads: 2, maxThreads: 2 })
  const { signal } = new AbortController()
  const answers = Array.from({ length: 1000 }, (_, index) => pool.run(index, { signal }))
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await Promise.all(answers)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  await new Promise(resolve => setImmediate(resolve))
  process.off('warning', onWarning)
  assert.deepEqual(warnings, [])
})

test('one signal aborts 1,000 tasks: all reject, those that waited never begin', async open => {
  const track = new Track(1002)
  const pool = open({ filename, minThreads: 2, maxThreads: 2 })
  const controller = new AbortController()
  const { signal } = controller
  const answers = Array.from({ length: 1000 }, (_, index) => pool.run(track.task(index), { signal }))
  await track.starts(2)
  controller.abort()
  await rejections(answers)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  track.releaseAll()
  const next = [1000, 1001].map(index => pool.run(track.task(index)))
  assert.deepEqual(await Promise.all(next), [1000, 1001])
  assert.equal(track.started, 4)
})

for (const lane of [true, false]) {
  const title = lane
    ? 'of tasks aborted together in the turn of their submission, those begin that a free worker pulled before, in order'
    : 'by messages alone, of tasks aborted together in the turn of their submission none begins that found no free worker'
  test(title, async open => {
    const rounds = 20
    const pool = open({ filename, name: 'quick', minThreads: 1, maxThreads: 1, lane })
    for (let round = 0; round < rounds; round++) {
      const track = new Track(300)
      const probe = new Track(1)
      await pool.run(probe.task(0))
      const controller = new AbortController()
      const { signal } = controller
      const answers = Array.from({ length: 300 }, (_, index) => pool.run(track.task(index), { signal }))
      controller.abort()
      await rejections(answers)
      await pool.run(new Track(1).task(0))
      const { started } = track
      assert.ok(lane || started <= 1, `${started} of the tasks began`)
      assert.deepEqual(await track.starts(started), [...Array(started).keys()])
    }
  })
}

test('every second of 2,000 waiting tasks is aborted: exactly these reject, exactly the others run, once', async open => {
  const track = new Track(2001)
  const pool = open({ filename, name: 'quick', minThreads: 1, maxThreads: 1 })
  const busy = pool.run(track.task(2000), { name: 'default' })
  await track.startAt(0)
  const controllers = Array.from({ length: 1000 }, () => new AbortController())
  const answers = Array.from({ length: 2000 }, (_, index) => {
    return pool.run(
      track.task(index),
      index % 2 === 0 ? undefined : { signal: controllers[index >> 1].signal },
    )
  })
  for (const controller of controllers) controller.abort()
  track.release(2000)
  const outcomes = await Promise.allSettled([...answers, busy])
  assert.ok(outcomes.every(({ status }, index) => (status === 'fulfilled') === (index % 2 === 0)))
  assert.equal(track.started, 1001)
})

test('cancelling one task harms no neighbour, with several tasks on a worker', async open => {
  const track = new Track(9)
  const options = { name: 'patient', minThreads: 2, maxThreads: 2, concurrentTasksPerWorker: 4 }
  const pool = open({ filename, ...options })
  const controller = new AbortController()
  const indices = Array.from({ length: 9 }, (_, index) => index)
  const answers = indices.map(index =>
    pool.run(track.task(index), index === 0 ? { signal: controller.signal } : {}),
  )
  await track.starts(5)
  controller.abort()
  await assert.rejects(answers[0], { name: 'AbortError' })
  track.releaseAll()
  assert.deepEqual(await Promise.all(answers.slice(1)), indices.slice(1))
  assert.equal(track.started, 9)
})

test('aborting after the answer changes nothing', async open => {
  const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
  const controller = new AbortController()
  assert.equal(await pool.run('x', { signal: controller.signal }), 'x')
  controller.abort()
  assert.equal(await pool.run('y'), 'y')
  assert.deepEqual([pool.workers[0].id, pool.stats().tasks.cancelled], [1, 0])
})
