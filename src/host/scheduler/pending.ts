// The queued tasks of a pool. They start in this order:
//   1. tasks that came back from a worker and that the queue cannot take back (it has no `unshift()`)
//   2. the task that the host took from the queue and has not placed yet
//   3. the tasks in the queue
//
// Tasks whose key is busy are held beside them, in `key-lines`.

import type { TaskQueue } from '../../api/queue.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { GroupQueue } from '../queue/group-queue.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import { UserQueue } from '../queue/user-queue.js'
import { oldestOf, type Task } from '../task/task.js'
import type { TaskEndListener, TaskEnds } from '../task/task-ends.js'
import { KeyLines } from './key-lines.js'

/** The queues of open pools. Two pools with one queue would take each other's tasks. */
const inUse = new WeakSet<TaskQueue>()

const OWN_QUEUES: readonly unknown[] = [FifoQueue, PriorityQueue, GroupQueue]

export class PendingTasks implements TaskEndListener {
  /** The object that the user passed. */
  readonly #given: TaskQueue
  /** `null` without the option `groups`. */
  readonly groups: GroupQueue | null
  readonly #queue: TaskQueue
  readonly #ends: TaskEnds
  readonly #onFailure: (failure: unknown) => void
  readonly #keys = new KeyLines()
  /** Tasks that got their keys. Passing a task on may reject it, and so free the key for the next one. */
  readonly #resumed: Task[] = []
  /** Called with a task that is no longer held. The pump puts it into the queue. `createCore()` sets it. */
  onResumed: (task: Task) => void = () => {}
  /** In the order of acceptance. The list is short. */
  readonly #returned: Task[] = []
  /** The interface of a queue cannot show its next task without removing it. */
  #head: Task | null = null

  /**
   * Throws `InvalidOptionError` when another pool uses the queue.
   * @param ends tells this list which tasks are over
   * @param onFailure called with an error of a user's queue that no caller can receive
   */
  constructor(queue: TaskQueue, ends: TaskEnds, onFailure: (failure: unknown) => void) {
    if (inUse.has(queue))
      throw new InvalidOptionError(
        'queue',
        "The option 'queue': another open pool uses this queue. Give each pool its own queue.",
      )
    inUse.add(queue)
    this.#given = queue
    this.#queue = OWN_QUEUES.includes(queue.constructor) ? queue : new UserQueue(queue, onFailure)
    this.groups = queue instanceof GroupQueue ? queue : null
    this.#ends = ends
    if (this.groups !== null) ends.listener = this
    this.#onFailure = onFailure
  }

  /** True when a later task never starts before an earlier one. Then the host may post tasks long before they start. */
  get isFirstInFirstOut(): boolean {
    return this.#queue instanceof FifoQueue
  }

  /** True when a task never starts before another one of the same or a higher `priority` that was accepted earlier. */
  get isByPriority(): boolean {
    return this.#queue instanceof PriorityQueue
  }

  /** True when the queue puts a task back to its old place. */
  get keepsPlaces(): boolean {
    return this.#queue.unshift !== undefined
  }

  /** True for a queue that the program wrote. */
  get isOfProgram(): boolean {
    return this.#queue instanceof UserQueue
  }

  /** True when the queue itself has a maximum size. */
  get isBounded(): boolean {
    return Number.isFinite(this.#queue.capacity ?? Number.POSITIVE_INFINITY)
  }

  get size(): number {
    return this.#queue.size + this.#returned.length + (this.#head === null ? 0 : 1) + this.#keys.held
  }

  /** How many of the tasks may not start now, even on a free slot. */
  get held(): number {
    return this.#keys.held + (this.groups === null ? 0 : this.groups.held)
  }

  /** The task that was accepted first. Calls no code of the program. */
  get oldest(): Task | null {
    const { oldest } = this.#queue as FifoQueue | PriorityQueue | GroupQueue | UserQueue
    const { oldest: held } = this.#keys
    const others = [oldest as Task | null, held, this.#head, ...this.#returned]
    return oldestOf(others.filter(task => task !== null))
  }

  /** Call it once for each new task with a serial key. False: another task has the key, so the task is held. */
  acquireKey(task: Task): boolean {
    this.#ends.listener = this
    return this.#keys.acquire(task)
  }

  /** The task that has the key for which this task is held; `null` for a task that is not held. */
  blockerOf(task: Task): Task | null {
    return this.#keys.isHeld(task) ? this.#keys.holderOf(task) : null
  }

  /** Call it before a task that the host posts without `push()`. It may come back by `putBack()`. */
  pass(task: Task): void {
    if (this.#queue instanceof PriorityQueue) this.#queue.pass(task)
  }

  /** Throws the error of the queue. Then the task is not queued. */
  push(task: Task): void {
    this.#queue.push(task)
  }

  /** Puts back a task from a worker. A queue with `unshift()` decides its place. Otherwise it goes before the queue. */
  putBack(task: Task): void {
    if (task.terms.isSerial && this.#keys.mustHoldAgain(task, this.#ends.mayRun(task))) {
      // A held task is in no queue, and does not run for its group.
      this.groups?.onOver(task)
      this.#keys.holdAgain(task)
      return
    }
    if (this.#giveBack(task)) return
    let place = this.#returned.length
    while (place > 0 && isBefore(task, this.#returned[place - 1]!)) place--
    this.#returned.splice(place, 0, task)
  }

  /** The next task to start. `take()` removes it. */
  peek(): Task | null {
    return this.#returned[0] ?? this.#peekQueue()
  }

  /** The next task to start. It stays in the queue, if the queue can take it back. */
  look(): Task | null {
    const wasPeeked = this.#head !== null
    const next = this.peek()
    if (!wasPeeked) this.unpeek()
    return next
  }

  /** Moves the next `count` tasks from the queue to the front. Starting workers have slots for them. */
  reserve(count: number): void {
    while (this.#returned.length < count) {
      const task = this.#peekQueue()
      if (task === null) return
      this.#head = null
      this.#returned.push(task)
    }
  }

  /** The first of the next `most` tasks that the function chooses. Only for a queue without an order of its own. */
  find(isChosen: (task: Task) => boolean, most: number): Task | null {
    this.reserve(most)
    return this.#returned.find(isChosen) ?? null
  }

  #peekQueue(): Task | null {
    if (this.#head === null && this.#queue.size > 0) this.#head = this.#queue.shift() as Task | null
    return this.#head
  }

  /** Puts the task of `peek()` back into the queue: a more urgent task may come before the next `peek()`. */
  unpeek(): void {
    const head = this.#head
    this.#head = null
    if (head !== null && !this.#giveBack(head)) this.#head = head
  }

  /** Removes the task of `peek()`, unless it was removed meanwhile. */
  take(task: Task): void {
    if (task === this.#head) this.#head = null
    else this.#takeReturned(task)
  }

  remove(task: Task): void {
    if (this.#keys.isHeld(task)) this.#keys.remove(task)
    else if (task === this.#head) this.#head = null
    else if (!this.#takeReturned(task)) this.#queue.remove(task)
  }

  /** The task is over: tasks that waited for its key or for its group may start now. */
  onOver(task: Task): void {
    this.groups?.onOver(task)
    if (task.terms.isSerial) this.#passKey(task)
  }

  /** A task that runs again is held until the worker of its last run has ended. */
  onRunEnded(task: Task): void {
    if (this.#keys.isHeld(task)) this.#passKey(task)
  }

  #passKey(task: Task): void {
    const next = this.#keys.pass(task)
    if (next === null || this.#resumed.push(next) > 1) return
    for (const resumed of this.#resumed) this.onResumed(resumed)
    this.#resumed.length = 0
  }

  /** Why the queued task may not start now; `null` when it may. */
  holdOf(task: Task): 'key' | 'group limit' | null {
    if (this.#keys.isHeld(task)) return 'key'
    return this.groups?.isHeld(task) ? 'group limit' : null
  }

  /** From now on another pool may use the queue. */
  release(): void {
    inUse.delete(this.#given)
  }

  /** Removes all tasks except the first `kept`. */
  *drain(kept: number): Generator<Task> {
    this.reserve(kept)
    // One at a time: the caller may remove other tasks between two steps.
    while (this.#returned.length > kept) yield this.#returned.splice(kept, 1)[0]!
    for (let task = this.#peekQueue(); task !== null; task = this.#peekQueue()) {
      this.#head = null
      yield task
    }
    if (this.#queue instanceof UserQueue || this.#queue instanceof GroupQueue) yield* this.#queue.drain()
    yield* this.#keys.drain()
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

/** Compares the times of acceptance. Two tasks of the same time compare by id. */
function isBefore(one: Task, other: Task): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt
}
