// `serve()`: makes this process a host that runs the jobs of a queue in a pool.
import { EventEmitter } from 'node:events'
import { type Job, Queue, type QueueEvents, Worker, type WorkerOptions } from 'bullmq'
import { InvalidOptionError, type Pool, type PoolStats } from '../../index.js'
import {
  integer,
  mayHoldOptions,
  milliseconds,
  OptionErrors,
  OptionTable,
  type RulesFor,
  realClock,
  type Timer,
  value,
  within,
} from '../../kit.js'
import { closeWorker } from './closing.js'
import { CANCELLED_BY_CALLER, CancelReceiver } from './control.js'
import { type Engine, type EngineOptions, engineOf, engineRules, whenReady } from './engine.js'
import { ExpiredResults } from './expired-results.js'
import { giveBackOf, restOfDelay } from './give-back.js'
import { type HostEvents, HostReports } from './host-events.js'
import { slowFailingFetches } from './job-writes.js'
import { NotStartedError } from './outcome.js'
import { defaultMaxMemoryMb, type Overload, OverloadWatch } from './overload.js'
import { closeUnready } from './package.js'
import { StartGate } from './prefetch.js'
import { checkPool, errorOf, JobRunner, type ProcessorOptions, processorRules } from './processor.js'
import { redisClientsOf } from './redis.js'

/** The options of `serve()`. */
export interface ServeOptions extends EngineOptions, ProcessorOptions {
  /**
   * Jobs that wait on this host beside the running ones, so that a worker need not wait for the queue between two jobs. Default `'auto'`:
   * one for each slot of the pool while jobs take less than about 50 ms, else 0. With `'auto'` the host gives waiting jobs back when all
   * slots run long jobs.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  prefetch?: number | 'auto' | undefined
  /**
   * Milliseconds that `close()` gives to the jobs of this host. Then it gives the rest back to the queue. Default 30,000.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  closeTimeout?: number | undefined
  /**
   * Milliseconds after which other hosts may take the jobs of a host that died. The host renews its locks at half of this time. Default
   * 15,000.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  lockDuration?: number | undefined
  /**
   * How often a job may lose its host before it fails. Default 3.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  maxStalledCount?: number | undefined
  /**
   * Milliseconds. While the event loop is later than this on average, the host takes no new jobs. Default 200.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  maxEventLoopDelay?: number | undefined
  /**
   * MiB. While the process uses more memory, the host takes no new jobs. Default: 90 % of what the process may use.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  maxMemoryMb?: number | undefined
  /**
   * Further options of BullMQ's class `Worker`, such as `limiter`, `metrics` or `name`.
   * @see [serve()](https://OWNER.github.io/lido/reference/bullmq.html#servequeuename-pool-options)
   */
  worker?: Partial<WorkerOptions> | undefined
}

/** The figures of a host. */
export interface HostStats {
  /** The name of the queue. */
  queue: string
  /** Whether the host takes jobs. */
  state: 'open' | 'closing' | 'closed'
  /** Why the host takes no new jobs. */
  overload: Overload | null
  /** Jobs that the host may have at once: the slots of its pool and the prefetched jobs. */
  concurrency: number
  /** Jobs that the host has now. */
  active: number
  /** Jobs that ended on this host, since it was started. */
  completed: number
  /** Attempts that failed on this host. */
  failed: number
  /** Jobs that the host gave back to the queue. */
  givenBack: number
  /** The figures of its pool. */
  pool: PoolStats
}

/** The answer to a probe. */
export interface HostHealth {
  /** `'overloaded'` takes no new jobs for now. `'disconnected'`: the server did not answer within 2 s on a connection of this host. */
  status: 'ok' | 'overloaded' | 'disconnected' | 'closing'
  /** Jobs that wait in the queue. `null` without an answer of the server. */
  waiting: number | null
  /** What the server sent last (`'an answer'` or `'a notification'`), and when, in milliseconds since 1970. `null`: nothing yet. */
  lastHeard: { what: string; at: number } | null
}

/** The result of `close()` of a host. */
export interface HostCloseReport {
  /** Jobs that were not finished, and wait in the queue again. */
  givenBack: number
}

const STALLED_INTERVAL_MS = 5000
const HEALTH_LIMIT_MS = 2000
const RECONNECT_AFTER_MS = 1000
/** BullMQ's own pause after an error of the connection is 15 s. */
const RUN_RETRY_DELAY_MS = 1000

export const serveTable = new OptionTable({
  ...engineRules,
  ...processorRules,
  prefetch: value<number | 'auto'>(
    given => given === 'auto' || (Number.isSafeInteger(given) && (given as number) >= 0),
    "'auto' or an integer from 0",
    { default: 'auto' },
  ),
  closeTimeout: milliseconds(true, { default: 30_000 }),
  lockDuration: integer(
    { min: 100 },
    {
      default: 15_000,
    },
  ),
  maxStalledCount: integer({ min: 0 }, { default: 3 }),
  maxEventLoopDelay: milliseconds(false, {
    default: 200,
  }),
  maxMemoryMb: integer({ min: 1 }, { default: undefined }),
  worker: value<Partial<WorkerOptions>>(mayHoldOptions, "an object with options of BullMQ's Worker", {
    default: {},
  }),
} satisfies RulesFor<ServeOptions>)
const errors = new OptionErrors('serve()', InvalidOptionError, {
  concurrency: "It follows the pool. Use the pool's 'maxWorkers'.",
})

/**
 * Runs the jobs of a queue in the pool, as many at once as the pool has slots. Returns at once; `ready()` waits for the connection. The
 * caller owns the pool: close the host first, then the pool. Throws `InvalidOptionError`.
 *
 * ```ts
 * const host = serve('images', pool, { engine: 'redis', connection: { host: 'queue.internal' } })
 * async function close() {
 *   await host.close()
 *   await pool.close()
 * }
 * for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, close)
 * ```
 */
export function serve(queueName: string, pool: Pool<any, any>, options: ServeOptions): ComputingHost {
  if (typeof queueName !== 'string' || queueName === '' || queueName.includes(':'))
    errors.wrong('queueName', queueName, 'a string that is not empty and has no colon')
  checkPool(pool, errors)
  if (!mayHoldOptions(options)) errors.noObject(options, "engine: 'redis', connection: { host: 'localhost' }")
  const settings = serveTable.read(options, errors)
  const { drainDelay } = settings.worker
  return new ComputingHost(
    queueName,
    pool,
    settings,
    engineOf(settings, errors, { connections: 2, drainDelay }),
  )
}

type Settings = ReturnType<typeof serveTable.read>

/** A process that runs the jobs of a queue. Made by `serve()`. */
export class ComputingHost extends EventEmitter<HostEvents> {
  readonly #queueName: string
  readonly #pool: Pool<any, any>
  readonly #settings: Settings
  readonly #engine: Engine
  readonly #runner: JobRunner
  readonly #gate: StartGate
  /** Settles when the first attempt to connect has ended. */
  readonly #firstTry: Promise<void>
  /** `null` until the server has accepted the connection. */
  #worker: Worker | null = null
  /** The parts of BullMQ that wait for the server. */
  #unready: (Worker | QueueEvents)[] = []
  #cancellations: CancelReceiver | null = null
  #expired: ExpiredResults | null = null
  readonly #watch: OverloadWatch
  /** Answers the questions of `health()`. */
  #queue: Queue | null = null
  readonly #timers = new Set<Timer>()
  #active = 0
  #completed = 0
  #failed = 0
  #givenBack = 0
  #overload: Overload | null = null
  #closing: Promise<HostCloseReport> | null = null
  #hasClosed = false
  readonly #reports: HostReports

  /** @internal Call `serve()`. */
  constructor(queueName: string, pool: Pool<any, any>, settings: Settings, engine: Engine) {
    super()
    this.#queueName = queueName
    this.#pool = pool
    this.#settings = settings
    this.#engine = engine
    this.#runner = new JobRunner(pool, settings, () => engine.now())
    this.#gate = new StartGate(pool, settings.prefetch, () => this.#setConcurrency())
    this.#reports = new HostReports(queueName, this)
    this.#firstTry = this.#connect()
    this.#firstTry.catch(error => void this.#connectAgain(error))
    const maxMemoryMb = settings.maxMemoryMb ?? defaultMaxMemoryMb()
    this.#watch = new OverloadWatch(
      { maxEventLoopDelay: settings.maxEventLoopDelay, maxMemoryMb },
      overload => this.#onTick(overload),
    )
  }

  /**
   * Resolves when the host takes jobs. Rejects when its first attempt to connect fails. The host then tries again until it is closed.
   * @see [ComputingHost](https://OWNER.github.io/lido/reference/bullmq.html#computinghost)
   */
  async ready(): Promise<void> {
    await this.#firstTry
  }

  /**
   * The figures of this host.
   * @see [ComputingHost](https://OWNER.github.io/lido/reference/bullmq.html#computinghost)
   */
  stats(): HostStats {
    return {
      queue: this.#queueName,
      state: this.#hasClosed ? 'closed' : this.#closing === null ? 'open' : 'closing',
      overload: this.#overload,
      concurrency: this.#gate.concurrency,
      active: this.#active,
      completed: this.#completed,
      failed: this.#failed,
      givenBack: this.#givenBack,
      pool: this.#pool.stats(),
    }
  }

  /**
   * Asks the server of the queue by the connection with which the host fetches jobs. Never rejects.
   * @see [ComputingHost](https://OWNER.github.io/lido/reference/bullmq.html#computinghost)
   */
  async health(): Promise<HostHealth> {
    const isClosing = this.#closing !== null
    const waiting = isClosing ? null : await this.#countWaiting()
    const { lastHeard } = this.#engine
    const open = waiting === null ? 'disconnected' : this.#overload === null ? 'ok' : 'overloaded'
    return { status: isClosing ? 'closing' : open, waiting, lastHeard }
  }

  /**
   * Takes no more jobs, and waits for the jobs that it has. After `closeTimeout` it cancels them and gives them back to the queue, without
   * using up an attempt. Never rejects. A second call returns the same promise.
   * @example
   * process.once('SIGTERM', () => host.close())
   * @see [ComputingHost](https://OWNER.github.io/lido/reference/bullmq.html#computinghost)
   */
  close(): Promise<HostCloseReport> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #setConcurrency(): void {
    if (this.#worker !== null) this.#worker.concurrency = this.#gate.concurrency
  }

  /** Why this host gives a job back at once. */
  #refusalOf(job: Job): NotStartedError | null {
    // BullMQ may fetch one more job after it was paused or closed.
    if (this.#closing !== null) return new NotStartedError('closing')
    if (this.#overload !== null) return new NotStartedError('overload')
    const restMs = restOfDelay(job, this.#engine.now())
    return restMs > 0 ? new NotStartedError('too early', restMs) : null
  }

  async #process(job: Job, token: string | undefined, signal: AbortSignal | undefined): Promise<unknown> {
    const startedAt = realClock.now()
    const durationMs = () => realClock.now() - startedAt
    this.#active++
    this.#reports.started(job)
    const gated = this.#gate.add(this.#refusalOf(job))
    let run: { durationMs: number; error?: unknown } | null = null
    try {
      if (this.#cancellations?.has(job.id!, job.timestamp))
        this.#worker!.cancelJob(job.id!, CANCELLED_BY_CALLER)
      const result = await this.#runner.process(job, token, signal, gated.start)
      this.#completed++
      run = { durationMs: durationMs() }
      return result
    } catch (error) {
      const facts = giveBackOf(error)
      if (facts === undefined) {
        this.#failed++
        run = { durationMs: durationMs(), error: errorOf(error) }
      } else {
        this.#givenBack++
        this.#reports.givenBack(job, durationMs(), facts)
      }
      throw error
    } finally {
      this.#active--
      this.#reports.ended(job, run)
      this.#gate.remove(gated, run !== null)
      this.#setConcurrency()
    }
  }

  /** Rejects when the server refuses the connection. */
  async #connect(): Promise<void> {
    const { base, factory } = this.#engine
    const { lockDuration, maxStalledCount } = this.#settings
    const options: WorkerOptions = {
      stalledInterval: Math.min(STALLED_INTERVAL_MS, lockDuration),
      runRetryDelay: RUN_RETRY_DELAY_MS,
      ...this.#settings.worker,
      ...base,
      lockDuration,
      maxStalledCount,
      concurrency: this.#gate.concurrency,
      autorun: false,
    }
    const cancellations = new CancelReceiver(
      this.#queueName,
      this.#engine,
      jobId => this.#worker?.cancelJob(jobId, CANCELLED_BY_CALLER),
      error => this.#tellError(error),
    )
    // BullMQ gives a signal only to a function with three parameters.
    const worker = new Worker(
      this.#queueName,
      (job, token, signal) => this.#process(job, token, signal),
      options,
      factory as never,
    )
    slowFailingFetches(worker)
    this.#unready = [worker, cancellations.events]
    try {
      await Promise.all([whenReady(worker, this.#engine), cancellations.ready()])
      if (this.#closing !== null) throw new Error('The host was closed before it was connected.')
    } catch (error) {
      this.#closeUnready()
      throw error
    }
    this.#unready = []
    worker.on('error', error => this.#tellError(error))
    this.#reports.follow(worker, this.#settings.lockDuration)
    worker.on('lockRenewalFailed', jobIds => {
      for (const jobId of jobIds) worker.cancelJob(jobId, 'The lock of the job was lost.')
    })
    this.#worker = worker
    this.#cancellations = cancellations
    this.#expired = new ExpiredResults(
      worker,
      () => this.#engine.now(),
      error => this.#tellError(error),
    )
    worker.run().catch(error => this.#tellError(error))
  }

  #closeUnready(): void {
    for (const part of this.#unready.splice(0)) void closeUnready(part)
  }

  /** BullMQ's own classes do not recover when the server is unreachable at their start. */
  async #connectAgain(error: unknown): Promise<void> {
    while (this.#closing === null) {
      this.#tellError(error)
      await new Promise<void>(resolve => this.#after(RECONNECT_AFTER_MS, resolve, true))
      try {
        return await this.#connect()
      } catch (failure) {
        error = failure
      }
    }
  }

  #after(delayMs: number, callback: () => void, keepsAlive = false): void {
    const timer = realClock.after(
      delayMs,
      () => {
        this.#timers.delete(timer)
        callback()
      },
      keepsAlive,
    )
    this.#timers.add(timer)
  }

  /** Follows the size of the pool, and pauses or resumes. */
  #onTick(overload: Overload | null): void {
    if (this.#closing !== null) return
    const wasOverloaded = this.#overload !== null
    this.#overload = overload
    const worker = this.#worker
    if (worker === null) return
    this.#gate.admit()
    this.#setConcurrency()
    if (overload !== null && !worker.isPaused()) {
      void worker.pause(true)
      this.#gate.giveBackHeld('overload')
    }
    if (overload === null && wasOverloaded) void worker.resume()
  }

  async #countWaiting(): Promise<number | null> {
    return await within(realClock, HEALTH_LIMIT_MS, this.#askQueue(), () => null)
  }

  /** Resolves to `null` when the server does not answer. */
  async #askQueue(): Promise<number | null> {
    const worker = this.#worker
    if (worker === null) return null
    try {
      this.#queue ??= await this.#openQueue(worker)
      return await this.#queue.getJobCountByTypes('waiting', 'prioritized')
    } catch {
      return null
    }
  }

  /** It uses the connections of the worker, because another one may live while they are dead. */
  async #openQueue(worker: Worker): Promise<Queue> {
    const { base, factory } = this.#engine
    const [client] = factory === undefined ? await redisClientsOf(worker) : []
    const connection = client ?? base.connection
    const queue = new Queue(this.#queueName, { ...base, connection }, factory as never)
    try {
      await whenReady(queue)
    } catch (error) {
      queue.close().catch(() => {})
      throw error
    }
    queue.on('error', error => this.#tellError(error))
    return queue
  }

  async #close(): Promise<HostCloseReport> {
    this.#watch.end()
    this.#gate.end()
    this.#expired?.end()
    this.#closeUnready()
    const before = this.#givenBack
    let restMs = 0
    if (this.#worker !== null) {
      // BullMQ takes no more jobs from now on, and waits for the active jobs.
      const closing = closeWorker(this.#worker, this.#settings.closeTimeout, this.#active > 0)
      this.#gate.giveBackHeld('closing')
      restMs = await closing
    }
    const others = [this.#cancellations?.close(), this.#queue?.close()]
    await within(realClock, restMs, Promise.allSettled(others), () => [])
    await this.#engine.close()
    for (const timer of this.#timers) timer.cancel()
    this.#hasClosed = true
    this.emit('close')
    return { givenBack: this.#givenBack - before }
  }

  #tellError(error: unknown): void {
    this.#reports.error(error)
  }
}
