// A queue with the highest `priority` first, and first in, first out among equals. With aging, the time that a task has
// waited counts as well.

import type { PriorityQueueOptions, TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { milliseconds } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { oldestOf, type Task } from '../task/task.js'
import { Heap } from './heap.js'

const queueTable = new OptionTable({
  aging: milliseconds(false, { default: Number.POSITIVE_INFINITY }),
} satisfies RulesFor<PriorityQueueOptions>)
const queueErrors = new OptionErrors('a PriorityQueue', InvalidOptionError, {})

/** The highest `priority` first. First in, first out among equals. With `aging`, waiting raises the priority. */
export class PriorityQueue implements TaskQueue {
  readonly capacity = Number.POSITIVE_INFINITY
  readonly #heap: Heap<Task>
  #arrived = 0

  /** Throws `InvalidOptionError`. */
  constructor(options: PriorityQueueOptions = {}) {
    if (!mayHoldOptions(options)) queueErrors.noObject(options, 'aging: 10_000')
    this.#heap = new Heap(taskOrder(queueTable.read(options, queueErrors).aging))
  }

  get size(): number {
    return this.#heap.size
  }

  /** @internal The task that was accepted first. */
  get oldest(): QueuedTask | null {
    return oldestOf(this.#heap.items)
  }

  push(queued: QueuedTask): void {
    this.pass(queued)
    this.unshift(queued)
  }

  /** @internal The task passes the empty queue: the host posts it at once, and may put it back later. */
  pass(queued: QueuedTask): void {
    const task = queued as Task
    task.queueOrder = this.#arrived++
  }

  unshift(queued: QueuedTask): void {
    this.#heap.add(queued as Task)
  }

  shift(): QueuedTask | null {
    const task = this.#heap.first
    if (task !== null) this.#heap.remove(task)
    return task
  }

  remove(queued: QueuedTask): void {
    this.#heap.remove(queued as Task)
  }
}

/** @internal The order by `priority`, waiting and arrival. It never changes while tasks wait. */
export function taskOrder(agingMs: number): (one: Task, other: Task) => boolean {
  if (agingMs === Number.POSITIVE_INFINITY) return isMoreUrgent
  return (one, other) => {
    const rank = one.priority * agingMs - one.createdAt
    const otherRank = other.priority * agingMs - other.createdAt
    // Infinite and very large priorities may have equal ranks.
    return rank === otherRank ? isMoreUrgent(one, other) : rank > otherRank
  }
}

function isMoreUrgent(one: Task, other: Task): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority
  return one.queueOrder < other.queueOrder
}
