// The tasks that wait, in the order in which they are to start: first those that came back from a worker, unless the queue
// has a place for them, then the one taken from the queue and not yet placed, then the queue itself, whoever wrote it. What a
// user's own queue throws is told and costs no task its answer.
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import type { TaskQueue } from '../queue/task-queue.js'
import { Task } from '../task/task.js'

/** Of pools that are open: what two of them put into one queue, either would take out. */
const taken = new WeakSet<TaskQueue>()

export class WaitingLine {
  readonly #queue: TaskQueue
  readonly #onFailure: (failure: unknown) => void
  /** Few, and in the order in which they were accepted. */
  readonly #returned: Task[] = []
  /** Taken from the queue, since a queue cannot be looked into without taking. */
  #head: Task | null = null
  /** What a queue of the user's own holds: it may give out nothing, and its tasks are answered all the same. */
  readonly #held: Set<Task> | null
  /** The queue gives what it keeps, without end: it is asked for nothing more, and given nothing. */
  #isStuck = false
  /** The queue is being asked, and may call the pool meanwhile: to ask it again would lose what it gives, or is given. */
  #isAsking = false
  #wasTold = false

  /** Throws `InvalidOptionError` where the queue is another line's. */
  constructor(queue: TaskQueue, onFailure: (failure: unknown) => void) {
    if (taken.has(queue))
      throw new InvalidOptionError(
        'queue',
        "The option 'queue' is the queue of another pool that is open. Give each pool one of its own.",
      )
    taken.add(queue)
    this.#queue = queue
    this.#onFailure = onFailure
    this.#held = queue.constructor === FifoQueue ? null : new Set()
  }

  /** What comes later never starts earlier, so tasks may leave the line long before they start. */
  get isFirstInFirstOut(): boolean {
    return this.#held === null
  }

  /** The queue itself refuses tasks beyond a number. */
  get isBounded(): boolean {
    return Number.isFinite(this.#queue.capacity ?? Number.POSITIVE_INFINITY)
  }

  get size(): number {
    return this.#queue.size + this.#returned.length + (this.#head === null ? 0 : 1)
  }

  /** Throws what the queue throws; then the task does not wait. */
  push(task: Task): void {
    if (this.#isStuck) throw lostByQueue()
    this.#queue.push(task)
    // The queue is the user's code, which may have cancelled it, or called the pool, which has taken it.
    if (task.state === 'queued' && task !== this.#head) this.#held?.add(task)
  }

  /** A task comes back to where it stood: a queue that is not first in, first out may know; else before all that wait. */
  putBack(task: Task): void {
    if (this.#giveBack(task)) return
    let place = this.#returned.length
    while (place > 0 && isBefore(task, this.#returned[place - 1]!)) place--
    this.#returned.splice(place, 0, task)
  }

  /** The task that is to start next; it stays until `take`. */
  peek(): Task | null {
    const returned = this.#returned[0]
    if (returned !== undefined) return returned
    if (this.#head === null && !this.#isAsking && this.#queue.size > 0)
      this.#head = this.#held === null ? (this.#queue.shift() as Task) : this.#shiftFrom(this.#held)
    return this.#head
  }

  /** Gives back to the queue what was looked at and not taken: by the next look another may come first. */
  lookAway(): void {
    const head = this.#head
    this.#head = null
    if (head !== null && !this.#giveBack(head)) this.#head = head
  }

  /** Takes out the task that `peek` gave, unless it was removed meanwhile. */
  take(task: Task): void {
    if (task === this.#head) this.#head = null
    else this.#takeReturned(task)
  }

  /** False when a queue of the user's own has cancelled it meanwhile. */
  remove(task: Task): boolean {
    if (task === this.#head) this.#head = null
    else if (!this.#takeReturned(task)) {
      this.#held?.delete(task)
      this.#ask(() => this.#queue.remove(task))
    }
    return task.state === 'queued'
  }

  /**
   * Takes out tasks that the queue was given and will never give.
   * @param isIdle nothing is under way after which it could
   */
  *lost(isIdle: boolean): Generator<Task> {
    if (this.#isAsking || !(this.#isStuck || (isIdle && this.size === 0))) return
    for (const task of this.#held ?? []) {
      if (this.remove(task)) yield task
    }
  }

  /** Another pool may have the queue. */
  release(): void {
    taken.delete(this.#queue)
  }

  /** Empties the line. */
  *drain(): Generator<Task> {
    for (;;) {
      const task = this.peek()
      if (task === null) break
      this.take(task)
      yield task
    }
    for (const task of this.#held ?? []) {
      if (this.remove(task)) yield task
    }
  }

  #giveBack(task: Task): boolean {
    if (this.#held === null || this.#isStuck || this.#queue.unshift === undefined) return false
    const isBack = this.#ask(() => {
      this.#queue.unshift!(task)
      return true
    })
    // The queue may have cancelled it.
    if (task.state !== 'queued') return true
    if (isBack) this.#held.add(task)
    return isBack === true
  }

  /** A queue of the user's own may give anything, also what it keeps. `null`: it gives nothing for now. */
  #shiftFrom(held: Set<Task>): Task | null {
    let kept: Set<Task> | null = null
    for (let { size } = this.#queue; size > 0 && !this.#isStuck; ) {
      const given = this.#ask(() => this.#queue.shift()) ?? null
      const before = size
      size = this.#queue.size
      const isTask = given instanceof Task
      if (isTask) held.delete(given)
      // A queue that keeps what it was told to remove must not bring a settled task back to life.
      if (isTask && given.state === 'queued') return given
      if (size < before) {
        if (!isTask) this.#tell()
      } else if (given === null) return null
      else if (!isTask || kept?.has(given)) {
        this.#isStuck = true
        this.#tell()
      } else {
        kept ??= new Set()
        kept.add(given)
      }
    }
    return null
  }

  /** `undefined` where the queue throws. */
  #ask<T>(question: () => T): T | undefined {
    const wasAsking = this.#isAsking
    this.#isAsking = true
    try {
      return question()
    } catch (failure) {
      this.#onFailure(failure)
      return undefined
    } finally {
      this.#isAsking = wasAsking
    }
  }

  /** Once: callers are told of what was lost. */
  #tell(): void {
    if (!this.#wasTold) this.#onFailure(lostByQueue())
    this.#wasTold = true
  }

  #takeReturned(task: Task): boolean {
    const place = this.#returned.indexOf(task)
    if (place < 0) return false
    this.#returned.splice(place, 1)
    return true
  }
}

export function lostByQueue(): InvalidOptionError {
  return new InvalidOptionError(
    'queue',
    "The option 'queue' lost tasks: its shift() must take out and return, at once, one of the very objects that push() was given.",
  )
}

/** Accepted earlier. Ids start over some day; the clock does not, but may stand still between two tasks. */
function isBefore(one: Task, other: Task): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt
}
