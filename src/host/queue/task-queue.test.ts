// The tests that every built-in queue must pass, and those of single queues.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TaskQueue } from '../../api/queue.js'
import { makeTask, seededRandom } from '../../testing/stand-ins.js'
import type { Task } from '../task/task.js'
import { FifoQueue } from './fifo-queue.js'
import { GroupQueue } from './group-queue.js'
import { PriorityQueue } from './priority-queue.js'

interface Kind {
  create: () => TaskQueue
  /** The next task. `waiting` has the order of arrival. */
  next: (waiting: readonly Task[]) => Task
}

const oldest = (waiting: readonly Task[]) => waiting[0]!
const highest = (waiting: readonly Task[]) =>
  waiting.reduce((best, task) => (task.priority > best.priority ? task : best))

const kinds: Record<string, Kind> = {
  FifoQueue: { create: () => new FifoQueue(), next: oldest },
  PriorityQueue: { create: () => new PriorityQueue(), next: highest },
  'PriorityQueue with aging': { create: () => new PriorityQueue({ aging: 1000 }), next: highest },
  'GroupQueue with one group': {
    create: () => new GroupQueue({}, Number.POSITIVE_INFINITY, true),
    next: highest,
  },
}

function filled(queue: TaskQueue, count: number): Task[] {
  const tasks = Array.from({ length: count }, (_, index) => makeTask(index + 1))
  for (const task of tasks) queue.push(task)
  return tasks
}

function emptied(queue: TaskQueue): unknown[] {
  const ids: number[] = []
  for (let task = queue.shift(); task; task = queue.shift()) ids.push(task.id)
  return ids
}

for (const [name, { create, next }] of Object.entries(kinds)) {
  describe(name, () => {
    test('shift() of an empty queue returns no task, also when it is repeated', () => {
      const queue = create()
      assert.equal(queue.size, 0)
      assert.equal(queue.shift() ?? null, null)
      assert.equal(queue.shift() ?? null, null)
      assert.equal(queue.size, 0)
    })

    test('tasks of equal priority leave in the order of arrival', () => {
      const queue = create()
      filled(queue, 5)
      assert.equal(queue.size, 5)
      assert.deepEqual(emptied(queue), [1, 2, 3, 4, 5])
      assert.equal(queue.size, 0)
    })

    for (const [place, index] of [
      ['first', 0],
      ['second', 1],
      ['middle', 2],
      ['last', 4],
    ] as const) {
      test(`remove() takes out the ${place} task and no other task`, () => {
        const queue = create()
        const tasks = filled(queue, 5)
        queue.remove(tasks[index]!)
        assert.equal(queue.size, 4)
        assert.deepEqual(
          emptied(queue),
          [1, 2, 3, 4, 5].filter(id => id !== index + 1),
        )
      })
    }

    test('remove() ignores a task that was never pushed, has left or was removed', () => {
      const queue = create()
      const tasks = filled(queue, 4)
      queue.remove(makeTask(99))
      queue.shift()
      queue.remove(tasks[0]!)
      queue.remove(tasks[2]!)
      queue.remove(tasks[2]!)
      assert.equal(queue.size, 2)
      assert.deepEqual(emptied(queue), [2, 4])
    })

    test('remove() ignores a task of another queue of any kind', () => {
      for (const other of Object.values(kinds).map(kind => kind.create())) {
        const queue = create()
        filled(queue, 3)
        for (const task of filled(other, 4)) queue.remove(task)
        assert.deepEqual([queue.size, other.size], [3, 4])
        assert.deepEqual(
          [emptied(queue), emptied(other)],
          [
            [1, 2, 3],
            [1, 2, 3, 4],
          ],
        )
      }
    })

    test('a queue works as before after its only task is removed', () => {
      const queue = create()
      const [only] = filled(queue, 1)
      queue.remove(only!)
      assert.equal(queue.size, 0)
      assert.equal(queue.shift() ?? null, null)
      filled(queue, 3)
      assert.deepEqual(emptied(queue), [1, 2, 3])
    })

    test('a task that left or was removed can be pushed again', () => {
      const queue = create()
      const [first, second] = filled(queue, 2)
      queue.shift()
      queue.push(first!)
      queue.remove(second!)
      queue.push(second!)
      assert.deepEqual(emptied(queue), [1, 2])
    })

    test('a queue can be filled and emptied 50 times', () => {
      const queue = create()
      for (let round = 0; round < 50; round++) {
        filled(queue, 1 + (round % 7))
        assert.equal(emptied(queue).length, 1 + (round % 7))
      }
    })

    for (const seed of [1, 2, 3, Date.now() >>> 0]) {
      test(`random calls have the same results as on a plain array (seed ${seed})`, () => {
        const random = seededRandom(seed)
        const queue = create()
        const waiting: Task[] = []
        const gone: Task[] = []
        for (let step = 1; step <= 3000; step++) {
          const choice = random(10)
          if (choice < 5 && waiting.length < 40) {
            const task = makeTask(step, { priority: random(4) - 1 })
            queue.push(task)
            waiting.push(task)
          } else if (choice < 7 && waiting.length > 0) {
            const [task] = waiting.splice(random(waiting.length), 1)
            queue.remove(task!)
            gone.push(task!)
          } else if (choice === 7 && gone.length > 0) {
            queue.remove(gone[random(gone.length)]!)
          } else {
            const expected = waiting.length === 0 ? null : next(waiting)
            const task = (queue.shift() ?? null) as Task | null
            assert.equal(task?.id, expected?.id, `step ${step}`)
            if (task !== null) gone.push(...waiting.splice(waiting.indexOf(task), 1))
          }
          assert.equal(queue.size, waiting.length, `step ${step}`)
        }
      })
    }
  })
}

describe('PriorityQueue', () => {
  test('the task with the highest priority leaves first, the oldest task among equal priorities', () => {
    const queue = new PriorityQueue()
    const priorities = [0, 5, -1, 5, Number.POSITIVE_INFINITY, 0, Number.NEGATIVE_INFINITY]
    for (const [index, priority] of priorities.entries()) queue.push(makeTask(index + 1, { priority }))
    assert.deepEqual(emptied(queue), [5, 2, 4, 1, 6, 3, 7])
  })

  test('with aging, waiting raises the priority, and the order never changes while tasks wait', () => {
    const queue = new PriorityQueue({ aging: 1000 })
    const given = [
      { priority: 5, createdAt: 6001 },
      { priority: -1, createdAt: 0 },
      { priority: 5, createdAt: 5999 },
      { priority: -1, createdAt: 1 },
    ]
    for (const [index, traits] of given.entries()) queue.push(makeTask(index + 1, traits))
    assert.deepEqual(emptied(queue), [3, 2, 1, 4])
  })

  test('with aging, infinite and very large priorities keep their order', () => {
    const queue = new PriorityQueue({ aging: 1e10 })
    const priorities = [1e307, Number.NEGATIVE_INFINITY, 1e308, Number.POSITIVE_INFINITY, 0, 1e308]
    for (const [index, priority] of priorities.entries()) queue.push(makeTask(index + 1, { priority }))
    assert.deepEqual(emptied(queue), [4, 3, 6, 1, 5, 2])
  })

  test('infinite aging means that waiting does not count', () => {
    const queue = new PriorityQueue({ aging: Number.POSITIVE_INFINITY })
    for (const [index, priority] of [0, 1, 0].entries())
      queue.push(makeTask(index + 1, { priority, createdAt: 1e9 * index }))
    assert.deepEqual(emptied(queue), [2, 1, 3])
  })

  for (const options of [{ aging: 0 }, { aging: Number.NaN }, { aging: '1' }, { ageing: 1 }, null, 5])
    test(`the options ${JSON.stringify(options)} are refused`, () => {
      assert.throws(() => new PriorityQueue(options as never), { name: 'InvalidOptionError' })
    })
})
