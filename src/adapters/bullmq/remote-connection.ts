// The connections of a `RemotePool`: the queue, its events, and the channel of cancellations. Opens them at the first use.
import { Queue, QueueEvents } from 'bullmq'
import { PoolClosedError } from '../../index.js'
import { realClock } from '../../kit.js'
import { CancelSender } from './control.js'
import { type Engine, whenReady } from './engine.js'
import { EngineError, isInterruption } from './remote-errors.js'
import { Results, type ValueSettings } from './results.js'

export interface Opened {
  readonly queue: Queue
  readonly results: Results
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5000
/** A cancellation is sent again while the job runs on: a host may have taken the job between two attempts. */
const CANCEL_ATTEMPTS = 6
const CLOSE_LIMIT_MS = 2000

export class RemoteConnection {
  readonly #queueName: string
  readonly #engine: Engine
  readonly #values: ValueSettings
  readonly #onError: (error: Error) => void
  #opening: Promise<Opened> | null = null
  #opened: Opened | null = null
  #parts: (Queue | QueueEvents)[] = []
  #sender: CancelSender | null = null
  #isClosed = false
  readonly #cancelling = new Set<Promise<void>>()

  constructor(queueName: string, engine: Engine, values: ValueSettings, onError: (error: Error) => void) {
    this.#queueName = queueName
    this.#engine = engine
    this.#values = values
    this.#onError = onError
  }

  /** Rejects with `EngineError` when the server refuses. The next call then tries again. */
  open(): Promise<Opened> {
    if (this.#isClosed) return Promise.reject(new PoolClosedError('destroyed'))
    if (this.#opening === null) {
      const opening = this.#open()
      this.#opening = opening
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = null
      })
    }
    return this.#opening
  }

  engineError(cause: unknown): EngineError {
    return new EngineError(this.#queueName, this.#engine.base.connection, cause)
  }

  /** Repeats a request while the connection is interrupted. Rejects with `EngineError` when the server refuses the request. */
  async request<T>(make: (opened: Opened) => Promise<T>, isWanted: () => boolean): Promise<T | undefined> {
    const opened = await this.open()
    for (let pauseMs = FIRST_PAUSE_MS; isWanted(); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await make(opened)
      } catch (error) {
        if (!isInterruption(error)) throw this.engineError(error)
        opened.results.onInterrupted()
      }
      await pause(pauseMs)
    }
    return undefined
  }

  /** Removes the job if it waits. Otherwise asks its host to cancel it. Never rejects. */
  cancel(jobId: string): void {
    const done = this.#cancel(jobId).catch(error => this.#onError(error))
    this.#cancelling.add(done)
    void done.then(() => this.#cancelling.delete(done))
  }

  /** Resolves when the connections are closed, or after two seconds. */
  async close(): Promise<void> {
    const limit = pause(CLOSE_LIMIT_MS)
    await Promise.race([Promise.allSettled(this.#cancelling), limit])
    this.#isClosed = true
    this.#opened?.results.end()
    const closing = [...this.#parts.map(part => part.close()), this.#sender?.close()]
    await Promise.race([Promise.allSettled(closing), limit])
  }

  async #open(): Promise<Opened> {
    const { base, factory } = this.#engine
    this.#parts = []
    try {
      const queue = new Queue(this.#queueName, base, factory as never)
      await this.#ready(queue)
      const events = new QueueEvents(this.#queueName, base, factory as never)
      await this.#ready(events)
      const results = new Results(this.#engine, queue, events, this.#values, this.#onError)
      const onError = (error: Error) => {
        results.onInterrupted()
        if (!this.#isClosed) this.#onError(error)
      }
      queue.on('error', onError)
      events.on('error', onError)
      this.#sender = new CancelSender(this.#queueName, this.#engine, onError)
      this.#opened = { queue, results }
      return this.#opened
    } catch (error) {
      for (const part of this.#parts.splice(0)) part.close().catch(() => {})
      throw error instanceof PoolClosedError ? error : this.engineError(error)
    }
  }

  async #ready(part: Queue | QueueEvents): Promise<void> {
    this.#parts.push(part)
    await whenReady(part, this.#engine)
    if (this.#isClosed) throw new PoolClosedError('destroyed')
  }

  async #cancel(jobId: string): Promise<void> {
    const startedAt = realClock.epochNow()
    const { queue } = await this.open()
    for (let attempt = 1; attempt <= CANCEL_ATTEMPTS && !this.#isClosed; attempt++) {
      try {
        const job = await queue.getJob(jobId)
        // A newer job may have the same id.
        if (job === undefined || job.finishedOn !== undefined || job.timestamp > startedAt) return
        if ((await queue.remove(jobId)) === 1) return
        await this.#sender!.send(jobId, job.timestamp)
      } catch (error) {
        if (!isInterruption(error)) throw error
      }
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
    }
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise(resolve => realClock.after(delayMs, resolve))
}
