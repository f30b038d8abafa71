// `RemotePool`: the front of a pool on many machines. Its calls become jobs of a BullMQ queue, which computing hosts run.
import { EventEmitter } from 'node:events'
import {
  type AcceptedPayload,
  type CheckedName,
  type Chosen,
  type CloseOptions,
  type CloseReport,
  type CommonStats,
  type DefaultName,
  type HandlerName,
  type MapSource,
  type PoolApi,
  PoolClosedError,
  type PoolLike,
  type PoolMap,
  type PoolState,
  QueueFullError,
  type ResultOf,
  type RoomOptions,
  type RunArguments,
  TaskCancelledError,
  TaskTimeoutError,
} from '../../index.js'
import type { ErrorClasses } from '../../kit.js'
import { checkSource, createApi, Problems, realClock, resolveClose, resolveRoom, within } from '../../kit.js'
import { encodedCarrier } from './carrier.js'
import { engineOf } from './engine.js'
import { HostWatch } from './host-watch.js'
import { type JobOrder, orderOf, type Payload } from './job-order.js'
import { OpenCalls } from './open-calls.js'
import { countsOf, type QueueCounts } from './queue-counts.js'
import { type CallAnswer, type CallSettings, type JobTimes, RemoteCall } from './remote-call.js'
import { RemoteConnection } from './remote-connection.js'
import { remoteClasses, unsupported } from './remote-errors.js'
import { createRemoteMap } from './remote-map.js'
import {
  backoffMs,
  cancelErrors,
  constructorErrors,
  type EnqueueOptions,
  type RemoteCallOptions,
  type RemoteMapOptions,
  type RemotePoolOptions,
  type RemoteRunOptions,
  type RunSettings,
  resolveEnqueue,
  resolveMap,
  resolvePool,
  resolveResult,
  resolveRun,
  resolveWith,
  resultErrors,
} from './remote-options.js'

/** The events of a `RemotePool` with their arguments. */
export interface RemotePoolEvents {
  /**
   * The connection failed, or the first one cannot be opened yet. It is opened again, and calls go on. Without a listener, the process
   * gets one warning.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  error: [error: unknown]
  /**
   * All calls have settled.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  drain: []
  /**
   * The pool is closed.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  close: []
}

type Done = (answer: CallAnswer, times: JobTimes | null) => void

/**
 * Runs the functions of a module on other machines, by jobs of a BullMQ queue. Hosts run the jobs with `serve()` or `processor()`.
 *
 * ```ts
 * const pool = new RemotePool('images', { engine: 'postgres', connection })
 * const result = await pool.run(payload)
 * await pool.close()
 * ```
 *
 * Opens its connections at the first call. They keep the process alive until `close()` or `destroy()`.
 */
export class RemotePool<Module = any, Default extends HandlerName<Module> = DefaultName<Module>>
  extends EventEmitter<RemotePoolEvents>
  implements PoolLike<Module, Default>
{
  readonly #queueName: string
  readonly #options: ReturnType<typeof resolvePool>
  readonly #classes: ErrorClasses
  readonly #connection: RemoteConnection
  readonly #createdAt = realClock.now()
  readonly #calls: OpenCalls
  readonly #hostWatch: HostWatch
  #state: PoolState = 'open'
  #api: PoolApi<Module> | null = null
  #closing: Promise<CloseReport> | null = null
  #cutOff = 0
  readonly #problems = new Problems(this, error => {
    process.emitWarning(
      `${this.#connection.engineError(error).message} The pool connects again. Add a listener for 'error' to see further errors.`,
      { code: 'ERR_LIDO_ENGINE' },
    )
  })

  /** Throws `InvalidOptionError`. Does not connect. */
  constructor(queueName: string, options: RemotePoolOptions) {
    super()
    if (typeof queueName !== 'string' || queueName === '' || queueName.includes(':')) {
      constructorErrors.wrong('queueName', queueName, 'a string that is not empty and has no colon')
    }
    this.#queueName = queueName
    this.#options = resolvePool(options)
    this.#classes = remoteClasses(this.#options.errorClasses)
    this.#connection = new RemoteConnection(
      queueName,
      engineOf(this.#options, constructorErrors, { connections: 1, repeatsCommands: false }),
      { classes: this.#classes, maxValueBytes: this.#options.maxValueBytes },
      this.#options.connectTimeout,
      {
        onError: error => this.#tellError(error),
        onCancelled: jobId => this.#onCancelled(jobId),
      },
    )
    this.#calls = new OpenCalls(this.#options.maxQueue, () => this.emit('drain'))
    this.#hostWatch = new HostWatch(queueName, this.#connection, this.#calls)
  }

  /**
   * Runs the handler with the payload on one of the computing hosts. Resolves with its result. A job may run more than once, when
   * its host dies.
   *
   * Never throws. Rejects with the handler's own error, with the errors of a local pool about the worker, and with:
   * - `InvalidTaskError`: an option of the call is wrong, or the payload is moved
   * - `NotCloneableError`, `ValueTooLargeError`: the payload or the result cannot be sent
   * - `QueueFullError`: this pool has `maxQueue` unfinished jobs
   * - `PoolClosedError`: the pool is closing or closed, or was destroyed before the job finished
   * - `TaskCancelledError`: `signal` was aborted, or a program called `cancel()` with the id of the job
   * - `TaskTimeoutError`: `timeout`, `queueTimeout` or `deadline` is over
   * - `EngineError`: the server refuses the connection or a request, or cannot be reached for `connectTimeout` at the first use
   * - `JobFailedError`: the job failed without details, for example because it stalled too often
   * - `JobLostError`: the job or its result is no longer in the queue
   * @example
   * const small = await pool.run(bytes, { name: 'resize', timeout: 60_000 })
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  run<Name extends string | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, RemoteRunOptions>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>>
  async run(payload?: unknown, options?: RemoteRunOptions): Promise<unknown> {
    return await this.#run({ value: payload }, resolveRun(options))
  }

  /**
   * The functions of the module, each with its own parameters. A call rejects as `run()` does.
   * @example
   * const small = await pool.api.resize(bytes, { width: 200 })
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  get api(): PoolApi<Module> {
    this.#api ??= this.#createApi(resolveWith(undefined))
    return this.#api
  }

  /**
   * The same functions, called with these options. Throws `InvalidTaskError`.
   * @example
   * const small = await pool.with({ priority: 1 }).api.resize(bytes, { width: 200 })
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  with(options: RemoteCallOptions): { readonly api: PoolApi<Module> } {
    return { api: this.#createApi(resolveWith(options)) }
  }

  /**
   * Adds a job and does not wait for its result. Resolves to the id of the job when the server has it. `result()` waits for the
   * result. Rejects as `run()` does.
   * @example
   * const jobId = await pool.enqueue(order, { name: 'invoice', jobId: `invoice-${order.id}` })
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  enqueue<Name extends string | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, EnqueueOptions>
  ): Promise<string>
  async enqueue(payload?: unknown, options?: EnqueueOptions): Promise<string> {
    const settings = resolveEnqueue(options)
    const order = this.#orderOf({ value: payload }, settings)
    this.#checkCall(settings)
    const { deadline = Number.POSITIVE_INFINITY } = order
    const limitMs = deadline - realClock.epochNow()
    let isLate = false
    const adding = this.#connection.addNew(order, settings.jobId, () => !isLate && this.#isOpen())
    adding.catch(() => {})
    return await within(realClock, limitMs, adding, () => {
      isLate = true
      throw new TaskTimeoutError('deadline', Math.round(limitMs))
    })
  }

  /**
   * Cancels a job, which any program may have added. A job that waits is removed from the queue. A job that runs is cancelled on its host,
   * and does not run again. All calls that wait for it reject with `TaskCancelledError`, in all programs. Resolves to `false` when the queue
   * has no such job, or the job has finished. Rejects with `EngineError`, `InvalidTaskError` and `PoolClosedError`.
   * @example
   * await pool.cancel('invoice-42')
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  async cancel(jobId: string): Promise<boolean> {
    if (typeof jobId !== 'string' || jobId === '') cancelErrors.wrong('jobId', jobId, 'the id of a job')
    this.#checkCall({ signal: undefined, deadline: undefined })
    const isCancelled = await this.#connection.cancelForAll(jobId, { isWanted: this.#isOpen })
    if (isCancelled === undefined) throw new PoolClosedError('destroyed')
    if (isCancelled) this.#onCancelled(jobId)
    return isCancelled
  }

  /**
   * Waits for the result of a job, which any program may have added. Rejects as `run()` does. Aborting `signal` ends the wait, and
   * does not cancel the job.
   * @example
   * const invoice = await pool.result('invoice-42')
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  async result(jobId: string, options?: RoomOptions): Promise<any> {
    if (typeof jobId !== 'string' || jobId === '') resultErrors.wrong('jobId', jobId, 'the id of a job')
    const signal = resolveResult(options)
    this.#checkCall({ signal, deadline: undefined })
    const settings = { jobId, signal, deadline: undefined, queueTimeout: undefined, onProgress: undefined }
    return await new Promise((resolve, reject) => {
      const settle: Done = answer => ('error' in answer ? reject(answer.error) : resolve(answer.value))
      this.#start(null, settings, settle)
    })
  }

  /**
   * Runs the handler for each item of the input, and gives the results as an async iterable. Small items share a job (`itemsPerJob`).
   * At most 32 jobs of the map are in the queue, however long the input. Ending the map cancels its jobs.
   *
   * Throws `InvalidTaskError`. The iteration rejects as that of `Pool.map()`, and with the errors of `run()`.
   * @example
   * for await (const small of pool.map(images, { name: 'resize' })) await save(small)
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  map<Name extends string | undefined = Default, Replacement = never>(
    source: MapSource<AcceptedPayload<Module, Name, Default>>,
    options?: RemoteMapOptions<AcceptedPayload<Module, Name, Default>, Replacement> & {
      name?: CheckedName<Module, Name>
    },
  ): PoolMap<ResultOf<Module, Chosen<Name, Default>> | Awaited<Replacement>> {
    checkSource(source)
    const settings = resolveMap(options)
    // The jobs come later, and in other contexts.
    const carrier = encodedCarrier(this.#options.maxValueBytes)
    return createRemoteMap(source, settings, {
      maxValueBytes: this.#options.maxValueBytes,
      attempts: settings.attempts ?? this.#options.attempts,
      classes: this.#classes,
      room: () => this.room(),
      submit: (data, { isPacked, needsTimes, failures }, onProgress, done) => {
        const hasLimits = settings.signal !== undefined
        const delay =
          failures === 0 ? settings.delay : backoffMs(settings.backoff ?? this.#options.backoff, failures)
        const call = { ...settings, delay, signal: undefined, onProgress, jobId: undefined, hasLimits }
        this.#checkCall(call)
        const order = orderOf(
          { value: data, kind: isPacked ? 'items' : 'item' },
          call,
          this.#options,
          carrier,
        )
        return this.#start(order, call, done, needsTimes)
      },
    })
  }

  /**
   * Resolves when this pool has fewer than `maxQueue` unfinished jobs. Callers are served in order. Call `run()` in the same turn of
   * the event loop. Rejects with `PoolClosedError`, `TaskCancelledError` and `InvalidTaskError`.
   * @example
   * await pool.room()
   * void pool.run(job).then(save)
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  async room(options?: RoomOptions): Promise<void> {
    const signal = resolveRoom(options)
    this.#checkCall({ signal, deadline: undefined })
    await this.#calls.room(signal)
  }

  /**
   * A plain snapshot of what this object knows. `counts()` asks the server.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  stats(): CommonStats {
    const size = this.#calls.size
    const inFlight = [...this.#calls].filter(({ isActive }) => isActive).length
    return {
      label: this.#queueName,
      state: this.#state,
      durationMs: realClock.now() - this.#createdAt,
      tasks: { ...this.#calls.counts, waiting: size - inFlight, inFlight },
      queue: { size, limit: this.#options.maxQueue, needsDrain: this.#calls.isFull },
    }
  }

  /**
   * Asks the server for the jobs in the queue, of all programs. `waiting` and `running` are the numbers for an autoscaler. On Redis,
   * `oldestWaitingMs` looks at the first 200 jobs of each list. Rejects with `EngineError`.
   * @example
   * const { waiting, running } = await pool.counts()
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  async counts(): Promise<QueueCounts> {
    this.#checkCall({ signal: undefined, deadline: undefined })
    const counts = await this.#connection.request(opened => countsOf(opened, this.#connection.engine), {
      isWanted: this.#isOpen,
    })
    if (counts === undefined) throw new PoolClosedError('destroyed')
    return counts
  }

  /**
   * Refuses new calls, waits for the unfinished ones, and closes the connections. With `force`, jobs that wait are removed and their
   * calls reject with `PoolClosedError`. Jobs of `enqueue()` stay. Calling it again is no error.
   * @example
   * process.once('SIGTERM', () => pool.close())
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    const { force } = resolveClose(options)
    this.#end()
    if (force) await this.#withdrawWaiting()
    this.#closing ??= this.#finish()
    return await this.#closing
  }

  /**
   * Rejects all calls with `PoolClosedError` and closes the connections. The jobs stay in the queue. Never rejects.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  async destroy(): Promise<void> {
    this.#end()
    for (const call of this.#calls) {
      this.#cutOff++
      call.abandon('destroyed')
    }
    this.#closing ??= this.#finish()
    await this.#closing
  }

  /** Calls `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /**
   * Throws `InvalidTaskError`: a queue carries no streams.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  stream(): never {
    return unsupported('stream')
  }

  /**
   * Throws `InvalidTaskError`: a queue carries no streams.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  transform(): never {
    return unsupported('transform')
  }

  /**
   * Throws `InvalidTaskError`: this program does not know the workers of the hosts.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  broadcast(): never {
    return unsupported('broadcast')
  }

  /**
   * Throws `InvalidTaskError`: machines share no memory.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  share(): never {
    return unsupported('share')
  }

  #createApi(settings: RunSettings): PoolApi<Module> {
    return createApi(name => async (...args) => {
      return await this.#run({ value: args, kind: 'args' }, { ...settings, name })
    }) as PoolApi<Module>
  }

  async #run(payload: Payload, settings: RunSettings): Promise<unknown> {
    this.#checkCall(settings)
    const order = this.#orderOf(payload, settings)
    if (this.#calls.isFull) throw new QueueFullError(this.#options.maxQueue)
    return await new Promise((resolve, reject) => {
      this.#start(order, settings, answer =>
        'error' in answer ? reject(answer.error) : resolve(answer.value),
      )
    })
  }

  /** Call it in the async context of the caller. */
  #orderOf(payload: Payload, settings: Parameters<typeof orderOf>[1]): JobOrder {
    return orderOf(payload, settings, this.#options, encodedCarrier(this.#options.maxValueBytes))
  }

  /** Throws the error with which the pool refuses the call. */
  #checkCall({ signal, deadline }: Pick<RunSettings, 'signal' | 'deadline'>): void {
    if (this.#state !== 'open') throw new PoolClosedError('closed')
    if (signal?.aborted) throw new TaskCancelledError(signal.reason)
    if (deadline !== undefined && Number(deadline) <= realClock.epochNow()) {
      throw new TaskTimeoutError('deadline', 0)
    }
  }

  readonly #isOpen = () => this.#state !== 'closed'

  #start(order: JobOrder | null, settings: CallSettings, done: Done, needsJob = false): RemoteCall {
    const call: RemoteCall = new RemoteCall(
      this.#connection,
      order,
      settings,
      (answer, times) => {
        this.#calls.delete(call, answer)
        done(answer, times)
        this.#calls.onLeft()
      },
      needsJob,
    )
    this.#calls.add(call)
    call.start()
    this.#hostWatch.start()
    return call
  }

  #onCancelled(jobId: string): void {
    for (const call of this.#calls) if (call.jobId === jobId) call.onCancelled()
  }

  #end(): void {
    if (this.#state === 'open') this.#state = 'closing'
    this.#calls.refuse()
  }

  async #withdrawWaiting(): Promise<void> {
    const withdrawn = [...this.#calls].map(async call => {
      await call.withdraw(new PoolClosedError('forced'))
      if (call.isSettled) this.#cutOff++
    })
    await Promise.all(withdrawn)
  }

  async #finish(): Promise<CloseReport> {
    await this.#calls.idle()
    this.#hostWatch.end()
    await this.#connection.close()
    this.#state = 'closed'
    queueMicrotask(() => this.emit('close'))
    return { cutOff: this.#cutOff, timedOut: false }
  }

  #tellError(error: Error): void {
    queueMicrotask(() => this.#problems.tell(error))
  }
}
