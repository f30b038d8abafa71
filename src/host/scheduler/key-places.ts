// Places tasks with a key. Each goes into the inbox of the worker that ran the key last. If that worker is busy while others are idle, the
// task goes to an idle worker, and so does its key.
import type { LoadBalancer } from '../../api/queue.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Recall } from '../lane/recall.js'
import type { Task } from '../task/task.js'
import type { KeyWorkers } from '../workers/key-workers.js'
import { hasRoomFor } from '../workers/placement.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PendingTasks } from './pending.js'

/**
 * How long a task waits for its worker while another worker is idle. To fill a cache again often takes several milliseconds. A longer
 * wait would be visible to a person.
 */
const LONGEST_WAIT_MS = 20

/** How many later tasks may pass a task that waits for the worker of its key. */
const MOST_PASSES = 64

export interface KeyPlacesParts {
  clock: Clock
  pending: PendingTasks
  /** `null`: the host sends all tasks by message. */
  waker: unknown
  loadBalancer: LoadBalancer | null
  group: WorkerGroup
  posted: PostedTasks
  recall: Recall
  keyWorkers: KeyWorkers
  /** Returns a task that the host took back to the queue. */
  putBack: (task: Task) => void
  /** Places tasks again. */
  refill: () => void
}

export class KeyPlaces {
  readonly #parts: KeyPlacesParts
  #nextLook: Timer | null = null
  /** The task that others passed last, and how many passed it. */
  #first: Task | null = null
  #passes = 0

  constructor(parts: KeyPlacesParts) {
    this.#parts = parts
  }

  /** The worker whose inbox gets the task. `'full'`: the task must wait. `null`: any worker may claim it, because none is ready. */
  of(key: string): Worker | 'full' | null {
    const { keyWorkers } = this.#parts
    const bound = keyWorkers.of(key)
    if (bound !== null && hasRoom(bound)) return bound
    if (bound !== null && !this.#parts.group.workers.some(worker => this.#isFree(worker))) return 'full'
    const chosen = keyWorkers.choose(key)
    return chosen === null || hasRoom(chosen) ? chosen : 'full'
  }

  /**
   * The task that the host sends by message in place of the first one. While the worker of its key is busy, a free worker first gets a task
   * of its own keys, if one of the next tasks is such a task.
   */
  firstToSend(first: Task): Task {
    const { loadBalancer, pending, waker } = this.#parts
    if (waker !== null || loadBalancer !== null || !pending.isFirstInFirstOut) return first
    if (this.#first !== first) this.#passes = 0
    this.#first = first
    if (this.#passes >= MOST_PASSES || this.#hasFreeWorker(first)) return first
    const found = pending.find(task => this.#hasFreeWorker(task), MOST_PASSES)
    if (found === null) return first
    this.#passes++
    return found
  }

  /** True when the worker of its key has a free slot, and when the task has no such worker. */
  #hasFreeWorker({ key, isExclusive }: Task): boolean {
    const worker = key === null ? null : this.#parts.keyWorkers.of(key)
    return worker === null || hasRoomFor(worker, isExclusive)
  }

  /** Call it when a task was put into an inbox. */
  onPlaced(): void {
    this.#nextLook ??= this.#parts.clock.after(LONGEST_WAIT_MS, () => this.#look())
  }

  /** Moves half of the late tasks of each busy worker to idle workers. Their keys go with them. */
  #look(): void {
    const { clock, group, keyWorkers, posted, recall, putBack } = this.#parts
    this.#nextLook = null
    let hasMoved = false
    let isAnyWaiting = false
    const isAnyFree = posted.queue.unclaimed === 0 && group.workers.some(worker => this.#isFree(worker))
    const latest = clock.now() - LONGEST_WAIT_MS
    for (const { id } of group.workers) {
      const waiting = posted.inInboxOf(id)
      const late = isAnyFree ? waiting.filter(({ createdAt }) => createdAt <= latest) : []
      const moved = late.slice(0, Math.ceil(late.length / 2)).filter(task => recall.takeBack(task))
      for (const task of moved) keyWorkers.forget(task.key!)
      for (const task of moved.reverse()) putBack(task)
      hasMoved ||= moved.length > 0
      isAnyWaiting ||= waiting.length > 0
    }
    if (isAnyWaiting) this.onPlaced()
    if (hasMoved) this.#parts.refill()
  }

  /** The worker has a free slot and no task waits for it. */
  #isFree(worker: Worker): boolean {
    if (!worker.isReady || !hasRoomFor(worker, false)) return false
    return worker.tasks.inbox!.size === 0 || this.#parts.posted.inInboxOf(worker.id).length === 0
  }

  /** Call it when the pool has closed. */
  end(): void {
    this.#nextLook?.cancel()
  }
}

function hasRoom({ tasks }: Worker): boolean {
  return tasks.inbox!.hasRoom
}
