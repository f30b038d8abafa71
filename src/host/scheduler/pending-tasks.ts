// The tasks that wait, in the order in which they start:
//   1. tasks that came back from a worker, unless the queue takes them back
//   2. the task that was taken from the queue and is not placed yet
//   3. the queue
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { FixedQueue } from '../queue/fixed-queue.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import type { TaskQueue } from '../queue/task-queue.js'
import { UserQueue } from '../queue/user-queue.js'
import type { Task } from '../task/task.js'

/** The queues of open pools. Two pools with one queue would take each other's tasks. */
const taken = new WeakSet<TaskQueue>()

const OWN_QUEUES: readonly unknown[] = [FifoQueue, FixedQueue, PriorityQueue]

export class PendingTasks {
  /** As the user passed it. */
  readonly #given: TaskQueue
  readonly #queue: TaskQueue
  readonly #onFailure: (failure: unknown) => void
  /** Few, and in the order in which they were accepted. */
  readonly #returned: Task[] = []
  /** A queue has no way to look at its next task without taking it. */
  #head: Task | null = null

  /**
   * Throws `InvalidOptionError` when another pool uses the queue.
   * @param onFailure called with the error of a user's queue that no caller could receive
   */
  constructor(queue: TaskQueue, onFailure: (failure: unknown) => void) {
    if (taken.has(queue))
      throw new InvalidOptionError(
        'queue',
        "The option 'queue' is the queue of another open pool. Give each pool its own queue.",
      )
    taken.add(queue)
    this.#given = queue
    this.#queue = OWN_QUEUES.includes(queue.constructor) ? queue : new UserQueue(queue, onFailure)
    this.#onFailure = onFailure
  }

  /** A later task never starts before an earlier one, so tasks may leave the line long before they start. */
  get isFirstInFirstOut(): boolean {
    return this.#queue instanceof FifoQueue
  }

  /** The queue itself refuses tasks beyond a number. */
  get isBounded(): boolean {
    return Number.isFinite(this.#queue.capacity ?? Number.POSITIVE_INFINITY)
  }

  get size(): number {
    return this.#queue.size + this.#returned.length + (this.#head === null ? 0 : 1)
  }

  /** Throws the error of the queue. Then the task does not wait. */
  push(task: Task): void {
    this.#queue.push(task)
  }

  /** A task comes back. A queue with `unshift()` decides its place; otherwise it stands before all waiting tasks. */
  putBack(task: Task): void {
    if (this.#giveBack(task)) return
    let place = this.#returned.length
    while (place > 0 && isBefore(task, this.#returned[place - 1]!)) place--
    this.#returned.splice(place, 0, task)
  }

  /** The next task to start. It stays in the line until `take()`. */
  peek(): Task | null {
    return this.#returned[0] ?? this.#peekQueue()
  }

  /** Takes tasks out of the queue until so many wait before it: they have slots of workers that are starting. */
  reserve(count: number): void {
    while (this.#returned.length < count) {
      const task = this.#peekQueue()
      if (task === null) return
      this.#head = null
      this.#returned.push(task)
    }
  }

  #peekQueue(): Task | null {
    if (this.#head === null && this.#queue.size > 0) this.#head = this.#queue.shift() as Task | null
    return this.#head
  }

  /** Gives the task of `peek()` back to the queue: a more urgent task may come before the next look. */
  lookAway(): void {
    const head = this.#head
    this.#head = null
    if (head !== null && !this.#giveBack(head)) this.#head = head
  }

  /** Takes out the task of `peek()`, unless it was removed meanwhile. */
  take(task: Task): void {
    if (task === this.#head) this.#head = null
    else this.#takeReturned(task)
  }

  remove(task: Task): void {
    if (task === this.#head) this.#head = null
    else if (!this.#takeReturned(task)) this.#queue.remove(task)
  }

  /** From now on another pool may use the queue. */
  release(): void {
    taken.delete(this.#given)
  }

  /** Takes out all tasks but the first `kept`. */
  *drain(kept: number): Generator<Task> {
    this.reserve(kept)
    // One at a time: the caller's code may remove others.
    while (this.#returned.length > kept) yield this.#returned.splice(kept, 1)[0]!
    for (let task = this.#peekQueue(); task !== null; task = this.#peekQueue()) {
      this.#head = null
      yield task
    }
    if (this.#queue instanceof UserQueue) yield* this.#queue.drain()
  }

  #giveBack(task: Task): boolean {
    if (this.#queue.unshift === undefined) return false
    try {
      this.#queue.unshift(task)
      return true
    } catch (failure) {
      this.#onFailure(failure)
      return false
    }
  }

  #takeReturned(task: Task): boolean {
    const place = this.#returned.indexOf(task)
    if (place < 0) return false
    this.#returned.splice(place, 1)
    return true
  }
}

/** Compares by time of acceptance, and by id when the clock did not advance between the two tasks. */
function isBefore(one: Task, other: Task): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt
}
