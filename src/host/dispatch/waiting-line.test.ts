// The tasks that wait, in the order in which they are to start.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { makeTask } from '../../testing/stand-ins.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import type { TaskQueue } from '../queue/task-queue.js'
import type { QueuedTask } from '../task/queued-task.js'
import type { Task } from '../task/task.js'
import { WaitingLine } from './waiting-line.js'

function setUp(count: number, queue: TaskQueue = new FifoQueue()) {
  const line = new WaitingLine(queue, () => {})
  const tasks = Array.from({ length: count }, (_, index) => makeTask(index + 1))
  for (const task of tasks) line.push(task)
  return { line, tasks }
}

function returned(line: WaitingLine, id: number): Task {
  const task = makeTask(id)
  line.putBack(task)
  return task
}

const idsOf = (tasks: Iterable<Task>) => [...tasks].map(task => task.id)

describe('the waiting line', () => {
  test('an empty one has nothing to show', () => {
    const { line } = setUp(0)
    assert.deepEqual([line.size, line.peek()], [0, null])
    assert.deepEqual(idsOf(line.drain()), [])
  })

  test('peek shows the same task until it is taken', () => {
    const { line, tasks } = setUp(2)
    assert.equal(line.peek(), tasks[0])
    assert.equal(line.peek(), tasks[0])
    assert.equal(line.size, 2)
    line.take(tasks[0]!)
    assert.equal(line.size, 1)
    assert.equal(line.peek(), tasks[1])
  })

  test('a task that came back stands before the one that was next, and before the queue', () => {
    const { line } = setUp(3)
    line.peek()
    returned(line, 10)
    returned(line, 11)
    assert.equal(line.size, 5)
    assert.deepEqual(idsOf(line.drain()), [10, 11, 1, 2, 3])
    assert.equal(line.size, 0)
  })

  for (const [title, look] of [
    ['looked at', true],
    ['not looked at', false],
  ] as const) {
    test(`any task can be removed, wherever it stands (${title})`, () => {
      for (const gone of [1, 2, 3, 10]) {
        const { line, tasks } = setUp(3)
        if (look) line.peek()
        const back = returned(line, 10)
        line.remove(gone === 10 ? back : tasks[gone - 1]!)
        assert.equal(line.size, 3)
        assert.deepEqual(
          idsOf(line.drain()),
          [10, 1, 2, 3].filter(id => id !== gone),
        )
      }
    })
  }

  test('a queue that keeps what it was told to remove brings no settled task back', () => {
    const kept: QueuedTask[] = []
    const queue = {
      get size() {
        return kept.length
      },
      push: (task: QueuedTask) => void kept.push(task),
      shift: () => kept.shift(),
      remove() {},
    }
    const { line, tasks } = setUp(2, queue)
    line.remove(tasks[0]!)
    tasks[0]!.state = 'settled'
    assert.equal(line.peek(), tasks[1])
  })

  test('a queue that gives nothing though it has something is believed', () => {
    for (const nothing of [null, undefined]) {
      const { line } = setUp(0, { size: 3, push() {}, shift: () => nothing, remove() {} })
      assert.equal(line.peek(), null)
    }
  })

  test('draining takes out also what a queue will not give', () => {
    const kept: QueuedTask[] = []
    const queue = {
      get size() {
        return kept.length
      },
      push: (task: QueuedTask) => void kept.push(task),
      shift: () => null,
      remove: (task: QueuedTask) => void kept.splice(kept.indexOf(task), 1),
    }
    const { line, tasks } = setUp(3, queue)
    line.remove(tasks[1]!)
    assert.deepEqual(idsOf(line.drain()), [1, 3])
    assert.equal(line.size, 0)
    assert.deepEqual(idsOf(line.drain()), [])
  })

  test('a queue that gives what is no task of ours is passed over', () => {
    const given: unknown[] = [{ id: 1 }, makeTask(2)]
    const queue = {
      get size() {
        return given.length
      },
      push() {},
      shift: () => given.shift() as QueuedTask,
      remove() {},
    }
    assert.equal(setUp(0, queue).line.peek()?.id, 2)
  })
})

/** A queue of a user's own that cancels what it has no place for. */
class SheddingQueue implements TaskQueue {
  readonly #tasks: QueuedTask[] = []
  readonly #shed: (task: QueuedTask) => void

  constructor(shed: (task: QueuedTask) => void) {
    this.#shed = shed
  }

  get size(): number {
    return this.#tasks.length
  }

  push(task: QueuedTask): void {
    if (this.size === 0) this.#tasks.push(task)
    else this.#shed(task)
  }

  shift(): QueuedTask | null {
    return this.#tasks.shift() ?? null
  }

  remove(): void {}
}

describe("a queue of the user's own", () => {
  for (const [title, shift] of [
    ['promises what it gives', async () => null],
    ['looks and does not take', (tasks: QueuedTask[]) => tasks[0]],
    ['takes what it gives to the end', (tasks: QueuedTask[]) => tasks.push(tasks.shift()!) && tasks.at(-1)],
    ['gives a copy', (tasks: QueuedTask[]) => ({ ...tasks.shift() })],
    ['takes and gives nothing', (tasks: QueuedTask[]) => void tasks.shift()],
  ] as const) {
    test(`that ${title} is not asked without end, and gives back all it was given`, () => {
      const failures: unknown[] = []
      const kept: QueuedTask[] = []
      const queue = {
        get size() {
          return kept.length
        },
        push: (task: QueuedTask) => void kept.push(task),
        shift: () => shift(kept) as QueuedTask,
        remove() {},
      }
      const line = new WaitingLine(queue, failure => failures.push(failure))
      for (const id of [1, 2, 3]) line.push(makeTask(id))
      const given: Task[] = []
      for (let task = line.peek(); task !== null; task = line.peek()) {
        line.take(task)
        task.state = 'settled'
        given.push(task)
      }
      assert.deepEqual(idsOf([...given, ...line.lost(true)]).sort(), [1, 2, 3])
      assert.deepEqual(
        failures.map(failure => (failure as InvalidOptionError).option),
        ['queue'],
      )
      assert.deepEqual(idsOf(line.lost(true)), [])
    })
  }

  test('that gives what was settled meanwhile, and had not counted it, is asked on', () => {
    const [gone, next] = [makeTask(1), makeTask(2)]
    gone.state = 'settled'
    const given: QueuedTask[] = [gone, next]
    const { line } = setUp(0, { size: 1, push() {}, shift: () => given.shift()!, remove() {} })
    assert.equal(line.peek(), next)
  })

  test('that has its pool look at it while it is asked is not asked again, and has lost nothing', () => {
    const queue = new PriorityQueue()
    const { line, tasks } = setUp(3, queue)
    const shift = queue.shift.bind(queue)
    const seen: unknown[] = []
    queue.shift = () => {
      const task = shift()
      line.remove(tasks[2]!)
      seen.push(line.peek(), ...line.lost(true))
      return task
    }
    assert.deepEqual(idsOf(line.drain()), [1, 2])
    assert.deepEqual(seen, [null, null])
  })

  test('that will give something later has lost nothing', () => {
    const { line } = setUp(2, { size: 2, push() {}, shift: () => null, remove() {} })
    assert.equal(line.peek(), null)
    assert.deepEqual(idsOf(line.lost(true)), [])
  })

  test('that has a task cancelled while it is pushed does not bring it back at the end', () => {
    const queue = new SheddingQueue(task => {
      ;(task as Task).state = 'settled'
    })
    const { line } = setUp(3, queue)
    assert.deepEqual(idsOf(line.drain()), [1])
  })

  test('of priorities has a task that came back behind what is more urgent, and before its equals', () => {
    const line = new WaitingLine(new PriorityQueue(), () => assert.fail())
    const [low, equal, high] = [0, 0, 1].map((priority, index) => makeTask(index + 1, { priority }))
    for (const task of [low!, equal!]) line.push(task)
    line.take(line.peek()!)
    line.push(high!)
    line.putBack(low!)
    assert.equal(line.size, 3)
    assert.deepEqual(idsOf(line.drain()), [3, 1, 2])
  })

  test('that throws when a task comes back tells of it, and the task stands before all others', () => {
    const failures: unknown[] = []
    const queue = new PriorityQueue()
    queue.unshift = () => {
      throw new Error('full')
    }
    queue.push = PriorityQueue.prototype.unshift
    const line = new WaitingLine(queue, failure => failures.push(failure))
    line.push(makeTask(1, { priority: 1 }))
    returned(line, 2)
    assert.deepEqual([failures.length, line.size], [1, 2])
    assert.deepEqual(idsOf(line.drain()), [2, 1])
  })

  test('that has a task cancelled when it comes back does not bring it back at the end', () => {
    const queue = new SheddingQueue(() => {})
    const shedding = Object.assign(queue, {
      unshift: (task: QueuedTask) => {
        ;(task as Task).state = 'settled'
      },
    })
    const { line } = setUp(1, shedding)
    returned(line, 2)
    assert.deepEqual(idsOf(line.drain()), [1])
  })

  test('is the queue of one pool at a time', () => {
    const queue = new PriorityQueue()
    const { line } = setUp(0, queue)
    assert.throws(() => setUp(0, queue), { code: 'ERR_LIDO_INVALID_OPTION', option: 'queue' })
    line.release()
    setUp(0, queue)
  })
})
