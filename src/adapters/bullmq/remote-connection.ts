// The connections of a `RemotePool`: the queue, its events, and the channel of cancellations. Opens them at the first use.
import { randomUUID } from 'node:crypto'
import { Queue, QueueEvents } from 'bullmq'
import { PoolClosedError } from '../../index.js'
import { realClock, within } from '../../kit.js'
import { CancelSender, onCancelledJob } from './control.js'
import { type Engine, whenReady } from './engine.js'
import { type JobOrder, optionsAt } from './job-order.js'
import type { JobTerms } from './job-values.js'
import { closeUnready } from './package.js'
import { EngineError, isInterruption } from './remote-errors.js'
import { Results, type ValueSettings } from './results.js'

export interface Opened {
  readonly queue: Queue
  readonly results: Results
  readonly sender: CancelSender
}

export interface ConnectionListener {
  onError(error: Error): void
  /** Somebody cancelled the job for all its callers. */
  onCancelled(jobId: string): void
}

type RequestKind = 'read' | 'write'

/** Who waits for a request. */
export interface Asker {
  isWanted(): boolean
  /** It has limits of its own, so that `connectTimeout` does not count. */
  readonly hasLimits?: boolean
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
  readonly #connectTimeout: number
  readonly #listener: ConnectionListener
  #opening: Promise<Opened> | null = null
  #opened: Opened | null = null
  #parts: (Queue | QueueEvents)[] = []
  #isClosed = false
  readonly #cancelling = new Set<Promise<void>>()
  readonly #removing = new Map<string, Promise<void>>()
  /** What the server has accepted from this object. A server may accept reads only. */
  readonly #accepted = new Set<RequestKind>()

  /** @param connectTimeout how long a call without limits of its own waits for the first connection */
  constructor(
    queueName: string,
    engine: Engine,
    values: ValueSettings,
    connectTimeout: number,
    listener: ConnectionListener,
  ) {
    this.#queueName = queueName
    this.#engine = engine
    this.#values = values
    this.#connectTimeout = connectTimeout
    this.#listener = listener
  }

  get engine(): Engine {
    return this.#engine
  }

  engineError(cause: unknown): EngineError {
    return new EngineError(this.#queueName, this.#engine.base.connection, cause)
  }

  /** Connects. Resolves and rejects as `request()`. */
  async open(asker: Asker): Promise<Opened | undefined> {
    if (this.#opened !== null && !this.#isClosed) return this.#opened
    return await this.#repeat(async opened => opened, asker, 'read')
  }

  /**
   * Connects, makes the request, and repeats both while the server may come back. Resolves to `undefined` when the request is no longer
   * wanted. Rejects with `EngineError` when the server refuses. If the server never accepted a request of this kind before, it also rejects
   * after `connectTimeout`.
   */
  async request<T>(
    make: (opened: Opened) => Promise<T>,
    asker: Asker,
    kind: RequestKind = 'read',
  ): Promise<T | undefined> {
    return await this.#repeat(
      async opened => {
        const answer = await make(opened)
        this.#accepted.add(kind)
        return answer
      },
      asker,
      kind,
    )
  }

  /**
   * Adds the job, and resolves to its terms. If the queue has a job with its id, nothing happens. The id makes it safe to repeat the
   * request.
   */
  async add(order: JobOrder, jobId: string, asker: Asker): Promise<JobTerms | undefined> {
    return await this.request(
      async ({ queue }) => {
        const opts = optionsAt(order, jobId, this.#engine)
        await queue.add(order.name, order.data, opts as never)
        return opts.lido
      },
      asker,
      'write',
    )
  }

  /** Adds a job that no call waits for, and resolves to its id. Rejects with `PoolClosedError` when it is no longer wanted. */
  async addNew(order: JobOrder, given: string | undefined, isWanted: () => boolean): Promise<string> {
    const asker = { isWanted, hasLimits: order.deadline !== undefined }
    const jobId = given ?? randomUUID()
    if ((await this.open(asker)) !== undefined) {
      if (given !== undefined) await this.removeFailed(jobId)
      if ((await this.add(order, jobId, asker)) !== undefined) return jobId
    }
    throw new PoolClosedError('destroyed')
  }

  /** Removes the job with this id if it has failed, so that it can be added again. Calls with the same id share one removal. */
  removeFailed(jobId: string): Promise<void> {
    let removing = this.#removing.get(jobId)
    if (removing === undefined) {
      const request = this.request(
        async ({ queue }) => {
          if ((await queue.getJobState(jobId)) === 'failed') await queue.remove(jobId)
        },
        { isWanted: () => !this.#isClosed },
      )
      removing = request.finally(() => this.#removing.delete(jobId))
      this.#removing.set(jobId, removing)
    }
    return removing
  }

  /** Removes the job if it waits. Otherwise asks its host to cancel it. Never rejects. */
  cancel(jobId: string): void {
    const done = this.#cancel(jobId).catch(error => this.#listener.onError(error))
    this.#cancelling.add(done)
    void done.then(() => this.#cancelling.delete(done))
  }

  /** As `cancel()`, and tells the callers of all programs. Resolves to `false` when the queue has no unfinished job with this id. */
  async cancelForAll(jobId: string, asker: Asker): Promise<boolean | undefined> {
    const found = await this.request(async ({ queue, sender }) => {
      const job = await queue.getJob(jobId)
      if (job === undefined || job.finishedOn) return 'nothing'
      // Before the removal: a caller that saw only the removal would add the job again.
      await sender.tellCallers(queue, jobId)
      const isRemoved = await removeUnlessStarted(queue, jobId)
      if (!isRemoved) await sender.tellHosts(queue, jobId, job.timestamp)
      // A reader of events may miss one.
      await sender.tellCallers(queue, jobId)
      return isRemoved ? 'removed' : 'asked'
    }, asker)
    if (found === undefined) return undefined
    if (found === 'asked') this.cancel(jobId)
    return found !== 'nothing'
  }

  /** Resolves when the connections are closed, or after two seconds. */
  async close(): Promise<void> {
    const limit = pause(CLOSE_LIMIT_MS)
    await Promise.race([Promise.allSettled(this.#cancelling), limit])
    this.#isClosed = true
    this.#opened?.results.end()
    const isReady = this.#opened !== null
    const parts = this.#parts.map(part => (isReady ? part.close() : closeUnready(part)))
    const closing = [...parts, this.#opened?.sender.close()]
    await Promise.race([Promise.allSettled(closing), limit])
    await this.#engine.close()
  }

  async #repeat<T>(
    make: (opened: Opened) => Promise<T>,
    { isWanted, hasLimits = false }: Asker,
    kind: RequestKind,
  ): Promise<T | undefined> {
    const endAt = hasLimits ? Number.POSITIVE_INFINITY : realClock.now() + this.#connectTimeout
    for (let pauseMs = FIRST_PAUSE_MS; isWanted(); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const limitMs = this.#accepted.has(kind) ? Number.POSITIVE_INFINITY : endAt - realClock.now()
        return await within(
          realClock,
          Math.max(limitMs, FIRST_PAUSE_MS),
          this.#connected().then(make),
          () => {
            throw this.engineError(new Error(`it did not answer within ${this.#connectTimeout} ms`))
          },
        )
      } catch (error) {
        const isEnd = !this.#accepted.has(kind) && realClock.now() >= endAt
        if (error instanceof PoolClosedError) throw error
        const cause = error instanceof EngineError ? error.cause : error
        if (isEnd || !isInterruption(cause)) throw this.engineError(cause)
        this.#onInterrupted(cause as Error)
      }
      const leftMs = this.#accepted.has(kind) ? pauseMs : Math.max(endAt - realClock.now(), 0)
      await pause(Math.min(pauseMs, leftMs), true)
    }
    return undefined
  }

  async #connected(): Promise<Opened> {
    return this.#opened !== null && !this.#isClosed ? this.#opened : await this.#attempt()
  }

  #onInterrupted(error: Error): void {
    const results = this.#opened?.results
    if (results === undefined || results.isInterrupted) return
    results.onInterrupted()
    this.#listener.onError(error)
  }

  /** Calls that wait for the connection share one attempt. */
  #attempt(): Promise<Opened> {
    if (this.#isClosed) return Promise.reject(new PoolClosedError('destroyed'))
    if (this.#opening === null) {
      const opening = this.#open()
      this.#opening = opening
      opening.catch(error => {
        if (this.#opening === opening) this.#opening = null
        if (error instanceof EngineError && isInterruption(error.cause))
          this.#listener.onError(error.cause as Error)
      })
    }
    return this.#opening
  }

  async #open(): Promise<Opened> {
    const { base, factory } = this.#engine
    this.#parts = []
    try {
      const queue = new Queue(this.#queueName, base, factory as never)
      await this.#ready(queue)
      const events = new QueueEvents(this.#queueName, base, factory as never)
      await this.#ready(events)
      const results = new Results(this.#engine, queue, events, this.#values, error =>
        this.#listener.onError(error),
      )
      const onError = (error: Error) => {
        results.onInterrupted()
        if (!this.#isClosed) this.#listener.onError(error)
      }
      queue.on('error', onError)
      events.on('error', onError)
      onCancelledJob(events, jobId => this.#listener.onCancelled(jobId))
      this.#opened = { queue, results, sender: new CancelSender(this.#engine, onError) }
      return this.#opened
    } catch (error) {
      for (const part of this.#parts.splice(0)) void closeUnready(part)
      throw error instanceof PoolClosedError ? error : this.engineError(error)
    }
  }

  async #ready(part: Queue | QueueEvents): Promise<void> {
    this.#parts.push(part)
    await whenReady(part, this.#engine)
    if (this.#isClosed) throw new PoolClosedError('destroyed')
  }

  async #cancel(jobId: string): Promise<void> {
    if (this.#opened === null) return
    const { queue, sender } = this.#opened
    let addedAt: number | null = null
    for (let attempt = 1; attempt <= CANCEL_ATTEMPTS && !this.#isClosed; attempt++) {
      try {
        const job = await queue.getJob(jobId)
        if (job === undefined || job.finishedOn) return
        addedAt ??= job.timestamp
        // A newer job has the same id.
        if (job.timestamp !== addedAt) return
        if (await removeUnlessStarted(queue, jobId)) return
        await sender.tellHosts(queue, jobId, addedAt)
      } catch (error) {
        if (!isInterruption(error)) throw error
      }
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
    }
  }
}

/** `remove()` must not remove a job in one of these states. Callers of an ended job still ask for its result. */
const keptStates: ReadonlySet<string> = new Set(['active', 'completed', 'failed'])

async function removeUnlessStarted(queue: Queue, jobId: string): Promise<boolean> {
  return !keptStates.has(await queue.getJobState(jobId)) && (await queue.remove(jobId)) === 1
}

function pause(delayMs: number, keepsAlive = false): Promise<void> {
  return new Promise(resolve => realClock.after(delayMs, resolve, keepsAlive))
}
