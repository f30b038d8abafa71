// Cancels tasks whose time limits have passed. One timer serves all tasks. It fires when the first limit may have
// passed. Then the host checks how far the task has come. Tasks without limits have no entry here.

import { TaskTimeoutError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Limits } from './call.js'
import { DueHeap } from './due-heap.js'
import { StopWatch } from './stop-watch.js'
import { type Task, TimeLimitEntry } from './task.js'

/**
 * - a number: when a worker started the task, on the host's clock
 * - `unstarted`: no worker has started it
 * - `Sent`: a process has the task and may not have started it, and the host cannot take it back
 * - `paused`: the answer waits until the host has read what the handler printed; this time does not count
 * - `answered`: the answer is on its way to the host
 * - `decoding`: the host decodes the result
 */
export type Progress = number | Sent | 'unstarted' | 'paused' | 'answered' | 'decoding'

export interface Sent {
  readonly sentAt: number
}

/** How often the host checks whether the time of a paused task counts again. */
const PAUSED_CHECK_MS = 100
/** The timer fires at least so often, to notice that the program was stopped. */
const LONGEST_WAIT_MS = 250

export interface TimeLimitsParts {
  clock: Clock
  progressOf: (task: Task, now: number) => Progress
  /** Cancels the task. With `onlyUnstarted`, a task that a worker has started runs on. */
  cancel: (task: Task, error: TaskTimeoutError, onlyUnstarted: boolean) => void
}

export class TimeLimits {
  readonly #parts: TimeLimitsParts
  readonly #heap = new DueHeap<TimeLimitEntry>()
  readonly #stopWatch: StopWatch
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY

  constructor(parts: TimeLimitsParts) {
    this.#parts = parts
    this.#stopWatch = new StopWatch(parts.clock)
  }

  /** Reads the wall clock once, here. A later jump of the wall clock does not move the deadline. */
  watch(task: Task, limits: Limits): TimeLimitEntry {
    const { deadline } = limits
    const isUnlimited = deadline === Number.POSITIVE_INFINITY
    const deadlineAt = isUnlimited ? deadline : task.createdAt + deadline - this.#parts.clock.epochNow()
    const entry = new TimeLimitEntry(task, limits, deadlineAt)
    this.#heap.add(entry)
    this.#setTimer()
    return entry
  }

  /** Call it when the task is settled. The timer stays: the next task usually needs it. */
  release(entry: TimeLimitEntry): void {
    this.#heap.remove(entry)
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.#timer?.cancel()
  }

  #setTimer(): void {
    const { soonest } = this.#heap
    if (soonest === null || soonest.dueAt >= this.#timerAt) return
    const { clock } = this.#parts
    this.#timer?.cancel()
    const now = clock.now()
    const delayMs = Math.min(Math.max(soonest.dueAt - now, 0), LONGEST_WAIT_MS)
    this.#timerAt = now + delayMs
    this.#stopWatch.begin(delayMs)
    // One turn later: a host that was busy collects the answers first that have come meanwhile.
    this.#timer = clock.after(delayMs, () => {
      this.#stopWatch.end()
      this.#timer = clock.nextTurn(() => this.#onDue())
    })
  }

  #onDue(): void {
    this.#timer = null
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#parts.clock.now()
    const due: TimeLimitEntry[] = []
    for (let next = this.#heap.soonest; next !== null && next.dueAt <= now; next = this.#heap.soonest) {
      this.#heap.remove(next)
      due.push(next)
    }
    // Queued tasks first. Otherwise a cancelled running task would free a slot for a queued task that is cancelled
    // next.
    for (const entry of due) if (entry.task.state === 'queued') this.#check(entry, now)
    for (const entry of due) if (entry.place < 0) this.#check(entry, now)
    this.#setTimer()
  }

  #check(entry: TimeLimitEntry, now: number): void {
    const { task, limits, deadlineAt } = entry
    if (isSettled(task)) return
    const progress = this.#progressOf(entry, now)
    if (progress === 'answered') return this.#watchAgain(entry, now)
    const timeoutAt = this.#timeoutAt(progress, Number.POSITIVE_INFINITY, limits.timeoutMs)
    if (deadlineAt <= now) {
      const limitMs = Math.max(Math.round(deadlineAt - task.createdAt), 0)
      this.#parts.cancel(task, new TaskTimeoutError('deadline', limitMs), false)
    } else if (timeoutAt <= now) {
      this.#parts.cancel(task, new TaskTimeoutError('timeout', limits.timeoutMs), false)
    } else if (this.#queueTimeoutAt(entry) <= now) {
      this.#parts.cancel(task, new TaskTimeoutError('queueTimeout', limits.queueTimeoutMs), true)
    }
    // The task has time left, or a worker started it just now.
    if (!isSettled(task)) this.#watchAgain(entry, now)
  }

  #watchAgain(entry: TimeLimitEntry, now: number): void {
    const progress = this.#progressOf(entry, now)
    // No message tells the host when a pause ends, so it checks again. After an answer, `retry` may run the task again.
    const timeoutMs =
      progress === 'paused' ? Math.min(entry.limits.timeoutMs, PAUSED_CHECK_MS) : entry.limits.timeoutMs
    const dueAt = Math.min(
      this.#timeoutAt(progress, now, timeoutMs),
      this.#queueTimeoutAt(entry),
      entry.deadlineAt,
    )
    entry.dueAt = Math.max(dueAt, now + 1)
    if (entry.dueAt !== Number.POSITIVE_INFINITY) this.#heap.add(entry)
  }

  #progressOf(entry: TimeLimitEntry, now: number): Progress {
    const progress = this.#parts.progressOf(entry.task, now)
    if (progress !== 'unstarted' && typeof progress !== 'object') entry.wasStarted = true
    return progress
  }

  #queueTimeoutAt({ task, limits, wasStarted }: TimeLimitEntry): number {
    return wasStarted ? Number.POSITIVE_INFINITY : this.#later(task.createdAt, limits.queueTimeoutMs)
  }

  #timeoutAt(progress: Progress, otherwise: number, timeoutMs: number): number {
    return this.#later(countedFrom(progress, otherwise), timeoutMs)
  }

  /** Time in which the program was stopped does not count. */
  #later(start: number, ms: number): number {
    return start + ms + this.#stopWatch.stoppedSince(start)
  }
}

/** When the `timeout` of the task started to count; `otherwise` if it does not count now. */
function countedFrom(progress: Progress, otherwise: number): number {
  if (typeof progress === 'number') return progress
  return typeof progress === 'object' ? progress.sentAt : otherwise
}

/** A function, because `cancel` changes the state and TypeScript does not know that. */
function isSettled(task: Task): boolean {
  return task.state === 'settled'
}
