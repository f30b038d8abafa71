import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'
import type { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { makeTask } from '../../testing/stand-ins.js'
import { UserQueue } from './user-queue.js'

function setUp(change: (tasks: QueuedTask[]) => Partial<TaskQueue> = () => ({})) {
  const kept: QueuedTask[] = []
  const failures: unknown[] = []
  const plain = {
    push: (task: QueuedTask) => void kept.push(task),
    shift: () => kept.shift(),
    remove: (task: QueuedTask) => void kept.splice(kept.indexOf(task), 1),
    ...change(kept),
  }
  const users = Object.defineProperty(plain, 'size', { get: () => kept.length }) as unknown as TaskQueue
  const queue = new UserQueue(users, failure => failures.push(failure))
  return { queue, kept, failures }
}

function idsIn(queue: UserQueue): number[] {
  return [...queue.drain()].map(task => task.id)
}

test("tasks leave in the order of the user's queue", () => {
  const { queue } = setUp(kept => ({ shift: () => kept.pop() }))
  for (const id of [1, 2]) queue.push(makeTask(id))
  assert.equal(queue.size, 2)
  assert.deepEqual([queue.shift()?.id, queue.shift()?.id, queue.shift()], [2, 1, null])
  assert.equal(queue.size, 0)
})

test('a queue may return null or undefined although it holds tasks', () => {
  for (const nothing of [null, undefined]) {
    const { queue, failures } = setUp(() => ({ shift: () => nothing }))
    queue.push(makeTask(1))
    assert.equal(queue.shift(), null)
    assert.deepEqual([failures, idsIn(queue)], [[], [1]])
  }
})

test("shift() skips removed tasks that the user's queue still returns", () => {
  const { queue, failures } = setUp(() => ({ remove() {} }))
  const [first, second] = [makeTask(1), makeTask(2)]
  for (const task of [first, second]) queue.push(task)
  queue.remove(first)
  assert.equal(queue.shift(), second)
  assert.deepEqual(failures, [])
})

for (const [title, shift] of [
  ['a promise', async () => null],
  ['a copy', (kept: QueuedTask[]) => ({ ...kept.shift() })],
  ['the same task again', (kept: QueuedTask[]) => kept[0]],
] as const) {
  test(`a queue that returns ${title} is reported, and drain() returns the other tasks`, () => {
    const { queue, failures } = setUp(kept => ({ shift: () => shift(kept) as QueuedTask, remove() {} }))
    for (const id of [1, 2, 3]) queue.push(makeTask(id))
    const given: number[] = []
    for (let task = queue.shift(); task !== null; task = queue.shift()) given.push(task.id)
    assert.equal((failures[0] as InvalidOptionError).option, 'queue')
    assert.deepEqual([...given, ...idsIn(queue)], [1, 2, 3])
    assert.equal(queue.size, 0)
  })
}

test('a task whose push() throws is not queued', () => {
  const { queue } = setUp(() => ({
    push() {
      throw new Error('full')
    },
  }))
  assert.throws(() => queue.push(makeTask(1)), /full/)
  assert.equal(queue.size, 0)
})

test('an error that shift() or remove() throws is reported', () => {
  const broken = () => {
    throw new Error('broken')
  }
  const { queue, failures } = setUp(() => ({ shift: broken, remove: broken }))
  const task = makeTask(1)
  queue.push(task)
  assert.equal(queue.shift(), null)
  queue.remove(task)
  assert.deepEqual([failures.length, queue.size], [2, 0])
})

test('a task that is removed during its push() is not queued', () => {
  const { queue } = setUp(() => ({ push: task => queue.remove(task as never) }))
  queue.push(makeTask(1))
  assert.equal(queue.size, 0)
})

test('a nested shift() call returns null', () => {
  let inner: unknown
  const { queue } = setUp(kept => ({
    shift() {
      inner = queue.shift()
      return kept.shift()
    },
  }))
  queue.push(makeTask(1))
  assert.equal(queue.shift()?.id, 1)
  assert.equal(inner, null)
})
