// How long tasks may take. One timer for all of them, set for the one that is due first, and one entry for each task that
// has limits; the others cost nothing. An entry is due when a limit could be over at the earliest; then it is asked how far
// the task has come.

import { TaskTimeoutError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Limits } from './call.js'
import { DueHeap } from './due-heap.js'
import { type Task, TimeLimitEntry } from './task.js'

/**
 * When a worker began the task, on the host's clock; `held`: it has, but its time does not count for now; `answered`: the
 * answer is under way; `decoding`: the result is here and is being decoded.
 */
export type Progress = number | Handed | 'waiting' | 'held' | 'answered' | 'decoding'

/** It waits, with a worker from which it cannot be taken back. */
export interface Handed {
  readonly handedAt: number
}

/** How often one is looked at whose time does not count. */
const HELD_LOOK_MS = 100

export interface TimeLimitsParts {
  clock: Clock
  progressOf: (task: Task, now: number) => Progress
  /** Cancels the task; with `onlyWaiting` not when a worker has begun it. */
  cancel: (task: Task, error: TaskTimeoutError, onlyWaiting: boolean) => void
}

export class TimeLimits {
  readonly #parts: TimeLimitsParts
  readonly #heap = new DueHeap<TimeLimitEntry>()
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY

  constructor(parts: TimeLimitsParts) {
    this.#parts = parts
  }

  /** The wall clock is asked here, once: what it does later changes nothing. */
  watch(task: Task, limits: Limits): TimeLimitEntry {
    const { deadline } = limits
    const isForEver = deadline === Number.POSITIVE_INFINITY
    const deadlineAt = isForEver ? deadline : task.createdAt + deadline - this.#parts.clock.epochNow()
    const entry = new TimeLimitEntry(task, limits, deadlineAt)
    this.#heap.add(entry)
    this.#setTimer()
    return entry
  }

  /** The task is settled. The timer is left as it is: most often the next task wants it. */
  release(entry: TimeLimitEntry): void {
    this.#heap.remove(entry)
  }

  /** The pool is no more. */
  end(): void {
    this.#timer?.cancel()
  }

  #setTimer(): void {
    const { soonest } = this.#heap
    if (soonest === null || soonest.dueAt >= this.#timerAt) return
    const { clock } = this.#parts
    this.#timer?.cancel()
    this.#timerAt = soonest.dueAt
    // After a turn: where the host was busy, what has been answered meanwhile is taken in first.
    this.#timer = clock.after(Math.max(soonest.dueAt - clock.now(), 0), () => {
      this.#timer = clock.nextTurn(() => this.#look())
    })
  }

  #look(): void {
    this.#timer = null
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#parts.clock.now()
    const due: TimeLimitEntry[] = []
    for (let next = this.#heap.soonest; next !== null && next.dueAt <= now; next = this.#heap.soonest) {
      this.#heap.remove(next)
      due.push(next)
    }
    // Those that wait first: else each place that a cancelled one leaves would be given to the next to be cancelled.
    for (const entry of due) if (entry.task.state === 'queued') this.#judge(entry, now)
    for (const entry of due) if (entry.place < 0) this.#judge(entry, now)
    this.#setTimer()
  }

  #judge(entry: TimeLimitEntry, now: number): void {
    const { task, limits, deadlineAt } = entry
    if (isSettled(task)) return
    const progress = this.#progressOf(entry, now)
    if (progress === 'answered') return this.#watchOn(entry, now)
    const timeoutAt = countedFrom(progress, Number.POSITIVE_INFINITY) + limits.timeoutMs
    if (deadlineAt <= now) {
      const limitMs = Math.max(Math.round(deadlineAt - task.createdAt), 0)
      this.#parts.cancel(task, new TaskTimeoutError('deadline', limitMs), false)
    } else if (timeoutAt <= now) {
      this.#parts.cancel(task, new TaskTimeoutError('timeout', limits.timeoutMs), false)
    } else if (this.#queueTimeoutAt(entry) <= now) {
      this.#parts.cancel(task, new TaskTimeoutError('queueTimeout', limits.queueTimeoutMs), true)
    }
    // It has time left, or a worker began it in this very moment.
    if (!isSettled(task)) this.#watchOn(entry, now)
  }

  #watchOn(entry: TimeLimitEntry, now: number): void {
    const progress = this.#progressOf(entry, now)
    // An answer may lead to another attempt. When its time goes on is not told.
    const timeoutMs =
      progress === 'held' ? Math.min(entry.limits.timeoutMs, HELD_LOOK_MS) : entry.limits.timeoutMs
    const dueAt = Math.min(
      countedFrom(progress, now) + timeoutMs,
      this.#queueTimeoutAt(entry),
      entry.deadlineAt,
    )
    entry.dueAt = Math.max(dueAt, now + 1)
    if (entry.dueAt !== Number.POSITIVE_INFINITY) this.#heap.add(entry)
  }

  #progressOf(entry: TimeLimitEntry, now: number): Progress {
    const progress = this.#parts.progressOf(entry.task, now)
    if (progress !== 'waiting' && typeof progress !== 'object') entry.wasStarted = true
    return progress
  }

  #queueTimeoutAt({ task, limits, wasStarted }: TimeLimitEntry): number {
    return wasStarted ? Number.POSITIVE_INFINITY : task.createdAt + limits.queueTimeoutMs
  }
}

/** Since when its `timeout` counts; `otherwise` where it does not. */
function countedFrom(progress: Progress, otherwise: number): number {
  if (typeof progress === 'number') return progress
  return typeof progress === 'object' ? progress.handedAt : otherwise
}

/** To be asked again after each cancel. */
function isSettled(task: Task): boolean {
  return task.state === 'settled'
}
