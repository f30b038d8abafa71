// Holds the jobs of a host until a slot of its pool is free, and decides how many jobs the host fetches ahead.
import { type Pool, TaskTimeoutError } from '../../index.js'
import { realClock, type Timer } from '../../kit.js'
import { NotStartedError } from './outcome.js'

/**
 * Starts a task of a job when a slot is free. Rejects with `NotStartedError` when the host gives the job back before.
 * @param task gets the `queueTimeout` for the pool
 */
export type StartTask = <Result>(
  signal: AbortSignal | undefined,
  task: (queueTimeout: number | undefined) => Promise<Result>,
) => Promise<Result>

/** Starts each task at once. The pool queues it. */
export const startAtOnce: StartTask = (_signal, task) => task(undefined)

/** A host fetches ahead while its jobs take less than this on average. Longer jobs hardly wait for the queue. */
const SHORT_MS = 50
/**
 * The pool itself queues jobs that are shorter than this, because its worker then has the next task without asking the host. Row M1: with 1 ms
 * jobs this saves about 5 %.
 */
const QUEUED_IN_POOL_MS = 10
/** A slot that is busy for longer than this runs a long job, which other jobs must not wait for. */
const LONG_MS = 100
/** The weight of the latest job in the average. */
const LATEST_WEIGHT = 0.2

interface Waiter {
  readonly job: GatedJob
  /** @param refusal why the task does not start */
  settle(refusal: NotStartedError | null): void
}

/** A job that the host has, from its fetch to its end. */
export class GatedJob {
  /** The host gives the job back, instead of starting it. */
  refusal: NotStartedError | null
  /** When its first task started. `null`: the host holds the job. */
  startedAt: number | null = null
  readonly start: StartTask

  constructor(gate: StartGate, refusal: NotStartedError | null) {
    this.refusal = refusal
    this.start = (signal, task) => gate.start(this, signal, task)
  }
}

/** The tasks start in the order of their jobs, and as many run at once as the pool has slots. */
export class StartGate {
  readonly #pool: Pool<any, any>
  readonly #prefetch: number | 'auto'
  readonly #onChange: () => void
  /** Tasks in the pool. */
  #running = 0
  /** Jobs of which a task has started. */
  #started = 0
  readonly #held = new Set<GatedJob>()
  readonly #waiters = new Set<Waiter>()
  #lastStartAt = 0
  /** How long the latest jobs ran. `null`: none has ended. */
  #averageMs: number | null = null
  #timer: Timer | null = null

  /** @param onChange called when `concurrency` has become smaller */
  constructor(pool: Pool<any, any>, prefetch: number | 'auto', onChange: () => void) {
    this.#pool = pool
    this.#prefetch = prefetch
    this.#onChange = onChange
  }

  /** Jobs that the host may have at once. */
  get concurrency(): number {
    const slots = slotsOf(this.#pool)
    if (this.#prefetch !== 'auto') return slots + this.#prefetch
    // A job of many items uses several slots.
    if (this.#isBlocked) return Math.max(1, this.#started)
    return this.#averageMs !== null && this.#averageMs < SHORT_MS ? 2 * slots : slots
  }

  /** @param refusal why the host gives the job back at once */
  add(refusal: NotStartedError | null): GatedJob {
    const blocked = this.#prefetch === 'auto' && this.#isBlocked
    const job = new GatedJob(this, refusal ?? (blocked ? new NotStartedError('prefetched') : null))
    this.#held.add(job)
    if (this.#prefetch === 'auto' && job.refusal === null) this.#timer ??= this.#watch(LONG_MS)
    return job
  }

  /** @param hasRun false: the host gave the job back */
  remove(job: GatedJob, hasRun: boolean): void {
    this.#held.delete(job)
    if (job.startedAt === null) return
    this.#started--
    if (!hasRun) return
    const durationMs = realClock.now() - job.startedAt
    this.#averageMs =
      this.#averageMs === null ? durationMs : this.#averageMs + (durationMs - this.#averageMs) * LATEST_WEIGHT
  }

  async start<Result>(
    job: GatedJob,
    signal: AbortSignal | undefined,
    task: (queueTimeout: number | undefined) => Promise<Result>,
  ): Promise<Result> {
    if (job.refusal !== null && job.startedAt === null) throw job.refusal
    let queueTimeout: number | undefined
    if (this.#waiters.size === 0 && this.#hasRoom) this.#take(job)
    else if (this.#waiters.size === 0 && this.#mayQueueInPool(job)) {
      queueTimeout = LONG_MS
      this.#take(job)
    }
    // The pool rejects a task whose signal has aborted.
    else if (!(await this.#turn(job, signal))) return await task(undefined)
    try {
      return await task(queueTimeout)
    } catch (error) {
      if (queueTimeout === undefined || !hasNotStarted(error)) throw error
      // The host is blocked from now on, and not after another 100 ms.
      this.#lastStartAt = Number.NEGATIVE_INFINITY
      throw new NotStartedError('prefetched')
    } finally {
      this.#running--
      this.admit()
    }
  }

  /** Starts waiting tasks while the pool has room. Call it also when the pool may have grown. */
  admit(): void {
    for (const waiter of this.#waiters) {
      if (!this.#hasRoom) return
      this.#waiters.delete(waiter)
      this.#take(waiter.job)
      waiter.settle(null)
    }
  }

  /** Gives back the jobs that wait for a slot. */
  giveBackHeld(reason: NotStartedError['reason']): void {
    for (const job of this.#held) job.refusal ??= new NotStartedError(reason)
    for (const waiter of this.#waiters) {
      if (waiter.job.startedAt !== null) continue
      this.#waiters.delete(waiter)
      waiter.settle(waiter.job.refusal)
    }
  }

  end(): void {
    this.#timer?.cancel()
  }

  get #hasRoom(): boolean {
    return this.#running < slotsOf(this.#pool)
  }

  #mayQueueInPool(job: GatedJob): boolean {
    if (this.#prefetch !== 'auto' || job.startedAt !== null || this.#isBlocked) return false
    const isShort = this.#averageMs !== null && this.#averageMs < QUEUED_IN_POOL_MS
    return isShort && this.#running < 2 * slotsOf(this.#pool)
  }

  /** All slots run long jobs. */
  get #isBlocked(): boolean {
    return !this.#hasRoom && realClock.now() - this.#lastStartAt >= LONG_MS
  }

  #take(job: GatedJob): void {
    this.#running++
    this.#lastStartAt = realClock.now()
    if (job.startedAt !== null) return
    job.startedAt = this.#lastStartAt
    this.#held.delete(job)
    this.#started++
  }

  /** Resolves to false when the signal aborts before a slot is free. Rejects when the host gives the job back before. */
  #turn(job: GatedJob, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false)
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiters.delete(waiter)
        resolve(false)
      }
      const waiter: Waiter = {
        job,
        settle(refusal) {
          signal?.removeEventListener('abort', onAbort)
          if (refusal === null) resolve(true)
          else reject(refusal)
        },
      }
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** One timer watches all held jobs, because a timer for each job would cost more than a short job. */
  #watch(delayMs: number): Timer {
    return realClock.after(delayMs, () => {
      this.#timer = null
      if (this.#held.size === 0) return
      if (!this.#isBlocked) {
        const leftMs = LONG_MS - (realClock.now() - this.#lastStartAt)
        this.#timer = this.#watch(leftMs > 0 ? leftMs : LONG_MS)
        return
      }
      this.giveBackHeld('prefetched')
      this.#onChange()
    })
  }
}

function hasNotStarted(error: unknown): boolean {
  return error instanceof TaskTimeoutError && error.limit === 'queueTimeout'
}

/** The tasks that the pool runs at once. */
export function slotsOf({ maxWorkers, options }: Pool<any, any>): number {
  return maxWorkers * options.concurrentTasksPerWorker
}
