// First come, first served: across the start of workers, their death, and tasks that need a worker to themselves.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks, seededRandom } from '../../testing/stand-ins.js'
import { PriorityQueue } from '../queue/priority-queue.js'

describe('while workers start', () => {
  test('tasks are given to them at once, and begin as soon as they are ready', () => {
    const { backend, run } = fakePool({ maxThreads: 2 })
    run('a')
    run('b')
    assert.deepEqual(
      backend.links.map(({ payloads }) => payloads),
      [['a'], ['b']],
    )
    assert.equal(backend.links[1]!.work(), 'b')
  })

  test('a worker that is ready takes over the tasks of one that is not', async () => {
    const { backend, run } = fakePool({ maxThreads: 2 })
    const [slow, quick] = backend.links as [(typeof backend.links)[0], (typeof backend.links)[0]]
    const tasks = [run('a'), run('b'), run('c')]
    quick.ready()
    assert.deepEqual([quick.work(), quick.work(), quick.work()], ['b', 'a', 'c'])
    slow.ready()
    assert.equal(slow.begin(), null)
    await microtasks()
    assert.deepEqual(
      tasks.map(({ value }) => value),
      ['a', 'b', 'c'],
    )
  })

  test('a task that the starting worker has begun is not taken over', () => {
    const { backend, run } = fakePool({ maxThreads: 2 })
    const [slow, quick] = backend.links as [(typeof backend.links)[0], (typeof backend.links)[0]]
    run('a')
    run('b')
    quick.ready()
    assert.equal(slow.begin()!.payload, 'a')
    assert.equal(quick.work(), 'b')
    assert.equal(quick.begin(), null)
  })

  test('a task that is moved waits for the first ready worker, and the others wait behind it', () => {
    const { backend, run } = fakePool({ maxThreads: 2 })
    const [slow, quick] = backend.links as [(typeof backend.links)[0], (typeof backend.links)[0]]
    const buffer = new ArrayBuffer(8)
    run(buffer, { transferList: [buffer] })
    run('b')
    quick.ready()
    assert.equal((quick.work() as ArrayBuffer).byteLength, 8)
    assert.equal(quick.work(), 'b')
    slow.ready()
    assert.equal(slow.begin(), null)
  })

  test('as many workers start as tasks need, up to the maximum', () => {
    const { backend, run } = fakePool({ minThreads: 0, maxThreads: 3 })
    assert.equal(backend.links.length, 0)
    for (let started = 1; started <= 5; started++) {
      run(started)
      assert.equal(backend.links.length, Math.min(started, 3))
    }
  })

  test('behind tasks that wait for their worker to start, others start workers of their own', () => {
    const { backend, run } = fakePool({ minThreads: 0, maxThreads: 3 })
    for (let started = 1; started <= 3; started++) {
      const buffer = new ArrayBuffer(8)
      run(buffer, { transferList: [buffer] })
      assert.equal(backend.links.length, started)
    }
  })

  test('younger tasks do not pass one that waits in a worker that starts, for it needs that to itself', () => {
    const { backend, run } = fakePool({ maxThreads: 2, concurrentTasksPerWorker: 2 })
    const [quick] = backend.links
    quick!.ready()
    run('running')
    run('alone', { exclusive: true })
    run('younger')
    assert.deepEqual(quick!.payloads, ['running'])
  })

  test('an idle worker is used before another is started', () => {
    const { backend, run } = fakePool({ minThreads: 0, maxThreads: 3 })
    run(1)
    backend.newest.ready()
    backend.newest.work()
    run(2)
    assert.equal(backend.links.length, 1)
  })
})

describe('the queue', () => {
  test('one worker gets tasks in the order of the calls', async () => {
    const { links, run } = readyPool()
    for (let payload = 0; payload < 20; payload++) run(payload)
    for (let payload = 0; payload < 20; payload++) assert.equal(links[0]!.work(), payload)
  })

  test('a priority queue is asked for the next one only when there is a place', () => {
    const { links, run } = readyPool({ queue: new PriorityQueue() })
    run('running')
    run('low', { priority: -1 })
    run('high', { priority: 1 })
    run('middle')
    assert.deepEqual(
      Array.from({ length: 4 }, () => links[0]!.work()),
      ['running', 'high', 'middle', 'low'],
    )
  })

  test('what comes before a task that waits for a worker to itself does not wait for that', () => {
    const { links, run } = readyPool({ queue: new PriorityQueue(), concurrentTasksPerWorker: 3 })
    run('running')
    run('alone', { exclusive: true })
    run('high', { priority: 1 })
    assert.deepEqual(links[0]!.payloads, ['running', 'high'])
  })

  test('a worker is told again of a handler that it did not find', () => {
    const { links, run } = readyPool()
    run(1, { name: 'gone' })
    run(2, { name: 'gone' })
    links[0]!.failed(links[0]!.begin()!, undefined, 'missing')
    assert.equal(links[0]!.begin()!.handler?.name, 'gone')
  })

  test('slots are filled, and never more than there are', () => {
    const { links, run, pool } = readyPool({ maxThreads: 2, concurrentTasksPerWorker: 3 })
    for (let payload = 0; payload < 10; payload++) run(payload)
    assert.deepEqual(
      links.map(({ runs }) => runs.length),
      [3, 3],
    )
    assert.equal(pool.queueSize, 4)
    assert.deepEqual(
      pool.workers.map(({ usage }) => usage),
      [3, 3],
    )
  })
})

describe('a task that is exclusive', () => {
  test('has its worker to itself', () => {
    const { links, run, pool } = readyPool({ concurrentTasksPerWorker: 3 })
    run('alone', { exclusive: true })
    run('after')
    assert.deepEqual(links[0]!.payloads, ['alone'])
    assert.equal(pool.workers[0]!.isExclusive, true)
    links[0]!.work()
    assert.deepEqual(links[0]!.payloads, ['alone', 'after'])
    assert.equal(pool.workers[0]!.isExclusive, false)
  })

  test('waits until a worker holds nothing, and those behind it wait with it', () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 3 })
    run('a')
    run('b')
    run('alone', { exclusive: true })
    run('c')
    assert.deepEqual(links[0]!.payloads, ['a', 'b'])
    links[0]!.work()
    assert.deepEqual(links[0]!.payloads, ['a', 'b'])
    links[0]!.work()
    assert.deepEqual(links[0]!.payloads, ['a', 'b', 'alone'])
    links[0]!.work()
    assert.deepEqual(links[0]!.payloads, ['a', 'b', 'alone', 'c'])
  })

  test('starts a worker where it may', () => {
    const { backend, run } = fakePool({ minThreads: 1, maxThreads: 2, concurrentTasksPerWorker: 3 })
    backend.links[0]!.ready()
    run('a')
    run('alone', { exclusive: true })
    assert.equal(backend.links.length, 2)
    assert.deepEqual(backend.newest.payloads, ['alone'])
  })
})

test('tasks with a signal share a worker as others do', () => {
  const { signal } = new AbortController()
  const { links, run, pool } = readyPool({ concurrentTasksPerWorker: 3 })
  for (const payload of ['a', 'b', 'c']) run(payload, { signal })
  assert.deepEqual(links[0]!.payloads, ['a', 'b', 'c'])
  assert.equal(pool.workers[0]!.isExclusive, false)
})

describe('whatever happens', () => {
  for (const seed of [1, 2, 3, 4, Date.now() >>> 0]) {
    test(`every task settles once, and no begun task runs twice (seed ${seed})`, async () => {
      const random = seededRandom(seed)
      const { pool, backend, clock, run } = fakePool({
        minThreads: random(3),
        maxThreads: 3,
        concurrentTasksPerWorker: 1 + random(3),
        maxQueue: 20,
        idleTimeout: 50,
      })
      const tasks: ReturnType<typeof run>[] = []
      const controllers: AbortController[] = []
      const begun = new Map<unknown, number>()
      const running = new Map<
        (typeof backend.links)[0],
        NonNullable<ReturnType<(typeof backend.newest)['begin']>>[]
      >()
      for (let step = 0; step < 600; step++) {
        const link = backend.alive[random(Math.max(1, backend.alive.length))]
        const state = pool.workers.find(worker => link !== undefined && worker.thread === link.thread)?.state
        const choice = random(12)
        if (choice < 4) {
          const controller = new AbortController()
          const signal = random(3) === 0 ? controller.signal : undefined
          if (signal !== undefined) controllers.push(controller)
          const buffer = new ArrayBuffer(1)
          tasks.push(run(tasks.length, { signal, transferList: random(4) === 0 ? [buffer] : undefined }))
        } else if (choice === 4 && link !== undefined && state === 'spawning') link.ready()
        else if (choice < 7 && link !== undefined && state !== undefined) {
          const message = link.begin()
          if (message === null) continue
          begun.set(message.payload, (begun.get(message.payload) ?? 0) + 1)
          running.set(link, [...(running.get(link) ?? []), message])
        } else if (choice < 10 && link !== undefined && state === 'ready') {
          const message = running.get(link)?.shift()
          if (message !== undefined) link.done(message, message.payload)
        } else if (choice === 10 && controllers.length > 0) controllers[random(controllers.length)]!.abort()
        else if (link !== undefined && random(5) === 0) link.exit(1)
        else clock.advance(random(100))
        if (random(3) === 0) await microtasks()
        const { waiting, inFlight } = pool.stats().tasks
        const { accepted, fulfilled, rejected, cancelled } = pool.stats().tasks
        assert.equal(accepted - fulfilled - rejected - cancelled, waiting + inFlight, `step ${step}`)
        assert.ok(pool.workers.length <= 3, `step ${step}`)
      }
      const closed = pool.destroy()
      // Workers that were still starting are killed a little later.
      clock.advance(1000)
      clock.turn()
      await closed
      await microtasks()
      for (const [index, task] of tasks.entries()) {
        assert.notEqual(task.state, 'pending', `task ${index}`)
        if (task.state === 'fulfilled') assert.equal(task.value, index)
      }
      for (const [payload, times] of begun) assert.equal(times, 1, `task ${payload} began ${times} times`)
      assert.equal(clock.heldAnchors, 0)
      assert.equal(backend.alive.length, 0)
    })
  }
})
