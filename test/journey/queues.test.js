// The limit of the queue, the order in which tasks leave the queue, and refused tasks.
import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { FifoQueue, InvalidOptionError, Pool, PriorityQueue, QueueFullError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { openBusy, Track } from '../helpers/track.js'

const filename = handler('tracked.js')

test('a pool without workers accepts maxWorkers tasks with maxQueue: 0', async open => {
  const track = new Track(4)
  const pool = open({ filename, minWorkers: 0, maxWorkers: 3, maxQueue: 0 })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  await assert.rejects(pool.run(track.task(3)), QueueFullError)
  track.releaseAll()
  assert.deepEqual(await Promise.all(answers), [0, 1, 2])
})

test('a cancelled queued task frees its place in the queue', async open => {
  const track = new Track(3)
  const { pool, busy } = await openBusy(open, track, { maxQueue: 1 })
  const controller = new AbortController()
  const cancelled = pool.run(track.task(1), { signal: controller.signal })
  await assert.rejects(pool.run(track.task(2)), QueueFullError)
  controller.abort()
  const waiting = pool.run(track.task(2))
  await assert.rejects(cancelled, { name: 'AbortError' })
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, waiting]), [0, 2])
})

test('a refused task leaves no count, no abort listener and no place in the queue', async open => {
  const track = new Track(3)
  const { pool, busy } = await openBusy(open, track, { maxQueue: 1 })
  const waiting = pool.run(track.task(1))
  const { signal } = new AbortController()
  for (let call = 0; call < 50; call++)
    await assert.rejects(pool.run(track.task(2), { signal }), QueueFullError)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  const { tasks, queue } = pool.stats()
  assert.deepEqual([tasks.accepted, tasks.waiting, tasks.inFlight, queue.size], [2, 1, 1, 1])
  track.releaseAll()
  await Promise.all([busy, waiting])
  assert.equal(pool.completed, 2)
})

test('a queue with a capacity accepts tasks up to it and keeps their order', async open => {
  class QueueOfThree extends FifoQueue {
    capacity = 3
  }
  const track = new Track(5)
  const { pool, busy } = await openBusy(open, track, { queue: new QueueOfThree() })
  assert.equal(pool.maxQueue, 3)
  const controller = new AbortController()
  const cancelled = pool.run(track.task(1), { signal: controller.signal })
  const waiting = [pool.run(track.task(2)), pool.run(track.task(3))]
  await assert.rejects(pool.run(track.task(4)), QueueFullError)
  controller.abort()
  await assert.rejects(cancelled, { name: 'AbortError' })
  waiting.push(pool.run(track.task(4)))
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, ...waiting]), [0, 2, 3, 4])
  assert.deepEqual(await track.starts(4), [0, 2, 3, 4])
})

test('a PriorityQueue runs higher priorities first, and equal priorities in the order of submission', async open => {
  const priorities = [0, 1, 5, -1, 5, 1, 0, 9]
  const track = new Track(priorities.length)
  const { pool, busy } = await openBusy(open, track, { queue: new PriorityQueue() })
  const waiting = priorities.slice(1).map((priority, place) => pool.run(track.task(place + 1), { priority }))
  track.releaseAll()
  await Promise.all([busy, ...waiting])
  assert.deepEqual(await track.starts(8), [0, 7, 2, 4, 1, 5, 6, 3])
})

/** Keeps the most urgent task first, and puts a task back before others of its priority. */
class OwnPriorityQueue {
  #tasks = []
  get size() {
    return this.#tasks.length
  }
  push(task) {
    this.#insert(task, other => other.priority < task.priority)
  }
  unshift(task) {
    this.#insert(task, other => other.priority <= task.priority)
  }
  shift() {
    return this.#tasks.shift() ?? null
  }
  remove(task) {
    this.#tasks = this.#tasks.filter(other => other !== task)
  }
  #insert(task, isBehind) {
    const place = this.#tasks.findIndex(isBehind)
    this.#tasks.splice(place < 0 ? this.#tasks.length : place, 0, task)
  }
}

/** Puts a task back to the front, whatever its priority. */
class FrontQueue extends OwnPriorityQueue {
  #returned = []
  get size() {
    return super.size + this.#returned.length
  }
  push(task) {
    const returned = this.#returned.splice(0)
    for (const other of [...returned, task]) super.push(other)
  }
  unshift(task) {
    this.#returned.unshift(task)
  }
  shift() {
    return this.#returned.shift() ?? super.shift()
  }
  remove(task) {
    this.#returned = this.#returned.filter(other => other !== task)
    super.remove(task)
  }
}

for (const Queue of [PriorityQueue, OwnPriorityQueue, FrontQueue]) {
  test(`a task starts before less urgent tasks that the host has posted ahead (${Queue.name})`, async open => {
    // The payload is the priority. The host posts tasks ahead while the worker is busy.
    for (const priorities of [
      [0, 5],
      [0, -1],
      [0, 0, 5, -1, 5, 3],
      [1, 2, 3, 4, 5],
      [5, 4, 3, 2, 1],
      [2, 2, 9, 2],
    ]) {
      const track = new Track(1)
      const { pool, busy } = await openBusy(open, track, { queue: new Queue() })
      const order = []
      const filename = handler('echo.js')
      await Promise.all([
        ...priorities.map(async (priority, index) => {
          order.push(await pool.run({ index, priority }, { filename, priority }))
        }),
        track.releaseAll(),
        busy,
      ])
      const expected = priorities.map((priority, index) => ({ index, priority }))
      expected.sort((one, other) => other.priority - one.priority || one.index - other.index)
      assert.deepEqual(order, expected)
    }
  })
}

test('a task of higher priority starts before an exclusive task that was queued earlier', async open => {
  const track = new Track(4)
  const options = { name: 'patient', queue: new PriorityQueue(), concurrentTasksPerWorker: 2 }
  const { pool, busy } = await openBusy(open, track, options)
  // Exclusive tasks need a worker without other tasks, so they stay queued although a slot is free.
  const low = pool.run(track.task(1), { exclusive: true, priority: 1 })
  const high = pool.run(track.task(2), { exclusive: true, priority: 2 })
  track.releaseAll()
  await Promise.all([busy, low, high])
  assert.deepEqual(await track.starts(3), [0, 2, 1])
})

test('a custom queue decides the order and sees signal, priority and queueOptions', async open => {
  const seen = []
  const stack = []
  const queue = {
    get size() {
      return stack.length
    },
    push(task) {
      seen.push([task.queueOptions, Boolean(task.signal), task.priority])
      stack.push(task)
    },
    shift: () => stack.pop(),
    remove: task => stack.splice(stack.indexOf(task), 1),
  }
  const track = new Track(5)
  const { pool, busy } = await openBusy(open, track, { queue })
  const controller = new AbortController()
  const waiting = [1, 2, 3].map(index => pool.run(track.task(index), { queueOptions: { index } }))
  const cancelled = pool.run(track.task(4), { signal: controller.signal, priority: 3 })
  controller.abort()
  await assert.rejects(cancelled, { name: 'AbortError' })
  track.releaseAll()
  await Promise.all([busy, ...waiting])
  assert.deepEqual(await track.starts(4), [0, 3, 2, 1])
  assert.deepEqual(seen.slice(1), [
    [{ index: 1 }, false, 0],
    [{ index: 2 }, false, 0],
    [{ index: 3 }, false, 0],
    [undefined, true, 3],
  ])
})

test('the constructor refuses a value that is no queue', () => {
  for (const queue of [null, 1, [], {}, { size: 0, push() {}, shift() {} }]) {
    assert.throws(() => new Pool({ filename, queue }), InvalidOptionError)
  }
})

test('an error in push() of a custom queue rejects only that call', async open => {
  const failure = new Error('cannot push')
  const tasks = []
  let isBroken = false
  const queue = {
    get size() {
      return tasks.length
    },
    push(task) {
      if (isBroken) throw failure
      tasks.push(task)
    },
    shift: () => tasks.shift() ?? null,
    remove: task => tasks.splice(tasks.indexOf(task), 1),
  }
  const track = new Track(3)
  const { pool, busy } = await openBusy(open, track, { queue })
  const { signal } = new AbortController()
  isBroken = true
  await assert.rejects(pool.run(track.task(1), { signal }), failure)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  isBroken = false
  const kept = pool.run(track.task(2))
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, kept]), [0, 2])
  assert.equal(track.started, 2)
})

test('a queue whose shift() returns a promise causes an error event, and destroy() rejects its tasks', async open => {
  const tasks = []
  const queue = {
    get size() {
      return tasks.length
    },
    push: task => tasks.push(task),
    shift: async () => tasks.shift(),
    remove() {},
  }
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, queue })
  const failed = once(pool, 'error')
  const answer = assert.rejects(pool.run(null), { name: 'PoolClosedError' })
  const [error] = await failed
  assert.deepEqual([error.name, error.option], ['InvalidOptionError', 'queue'])
  await pool.destroy()
  await answer
})

class LastInFirstOut {
  tasks = []
  get size() {
    return this.tasks.length
  }
  push(task) {
    this.tasks.push(task)
  }
  shift() {
    return this.tasks.pop() ?? null
  }
  remove(task) {
    this.tasks = this.tasks.filter(other => other !== task)
  }
}

for (const [title, options] of Object.entries(backends)) {
  for (const loadBalancer of [undefined, (_, [worker]) => worker]) {
    const how = loadBalancer === undefined ? '' : ' with a load balancer'
    test(`a queue of the program is asked for each task, also while the worker starts, on ${title}${how}`, async open => {
      for (const isReady of [false, true]) {
        const queue = new LastInFirstOut()
        const pool = open({ filename: handler('echo.js'), maxWorkers: 1, queue, loadBalancer, ...options })
        if (isReady) await pool.ready()
        const order = []
        const run = number => pool.run(number).then(() => order.push(number))
        await Promise.all([1, 2, 3, 4, 5, 6].map(run))
        // The first task may have got the free slot before the others came.
        assert.deepEqual(
          order.filter(number => number !== 1),
          [6, 5, 4, 3, 2],
        )
      }
    })
  }
}
