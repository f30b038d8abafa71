// Waits for the results of jobs. One reader of events serves all jobs. Events are only hints, because a reader may miss some:
// PostgreSQL's reader skips events of transactions that commit late. So one question for the states of many jobs is asked soon after
// they were added, and again at growing distances. Only a job that has finished is read.
import { Job, type Queue, type QueueEvents } from 'bullmq'
import type { ErrorClasses } from '../../kit.js'
import { realClock, type Timer } from '../../kit.js'
import { CheckSchedule, newEntry, type ScheduleEntry } from './check-schedule.js'
import type { Engine } from './engine.js'
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
  /** A host gave the job back, or an attempt failed. */
  onWaiting(): void
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

interface Watched extends ScheduleEntry {
  readonly jobId: string
  readonly waiters: Set<Waiter>
  /** Whether the values of the job are encoded. `null`: not known, until the job is read. */
  isEncoded: boolean | null
  /** The last progress before that. */
  earlyProgress: { data: unknown } | null
  /** The last question found the job running. */
  isActive: boolean
}

/** A job that must be read. */
interface Reading {
  readonly watched: Watched
  readonly state: string | undefined
  /** The waiters whose job the server had confirmed before the question for its state. */
  readonly confirmed: readonly Waiter[]
}

/** On PostgreSQL events get lost while all is well. */
const POSTGRES_DISTANCES_MS = [25, 25, 50, 100, 200, 400, 800, 1600, 3200, 5000]
const REDIS_DISTANCES_MS = [1000, 2000, 4000, 8000, 10_000]
/**
 * Between two questions for jobs of which no event came. A slow server gets fewer questions: the gap is longer than the question took,
 * by this factor.
 */
const SHORTEST_GAP_MS = 20
const GAP_FACTOR = 2
const JOBS_PER_QUESTION = 1000
const READS_AT_ONCE = 16
/** After a question without an answer. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2000

export class Results {
  readonly #engine: Engine
  readonly #queue: Queue
  readonly #classes: ErrorClasses
  readonly #onError: (error: Error) => void
  readonly #maxValueBytes: number
  /** In the order of their submission. */
  readonly #watched = new Map<string, Watched>()
  readonly #schedule: CheckSchedule<Watched>
  readonly #toRead: Reading[] = []
  #reads = 0
  #isAsking = false
  #timer: { at: number; timer: Timer } | null = null
  #gapEndsAt = 0
  #pauseEndsAt = 0
  #pauseMs = FIRST_PAUSE_MS
  #isInterrupted = false

  constructor(
    engine: Engine,
    queue: Queue,
    events: QueueEvents,
    { classes, maxValueBytes }: ValueSettings,
    onError: (error: Error) => void,
  ) {
    this.#engine = engine
    this.#queue = queue
    this.#maxValueBytes = maxValueBytes
    this.#classes = classes
    this.#onError = onError
    this.#schedule = new CheckSchedule(engine.isPostgres ? POSTGRES_DISTANCES_MS : REDIS_DISTANCES_MS)
    events.on('delayed', ({ jobId }) => this.#onWaiting(this.#watched.get(jobId)))
    events.on('active', ({ jobId }) => this.#onActive(this.#watched.get(jobId)))
    events.on('progress', ({ jobId, data }) => this.#onProgress(this.#watched.get(jobId), data))
    events.on('completed', ({ jobId, returnvalue }) => this.#onCompleted(jobId, returnvalue))
    events.on('failed', ({ jobId }) => this.checkNow(jobId))
    events.on('removed', ({ jobId }) => this.checkNow(jobId))
  }

  add(waiter: Waiter, isDueNow = false): void {
    const { jobId } = waiter
    let watched = this.#watched.get(jobId)
    if (watched === undefined) {
      watched = {
        ...newEntry(),
        jobId,
        waiters: new Set(),
        isEncoded: null,
        earlyProgress: null,
        isActive: false,
      }
      this.#watched.set(jobId, watched)
      this.#schedule.restart(watched, realClock.now())
      this.#plan()
    }
    watched.waiters.add(waiter)
    if (waiter.isOwner) watched.isEncoded = true
    if (isDueNow) this.checkNow(jobId)
  }

  /** The server has confirmed the job of the waiter. */
  onAdded(waiter: Waiter): void {
    const watched = this.#watched.get(waiter.jobId)
    if (watched === undefined) return
    // Another program may have added the job before, and it may have finished.
    if (waiter.isOwner) this.#schedule.restart(watched, realClock.now())
    else this.#schedule.makeDue(watched)
    this.#plan()
  }

  /** Returns whether no other caller waits for the job. */
  remove(waiter: Waiter): boolean {
    const watched = this.#watched.get(waiter.jobId)
    if (watched === undefined) return true
    watched.waiters.delete(waiter)
    if (watched.waiters.size > 0) return false
    this.#forget(watched)
    return true
  }

  /** Whether no other caller waits for the job. */
  isAlone(waiter: Waiter): boolean {
    return (this.#watched.get(waiter.jobId)?.waiters.size ?? 0) <= 1
  }

  checkNow(jobId: string): void {
    const watched = this.#watched.get(jobId)
    if (watched === undefined) return
    this.#schedule.makeDue(watched)
    this.#plan()
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted
  }

  /** The connection failed. When it works again, all jobs are looked at: their events may be lost. */
  onInterrupted(): void {
    if (this.#isInterrupted) return
    this.#isInterrupted = true
    this.#pause()
    // The answer for one job tells that the connection works again.
    for (const watched of this.#watched.values()) {
      this.#schedule.makeDue(watched)
      break
    }
    this.#plan()
  }

  end(): void {
    this.#timer?.timer.cancel()
    this.#timer = null
    for (const watched of [...this.#watched.values()]) this.#forget(watched)
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched.jobId)
    this.#schedule.delete(watched)
  }

  #isWatched(watched: Watched): boolean {
    return this.#watched.get(watched.jobId) === watched
  }

  #onWaiting(watched: Watched | undefined): void {
    for (const waiter of [...(watched?.waiters ?? [])]) waiter.onWaiting()
  }

  #onActive(watched: Watched | undefined): void {
    if (watched === undefined) return
    for (const waiter of [...watched.waiters]) waiter.onActive()
    // It may end soon.
    this.#schedule.restart(watched, realClock.now())
    this.#plan()
  }

  #onProgress(watched: Watched | undefined, data: unknown): void {
    if (watched === undefined) return
    if (watched.isEncoded === null) {
      watched.earlyProgress = { data }
      return this.checkNow(watched.jobId)
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
    const waiters = [...watched.waiters]
    // Only the id of an owner is new. Otherwise the event may be that of an older job.
    const isResult = waiters.some(({ isOwner }) => isOwner) && !waiters.some(({ needsJob }) => needsJob)
    if (isResult) this.#settle(watched, waiters, () => this.#answerOf(true, result, null))
    else this.checkNow(jobId)
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

  #settle(watched: Watched, waiters: Iterable<Waiter>, makeAnswer: () => Answer): void {
    const settled = [...waiters].filter(waiter => watched.waiters.delete(waiter))
    if (watched.waiters.size === 0) this.#forget(watched)
    for (const waiter of settled) waiter.settle(makeAnswer())
  }

  /** When the next question is asked. `Infinity`: no job is watched. */
  get #askAt(): number {
    const { hasDue, nextAt } = this.#schedule
    return Math.max(hasDue ? 0 : Math.max(nextAt, this.#gapEndsAt), this.#pauseEndsAt)
  }

  /** Sets the timer for the next question. A timer that fires earlier does it again. */
  #plan(): void {
    if (this.#isAsking || this.#watched.size === 0) return
    const at = this.#askAt
    if (at === Number.POSITIVE_INFINITY || (this.#timer !== null && this.#timer.at <= at)) return
    this.#timer?.timer.cancel()
    const delayMs = Math.max(at - realClock.now(), 0)
    this.#timer = { at, timer: realClock.after(delayMs, () => this.#onTimer(), true) }
  }

  #onTimer(): void {
    this.#timer = null
    if (this.#askAt <= realClock.now()) void this.#ask()
    else this.#plan()
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    this.#isAsking = true
    const due = this.#schedule.take(realClock.now(), JOBS_PER_QUESTION)
    const confirmed = due.map(({ waiters }) => [...waiters].filter(({ isAdded }) => isAdded))
    const jobIds = due.map(({ jobId }) => jobId)
    const askedAt = realClock.now()
    try {
      const states = await this.#engine.statesOf(this.#queue, jobIds)
      this.#onAnswered()
      for (const [index, watched] of due.entries()) {
        this.#onState(watched, states.get(watched.jobId), confirmed[index]!)
      }
    } catch (error) {
      this.#pause()
      if (isInterruption(error)) this.#isInterrupted = true
      else this.#onError(error as Error)
      for (const watched of due) if (this.#isWatched(watched)) this.#schedule.makeDue(watched)
    }
    this.#isAsking = false
    const now = realClock.now()
    this.#gapEndsAt = now + Math.max((now - askedAt) * GAP_FACTOR, SHORTEST_GAP_MS)
    this.#plan()
    this.#readNext()
  }

  #onState(watched: Watched, state: string | undefined, confirmed: readonly Waiter[]): void {
    if (!this.#isWatched(watched)) return
    const wasActive = watched.isActive
    watched.isActive = state === 'active'
    if (watched.isActive && !wasActive) this.#onActive(watched)
    if (state !== undefined && !watched.isActive && !isFinal(state)) this.#onWaiting(watched)
    const mayBeOver = isFinal(state) || (state === undefined && confirmed.length > 0)
    if (mayBeOver || watched.earlyProgress !== null) this.#toRead.push({ watched, state, confirmed })
    else this.#schedule.postpone(watched, realClock.now())
  }

  #readNext(): void {
    while (this.#reads < READS_AT_ONCE && this.#toRead.length > 0) {
      this.#reads++
      void this.#read(this.#toRead.shift()!)
    }
  }

  /** Never rejects. */
  async #read({ watched, state, confirmed }: Reading): Promise<void> {
    try {
      if (this.#isWatched(watched)) {
        const job = await Job.fromId(this.#queue, watched.jobId)
        if (this.#isWatched(watched)) this.#onJob(watched, job, state, confirmed)
      }
    } catch (error) {
      if (isInterruption(error)) this.onInterrupted()
      else this.#onError(error as Error)
    }
    this.#reads--
    if (this.#isWatched(watched)) this.#schedule.postpone(watched, realClock.now())
    this.#plan()
    this.#readNext()
  }

  #onJob(
    watched: Watched,
    job: Job | undefined,
    state: string | undefined,
    confirmed: readonly Waiter[],
  ): void {
    if (job === undefined) {
      return this.#settle(watched, confirmed, () => ({ error: new JobLostError(watched.jobId) }))
    }
    const isEncoded = isOfRemotePool(job)
    watched.isEncoded = isEncoded
    if (watched.earlyProgress !== null) this.#onProgress(watched, watched.earlyProgress.data)
    watched.earlyProgress = null
    if (job.processedOn !== undefined) for (const waiter of [...watched.waiters]) waiter.onActive()
    if (job.finishedOn === undefined) return
    if (state === 'completed') {
      this.#settle(watched, watched.waiters, () => this.#answerOf(isEncoded, job.returnvalue, job))
    } else if (state === 'failed') {
      const error = this.#errorOf(job, isEncoded)
      this.#settle(watched, watched.waiters, () => ({ error }))
    }
  }

  /** The server answers. */
  #onAnswered(): void {
    this.#pauseMs = FIRST_PAUSE_MS
    this.#pauseEndsAt = 0
    if (!this.#isInterrupted) return
    this.#isInterrupted = false
    for (const watched of this.#watched.values()) {
      this.#schedule.makeDue(watched)
      this.#schedule.restart(watched, 0)
    }
  }

  #pause(): void {
    this.#pauseEndsAt = realClock.now() + this.#pauseMs
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
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

function isFinal(state: string | undefined): boolean {
  return state === 'completed' || state === 'failed'
}
