// One call of a `RemotePool`: from the submission of its job until its promise settles, once. Holds its signal and time limits.
import { randomUUID } from 'node:crypto'
import { PoolClosedError, TaskCancelledError, TaskTimeoutError } from '../../index.js'
import { realClock, type Timer } from '../../kit.js'
import { CANCELLED_BY_CALLER } from './control.js'
import type { JobOrder } from './job-order.js'
import type { JobTerms } from './job-values.js'
import type { Asker, RemoteConnection } from './remote-connection.js'
import { JobLostError } from './remote-errors.js'
import type { RunSettings } from './remote-options.js'
import type { Answer, Results, Waiter } from './results.js'

/** When BullMQ says that the job started and ended. */
export type JobTimes = { processedOn?: number | undefined; finishedOn?: number | undefined }

export type CallSettings = Pick<
  RunSettings,
  'signal' | 'deadline' | 'queueTimeout' | 'jobId' | 'onProgress'
> & {
  /** The call waits for its first connection as if it had a limit, because its map has one. */
  readonly hasLimits?: boolean
}

export type CallAnswer = { value: unknown } | { error: unknown }

/** Longer timers would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1
/** When the server does not answer, the queueTimeout is over without its answer. */
const SERVER_GRACE_MS = 500
/** A job that many programs cancel in turn must not go round for ever. */
const MOST_ADDITIONS = 10

interface Removal {
  readonly error: unknown
  /** A job that waits for another attempt has started, and stays. */
  readonly countsRetries: boolean
}

export class RemoteCall implements Waiter {
  readonly jobId: string
  readonly needsJob: boolean
  readonly isOwner: boolean
  isAdded = false
  onProgress: ((value: unknown) => void) | null
  isActive = false
  readonly #connection: RemoteConnection
  /** `null`: the call waits for a job that another call added. */
  readonly #order: JobOrder | null
  readonly #settings: CallSettings
  readonly #done: (answer: CallAnswer, times: JobTimes | null) => void
  readonly #timers: Timer[] = []
  #results: Results | null = null
  #isSettled = false
  #isSent = false
  #additions = 0
  #addedAt: number | null = null
  /** What the job says if this call added it. */
  #terms: JobTerms | undefined
  #isCancelled = false
  /** The job is removed when no host has it, and the call rejects with this error. */
  #removal: Removal | null = null
  /** The error of the call if this call removes the waiting job. */
  #withdrawal: unknown = null

  constructor(
    connection: RemoteConnection,
    order: JobOrder | null,
    settings: CallSettings,
    done: (answer: CallAnswer, times: JobTimes | null) => void,
    needsJob = false,
  ) {
    this.jobId = settings.jobId ?? randomUUID()
    this.needsJob = needsJob
    this.isOwner = order !== null && settings.jobId === undefined
    this.#connection = connection
    this.#order = order
    this.#settings = settings
    this.#done = done
    const { onProgress } = settings
    this.onProgress =
      onProgress === undefined
        ? null
        : given => {
            try {
              onProgress(given)
            } catch (error) {
              this.cancel(error)
            }
          }
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Milliseconds for which the job might have run. 0: it runs, or may not run yet. */
  get waitedMs(): number {
    if (this.isActive || this.#isSettled || this.#addedAt === null) return 0
    return Math.max(realClock.now() - this.#addedAt - (this.#order?.opts.delay ?? 0), 0)
  }

  start(): void {
    const { signal, deadline, queueTimeout } = this.#settings
    if (signal) signal.addEventListener('abort', this.#onAbort)
    if (deadline !== undefined) {
      const limitMs = Number(deadline) - realClock.epochNow()
      this.#after(limitMs, () =>
        this.cancel(new TaskTimeoutError('deadline', Math.max(Math.round(limitMs), 0))),
      )
    }
    if (queueTimeout !== undefined) this.#after(queueTimeout, () => void this.#onQueueTimeout(queueTimeout))
    this.#submit().catch(error => this.#finish({ error }))
  }

  settle(answer: Answer): void {
    if (!('error' in answer)) {
      this.#finish({ value: answer.value }, answer.job)
      return
    }
    const { error } = answer
    if (this.#withdrawal !== null && error instanceof JobLostError) this.#finish({ error: this.#withdrawal })
    else if (this.#mayShareJob && mayBeOfAnotherCall(error)) {
      this.#addAgain(error).catch(failure => this.#finish({ error: failure }))
    } else this.#finish({ error })
  }

  onActive(): void {
    this.isActive = true
  }

  onWaiting(): void {
    this.isActive = false
    // A host had the job at that moment, and gave it back.
    if (this.#removal !== null) void this.#removeUnstarted(this.#removal)
  }

  /** Rejects the call at once, and removes or cancels its job unless another call of this process waits for it. */
  cancel(error: unknown): void {
    if (this.#isSettled) return
    const isLast = this.#finish({ error })
    // The job of `result()` belongs to the program that added it.
    if (!isLast || !this.#isSent || this.#order === null) return
    this.#isCancelled = true
    this.#connection.cancel(this.jobId)
  }

  /** Somebody cancelled the job for all its callers. */
  onCancelled(): void {
    const error = new TaskCancelledError(CANCELLED_BY_CALLER, 'cancel() was called with the id of its job')
    // This call may have added the job after its removal.
    if (this.#additions > 1) this.cancel(error)
    else this.#finish({ error })
  }

  /** Rejects the call. The job stays in the queue. */
  abandon(reason: 'destroyed'): void {
    this.#finish({ error: new PoolClosedError(reason) })
  }

  /** Rejects the call if its job waits. Never rejects. */
  async withdraw(error: unknown): Promise<void> {
    if (this.#isSettled) return
    if (this.#order === null || this.#results === null) return this.cancel(error)
    await this.#removeUnstarted({ error, countsRetries: false })
  }

  readonly #onAbort = () => this.cancel(new TaskCancelledError(this.#settings.signal!.reason))

  #after(delayMs: number, callback: () => void): void {
    if (delayMs <= LONGEST_DELAY_MS) this.#timers.push(realClock.after(Math.max(delayMs, 0), callback, true))
  }

  get #asker(): Asker {
    const { signal, deadline, queueTimeout, hasLimits } = this.#settings
    return {
      isWanted: () => !this.#isSettled,
      hasLimits: hasLimits || Boolean(signal) || deadline !== undefined || queueTimeout !== undefined,
    }
  }

  /** Other programs may have calls with the same job. */
  get #mayShareJob(): boolean {
    return this.#order !== null && this.#settings.jobId !== undefined
  }

  async #submit(): Promise<void> {
    const opened = await this.#connection.open(this.#asker)
    if (opened === undefined || this.#isSettled) return
    const { results } = opened
    this.#results = results
    const order = this.#order
    if (order === null) {
      this.#onAdded()
      results.add(this, true)
      return
    }
    results.add(this)
    if (this.#mayShareJob) await this.#connection.removeFailed(this.jobId)
    if (this.#isSettled) return
    this.#isSent = true
    this.#additions++
    this.#terms = await this.#connection.add(order, this.jobId, this.#asker)
    this.#onAdded()
    results.onAdded(this)
    // The first attempt to cancel may have been earlier than the job.
    if (this.#isCancelled) this.#connection.cancel(this.jobId)
  }

  #onAdded(): void {
    this.isAdded = true
    this.#addedAt ??= realClock.now()
  }

  /** Another program cancelled the job, or added it with a shorter limit. This call still wants it. */
  async #addAgain(error: unknown): Promise<void> {
    if (this.#isSettled) return
    const isRefused = this.#additions >= MOST_ADDITIONS
    if (isRefused || (error instanceof TaskTimeoutError && (await this.#hasOwnLimit(error)))) {
      this.#finish({ error })
      return
    }
    this.isAdded = false
    this.isActive = false
    await this.#submit()
  }

  /** Whether the failed job has the limit that this call asked for. */
  async #hasOwnLimit({ limit }: TaskTimeoutError): Promise<boolean> {
    if (limit === 'queueTimeout') return true
    const job = await this.#connection.request(({ queue }) => queue.getJob(this.jobId), this.#asker)
    const terms = (job?.opts as { lido?: JobTerms } | undefined)?.lido
    return job !== undefined && terms?.[limit] === this.#terms?.[limit]
  }

  async #onQueueTimeout(limitMs: number): Promise<void> {
    if (this.#isSettled) return
    const error = new TaskTimeoutError('queueTimeout', limitMs)
    if (this.#results === null || (this.#results.isInterrupted && !this.isActive)) return this.cancel(error)
    const grace = this.isActive ? null : realClock.after(SERVER_GRACE_MS, () => this.cancel(error), true)
    await this.#removeUnstarted({ error, countsRetries: true })
    grace?.cancel()
  }

  /** Removes the job and rejects the call, unless a host has the job. Tries it again when a host has given it back. Never rejects. */
  async #removeUnstarted(removal: Removal): Promise<void> {
    this.#removal = removal
    if (!this.#isSettled && !(await this.#isStarted(removal))) this.cancel(removal.error)
  }

  /** `false`: the job was removed before it started. */
  async #isStarted({ error, countsRetries }: Removal): Promise<boolean> {
    try {
      const opened = await this.#connection.open(this.#asker)
      if (opened === undefined) return false
      const { queue } = opened
      const job = await queue.getJob(this.jobId)
      if (job !== undefined) {
        if (job.finishedOn || (countsRetries && job.attemptsMade > 0)) return true
        if ((await job.getState()) === 'active') return true
      }
      // The job stays for the other calls that wait for it.
      if (this.#results?.isAlone(this) === false) return false
      this.#withdrawal = error
      return (await queue.remove(this.jobId)) !== 1
    } catch {
      return false
    }
  }

  /** Returns whether no other call waits for the job. */
  #finish(answer: CallAnswer, times: JobTimes | null = null): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#settings.signal?.removeEventListener('abort', this.#onAbort)
    for (const timer of this.#timers) timer.cancel()
    const isLast = this.#results?.remove(this) ?? true
    this.#done(answer, times)
    return isLast
  }
}

/** Errors by which another program may have ended a shared job. */
function mayBeOfAnotherCall(error: unknown): boolean {
  if (error instanceof TaskCancelledError) return error.reason === CANCELLED_BY_CALLER
  return error instanceof JobLostError || error instanceof TaskTimeoutError
}
