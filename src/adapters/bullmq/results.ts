// Waits for the results of jobs. One reader of events serves all jobs. Events are only hints, because a reader may miss some:
// each job is also read from the queue, at growing intervals.
import { Job, type Queue, type QueueEvents } from 'bullmq'
import type { ErrorClasses } from '../../kit.js'
import { realClock, type Timer } from '../../kit.js'
import { decodeValue, isOfRemotePool, storedError } from './job-values.js'
import { isInterruption, JobFailedError, JobLostError, restored } from './remote-errors.js'

/** The result or the error of a job. `job` is there if it was read. */
export type Answer = { value: unknown; job: Job | null } | { error: unknown }

/** One caller that waits for a job. Several may wait for the same job. */
export interface Waiter {
  readonly jobId: string
  /** Called once. */
  settle(answer: Answer): void
  onProgress: ((value: unknown) => void) | null
  onActive(): void
  /** False until the server has confirmed the job. A job that is not confirmed cannot be lost. */
  isAdded: boolean
  /** The times of the job are wanted, and the events do not have them. */
  readonly needsJob: boolean
  /** This waiter added the job. Otherwise any program may have added it. */
  readonly isOwner: boolean
}

/** How values of the queue are decoded. */
export interface ValueSettings {
  readonly classes: ErrorClasses
  readonly maxValueBytes: number
}

interface Watched {
  /** Whether the values of the job are encoded. `null`: not known, until the job is read. */
  isEncoded: boolean | null
  /** The last progress before that. */
  earlyProgress: { data: unknown } | null
  readonly waiters: Set<Waiter>
  checkAt: number
  intervalMs: number
  isChecking: boolean
}

const TICK_MS = 250
const FIRST_INTERVAL_MS = 1000
const LONGEST_INTERVAL_MS = 10_000
const MOST_CHECKS_AT_ONCE = 20

export class Results {
  readonly #queue: Queue
  readonly #classes: ErrorClasses
  readonly #onError: (error: Error) => void
  readonly #maxValueBytes: number
  /** In the order of their submission. */
  readonly #watched = new Map<string, Watched>()
  #timer: Timer | null = null
  #checks = 0
  #isInterrupted = false

  constructor(
    queue: Queue,
    events: QueueEvents,
    { classes, maxValueBytes }: ValueSettings,
    onError: (error: Error) => void,
  ) {
    this.#queue = queue
    this.#maxValueBytes = maxValueBytes
    this.#classes = classes
    this.#onError = onError
    events.on('active', ({ jobId }) => this.#eachWaiter(jobId, waiter => waiter.onActive()))
    events.on('progress', ({ jobId, data }) => this.#onProgress(jobId, data))
    events.on('completed', ({ jobId, returnvalue }) => this.#onCompleted(jobId, returnvalue))
    events.on('failed', ({ jobId }) => this.#checkSoon(jobId))
    events.on('removed', ({ jobId }) => this.#checkSoon(jobId))
  }

  add(waiter: Waiter, isDueNow = false): void {
    let watched = this.#watched.get(waiter.jobId)
    if (watched === undefined) {
      watched = {
        isEncoded: null,
        earlyProgress: null,
        waiters: new Set(),
        checkAt: realClock.now() + FIRST_INTERVAL_MS,
        intervalMs: FIRST_INTERVAL_MS,
        isChecking: false,
      }
      this.#watched.set(waiter.jobId, watched)
    }
    watched.waiters.add(waiter)
    if (waiter.isOwner) watched.isEncoded = true
    this.#timer ??= realClock.after(TICK_MS, () => this.#onTick(), true)
    if (isDueNow) this.#checkSoon(waiter.jobId)
  }

  /** Returns whether no other caller waits for the job. */
  remove(waiter: Waiter): boolean {
    const watched = this.#watched.get(waiter.jobId)
    if (watched === undefined) return true
    watched.waiters.delete(waiter)
    if (watched.waiters.size > 0) return false
    this.#watched.delete(waiter.jobId)
    return true
  }

  /** Whether no other caller waits for the job. */
  isAlone(waiter: Waiter): boolean {
    return (this.#watched.get(waiter.jobId)?.waiters.size ?? 0) <= 1
  }

  checkNow(jobId: string): void {
    this.#checkSoon(jobId)
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted
  }

  /** The connection failed. When it works again, all jobs are read: their events may be lost. */
  onInterrupted(): void {
    this.#isInterrupted = true
  }

  end(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#watched.clear()
  }

  #eachWaiter(jobId: string, use: (waiter: Waiter) => void): void {
    for (const waiter of [...(this.#watched.get(jobId)?.waiters ?? [])]) use(waiter)
  }

  #onProgress(jobId: string, data: unknown): void {
    const watched = this.#watched.get(jobId)
    if (watched === undefined) return
    if (watched.isEncoded === null) {
      watched.earlyProgress = { data }
      return this.#checkSoon(jobId)
    }
    for (const { onProgress } of [...watched.waiters]) {
      if (onProgress === null) continue
      let value: unknown
      try {
        value = this.#decode(watched.isEncoded, data)
      } catch {
        // Nobody can read it. The result of the job counts.
        return
      }
      onProgress(value)
    }
  }

  #onCompleted(jobId: string, result: unknown): void {
    const watched = this.#watched.get(jobId)
    if (watched === undefined) return
    const { isEncoded, waiters } = watched
    if (isEncoded === null || [...waiters].some(({ needsJob }) => needsJob)) return this.#checkSoon(jobId)
    this.#settle(jobId, () => this.#answerOf(isEncoded, result, null))
  }

  #decode(isEncoded: boolean, given: unknown): unknown {
    return isEncoded ? decodeValue(given, 'result', this.#maxValueBytes) : given
  }

  /** Each waiter gets its own copy of an encoded result. */
  #answerOf(isEncoded: boolean, result: unknown, job: Job | null): Answer {
    try {
      return { value: this.#decode(isEncoded, result), job }
    } catch (error) {
      return { error }
    }
  }

  #settle(jobId: string, makeAnswer: () => Answer): void {
    const watched = this.#watched.get(jobId)
    if (watched === undefined) return
    this.#watched.delete(jobId)
    for (const waiter of watched.waiters) waiter.settle(makeAnswer())
  }

  #onTick(): void {
    this.#timer = null
    this.#checkDue()
    if (this.#watched.size > 0) this.#timer ??= realClock.after(TICK_MS, () => this.#onTick(), true)
  }

  #checkSoon(jobId: string): void {
    const watched = this.#watched.get(jobId)
    if (watched === undefined) return
    watched.checkAt = 0
    if (watched.isChecking || this.#checks >= MOST_CHECKS_AT_ONCE) return
    void this.#check(jobId, watched)
  }

  #checkDue(): void {
    const now = realClock.now()
    for (const [jobId, watched] of this.#watched) {
      if (this.#checks >= MOST_CHECKS_AT_ONCE) return
      if (!watched.isChecking && watched.checkAt <= now) void this.#check(jobId, watched)
    }
  }

  /** Never rejects. */
  async #check(jobId: string, watched: Watched): Promise<void> {
    this.#checks++
    watched.isChecking = true
    watched.checkAt = realClock.now() + watched.intervalMs
    watched.intervalMs = Math.min(watched.intervalMs * 2, LONGEST_INTERVAL_MS)
    const wasAdded = [...watched.waiters].some(({ isAdded }) => isAdded)
    try {
      const makeAnswer = await this.#read(jobId, watched, wasAdded)
      if (this.#isInterrupted) this.#onRestored()
      if (makeAnswer !== null && this.#watched.get(jobId) === watched) this.#settle(jobId, makeAnswer)
    } catch (error) {
      if (isInterruption(error)) this.#isInterrupted = true
      else this.#onError(error as Error)
    } finally {
      this.#checks--
      watched.isChecking = false
    }
    if (!this.#isInterrupted) this.#checkDue()
  }

  #onRestored(): void {
    this.#isInterrupted = false
    for (const watched of this.#watched.values()) {
      watched.checkAt = 0
      watched.intervalMs = FIRST_INTERVAL_MS
    }
  }

  /** `null`: the job is not finished. */
  async #read(jobId: string, watched: Watched, wasAdded: boolean): Promise<(() => Answer) | null> {
    const job = await Job.fromId(this.#queue, jobId)
    if (job === undefined) return wasAdded ? () => ({ error: new JobLostError(jobId) }) : null
    const isEncoded = isOfRemotePool(job)
    watched.isEncoded = isEncoded
    if (watched.earlyProgress !== null) this.#onProgress(jobId, watched.earlyProgress.data)
    watched.earlyProgress = null
    if (job.processedOn !== undefined) this.#eachWaiter(jobId, waiter => waiter.onActive())
    if (job.finishedOn === undefined) return null
    const state = await job.getState()
    if (state === 'completed') return () => this.#answerOf(isEncoded, job.returnvalue, job)
    if (state !== 'failed') return null
    const error = this.#errorOf(job, isEncoded)
    return () => ({ error })
  }

  #errorOf(job: Job, isEncoded: boolean): unknown {
    try {
      const stored = isEncoded ? storedError(job.stacktrace, this.#classes) : null
      return stored === null ? new JobFailedError(job.id!, job.failedReason) : restored(stored.error)
    } catch (error) {
      return error
    }
  }
}
