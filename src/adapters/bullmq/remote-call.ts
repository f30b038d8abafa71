// One call of a `RemotePool`: from the submission of its job until its promise settles, once. Holds its signal and time limits.
import { randomUUID } from 'node:crypto'
import { PoolClosedError, TaskCancelledError, TaskTimeoutError } from '../../index.js'
import { realClock, type Timer } from '../../kit.js'
import type { JobTerms } from './job-values.js'
import type { RemoteConnection } from './remote-connection.js'
import { JobLostError } from './remote-errors.js'
import type { RunSettings } from './remote-options.js'
import type { Answer, Results, Waiter } from './results.js'

/** `null`: the call waits for a job that another call added. */
export interface JobOrder {
  readonly name: string
  readonly data: unknown
  readonly opts: object & { lido: JobTerms }
}

/** When BullMQ says that the job started and ended. */
export type JobTimes = { processedOn?: number | undefined; finishedOn?: number | undefined }

export type CallAnswer = { value: unknown } | { error: unknown }

/** Longer timers would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1
/** When the server does not answer, the queueTimeout is over without its answer. */
const SERVER_GRACE_MS = 500

export class RemoteCall implements Waiter {
  readonly jobId: string
  readonly needsJob: boolean
  readonly isOwner: boolean
  isAdded = false
  onProgress: ((value: unknown) => void) | null
  isActive = false
  readonly #connection: RemoteConnection
  readonly #order: JobOrder | null
  readonly #settings: Pick<RunSettings, 'signal' | 'deadline' | 'queueTimeout' | 'jobId'>
  readonly #done: (answer: CallAnswer, times: JobTimes | null) => void
  readonly #timers: Timer[] = []
  #results: Results | null = null
  #isSettled = false
  #isSent = false
  #isCancelled = false
  /** The error of the call if this call removes the waiting job. */
  #withdrawal: unknown = null

  constructor(
    connection: RemoteConnection,
    order: JobOrder | null,
    settings: Pick<RunSettings, 'signal' | 'deadline' | 'queueTimeout' | 'jobId' | 'onProgress'>,
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
    if ('error' in answer) {
      const isWithdrawn = this.#withdrawal !== null && answer.error instanceof JobLostError
      this.#finish(isWithdrawn ? { error: this.#withdrawal } : answer)
      return
    }
    this.#finish({ value: answer.value }, answer.job)
  }

  onActive(): void {
    this.isActive = true
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

  /** Rejects the call. The job stays in the queue. */
  abandon(reason: 'destroyed'): void {
    this.#finish({ error: new PoolClosedError(reason) })
  }

  /** Rejects the call if its job waits. Never rejects. */
  async withdraw(error: unknown): Promise<void> {
    if (this.#isSettled) return
    if (this.#order === null || this.#results === null) return this.cancel(error)
    if (!(await this.#isStarted(error))) this.cancel(error)
  }

  readonly #onAbort = () => this.cancel(new TaskCancelledError(this.#settings.signal!.reason))

  #after(delayMs: number, callback: () => void): void {
    if (delayMs <= LONGEST_DELAY_MS) this.#timers.push(realClock.after(Math.max(delayMs, 0), callback, true))
  }

  async #submit(): Promise<void> {
    const { results } = await this.#connection.open()
    if (this.#isSettled) return
    this.#results = results
    const order = this.#order
    if (order === null) {
      this.isAdded = true
      results.add(this, true)
      return
    }
    results.add(this)
    this.#isSent = true
    const opts = { ...order.opts, jobId: this.jobId }
    // The id makes it safe to send the job again.
    await this.#connection.request(
      ({ queue }) => queue.add(order.name, order.data, opts as never),
      () => !this.#isSettled,
    )
    this.isAdded = true
    results.onAdded(this)
    // The first attempt to cancel may have been earlier than the job.
    if (this.#isCancelled) this.#connection.cancel(this.jobId)
  }

  async #onQueueTimeout(limitMs: number): Promise<void> {
    if (this.#isSettled || this.isActive) return
    const error = new TaskTimeoutError('queueTimeout', limitMs)
    if (this.#results?.isInterrupted) return this.cancel(error)
    const grace = realClock.after(SERVER_GRACE_MS, () => this.cancel(error), true)
    const isStarted = this.#results !== null && (await this.#isStarted(error))
    grace.cancel()
    if (!isStarted) this.cancel(error)
  }

  /** `false`: the job was removed before it started. */
  async #isStarted(withdrawal: unknown): Promise<boolean> {
    try {
      const { queue } = await this.#connection.open()
      const job = await queue.getJob(this.jobId)
      if (job?.processedOn !== undefined) return true
      // The job stays for the other calls that wait for it.
      if (this.#results?.isAlone(this) === false) return false
      this.#withdrawal = withdrawal
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
