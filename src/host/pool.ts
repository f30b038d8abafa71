// The public class. Accepts calls, emits events, and closes the pool. Other classes do the rest.

import type { Readable } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import type {
  BroadcastOptions,
  CallOptions,
  CloseOptions,
  CloseReport,
  MapOptions,
  MapSource,
  RoomOptions,
  RunOptions,
  StreamOptions,
  TransformOptions,
} from '../api/call-options.js'
import type { PoolHistogram } from '../api/durations.js'
import type { Emitter, PoolEvents } from '../api/events.js'
import type {
  Chosen,
  ChunkOf,
  DefaultName,
  HandlerName,
  PayloadOf,
  PoolApi,
  ResultOf,
  RunArguments,
} from '../api/handler-types.js'
import type { PoolLike } from '../api/pool-like.js'
import type { PoolOptions, PoolSettings, ResizeOptions } from '../api/pool-options.js'
import type { PoolMap, PoolStream, PoolTransform, SharedValue } from '../api/results.js'
import type { PoolStats } from '../api/stats.js'
import type { WorkerView } from '../api/worker-view.js'
import {
  PoolClosedError,
  type PoolError,
  type PublicFunction,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
  withCallerFrames,
} from '../shared/errors/pool-errors.js'
import { AsyncContext, lastingContext, withoutCaller } from '../shared/platform/async-context.js'
import { type Clock, realClock } from '../shared/platform/clock.js'
import { EventEmitter } from '../shared/platform/host-node-modules.js'
import { inMicrotask } from '../shared/platform/microtask.js'
import type { Backend } from './backend/backend.js'
import { ApiPromise, createApi } from './calls/api.js'
import { gatherResults, resolveBroadcast } from './calls/broadcast.js'
import {
  callOf,
  plainTerms,
  type ReadRunOptions,
  resolveClose,
  resolveRoom,
  resolveRun,
  resolveWith,
  termsOfFunction,
} from './calls/call-options.js'
import { callerFile, callerPlace, forCaller, withCallerStack } from './calls/caller-stack.js'
import { MapRun } from './calls/map.js'
import { checkSource, resolveMap } from './calls/map-options.js'
import { share } from './calls/share.js'
import { StreamTask } from './calls/stream.js'
import { DEFAULT_WINDOW, resolveStream, resolveTransform } from './calls/stream-options.js'
import { Transform } from './calls/transform.js'
import { BackPressure, type BackPressureListener } from './engine/back-pressure.js'
import { backendOf } from './engine/backend-of.js'
import type { ShutdownParts } from './engine/close.js'
import { type CoreEvents, createCore } from './engine/core.js'
import { Figures } from './engine/figures.js'
import { KeepAlive } from './engine/keep-alive.js'
import { forgetPlace, shutDown, unwatchPool, watchPool } from './engine/open-pools.js'
import type { PoolEnd, PoolLife } from './engine/pool-life.js'
import { PoolRef } from './engine/pool-ref.js'
import { reportDeath } from './engine/report-death.js'
import { durationStats, EndedWorkers, workerStats } from './engine/stats.js'
import type { HandlerRegistry } from './lane/handler-registry.js'
import type { Lender, LentSlots } from './lane/lent-slots.js'
import { closeMoved, type Payloads } from './lane/payloads.js'
import { type SharedValues, startingAhead } from './lane/shared-values.js'
import { Counters, type Outcome } from './metrics/counters.js'
import { HandlerMetrics } from './metrics/handler-metrics.js'
import { PerformanceWarnings } from './metrics/performance-warnings.js'
import { Timings } from './metrics/timings.js'
import { type CoreSettings, resolveOptions, resolveResize } from './options/settings.js'
import { transportOf, transportReason } from './options/transport.js'
import type { Scheduler } from './scheduler/scheduler.js'
import type { Call, CallTerms } from './task/call.js'
import type { Cancellation } from './task/cancellation.js'
import type { Settler } from './task/settle.js'
import type { CancelTask, OpenStream, PostToTask, StreamEnd } from './task/stream-end.js'
import { nextTaskId, Task } from './task/task.js'
import { refusedStart } from './workers/exit-reason.js'
import type { KeptBroadcasts } from './workers/kept-broadcasts.js'
import { WorkerOutput } from './workers/output.js'
import type { WorkerGroup } from './workers/worker-group.js'

/** Its type names no type of Node, so that programs without `@types/node` get types for events. */
const PoolEmitter = EventEmitter as unknown as new () => Emitter<PoolEvents>

interface OpenedEnd extends StreamEnd {
  onOpened(post: PostToTask, cancel: CancelTask): StreamEnd
}

/** @internal Tests of the host pass stand-ins for threads and time. */
export interface PoolParts {
  clock: Clock
  /** Default: the backend that the option names. */
  backend?: Backend
  /** Default: `DECODE_SLICE_MS`. */
  decodeSliceMs?: number
}

/**
 * Runs the functions of a module in workers.
 *
 * ```ts
 * const pool = new Pool<typeof import('./work.js')>({ filename: new URL('./work.js', import.meta.url) })
 * const result = await pool.run(payload)
 * await pool.close()
 * ```
 *
 * `Module` is the type of the handlers' module: it gives the types of payloads and results. `Default` is the name of the export
 * that calls without a `name` run. Give it when the pool's option `name` is not `'default'`.
 */
export class Pool<Module = any, Default extends HandlerName<Module> = DefaultName<Module>>
  extends PoolEmitter
  implements PoolLike<Module, Default>
{
  readonly #settings: CoreSettings
  #options: PoolSettings
  /** Event listeners run in this async context. */
  readonly #context = lastingContext('lido.Pool')
  readonly #plainTerms: CallTerms | null
  readonly #clock: Clock
  readonly #counters = new Counters()
  readonly #timings: Timings | null
  readonly #figures: Figures
  readonly #shared: SharedValues
  readonly #payloads: Payloads
  readonly #lent: LentSlots
  readonly #settler: Settler
  readonly #cancellation: Cancellation
  readonly #group: WorkerGroup
  readonly #scheduler: Scheduler
  readonly #handlers: HandlerRegistry
  readonly #broadcasts: KeptBroadcasts
  readonly #backPressure: BackPressure
  readonly #keepAlive: KeepAlive
  readonly #life: PoolLife = { state: 'open', end: null }
  readonly #shutdownParts: ShutdownParts
  readonly #withCallerStack: boolean
  #api: PoolApi<Module> | null = null
  readonly #ended = new EndedWorkers()
  readonly #output: WorkerOutput | null
  #lastTaskId = 0

  /**
   * Starts `minWorkers` workers. Throws `InvalidOptionError` for an option that is unknown, wrong or contradicts another one, and
   * `WorkerStartError` when the system refuses to start a worker.
   */
  constructor(options?: PoolOptions)
  /** @internal */
  constructor(options?: PoolOptions, parts?: PoolParts)
  constructor(options?: PoolOptions, parts: PoolParts = { clock: realClock }) {
    super()
    const { clock, backend: given, decodeSliceMs }: PoolParts = Object.assign(Object.create(null), parts)
    const settings = forCaller(Pool, () => resolveOptions(options, () => callerFile(new.target)))
    const backend = given ?? backendOf(settings)
    if (settings.size.minWorkers > 0 && settings.adaptStart === null)
      forCaller(Pool, () => startAhead(backend, settings))
    this.#settings = settings
    this.#options = settings.options
    this.#plainTerms = plainTerms(settings)
    this.#withCallerStack = settings.callerStack
    this.#clock = clock
    this.#output = settings.options.output === 'pipe' ? new WorkerOutput() : null
    const ref = new PoolRef<Pool>(this as unknown as Pool)
    this.#keepAlive = new KeepAlive(clock, ref, this.#counters, this.#life)
    this.#timings = settings.recordTiming ? new Timings() : null
    const warnings = settings.performanceWarnings
      ? new PerformanceWarnings(settings.label, settings.concurrentTasksPerWorker)
      : null
    const handlerMetrics = settings.recordTiming ? new HandlerMetrics(warnings) : null
    const { handlers, posted, shared, payloads, settler, cancellation, group, scheduler, broadcasts } =
      createCore({
        settings,
        backend,
        clock,
        timings: this.#timings,
        handlerMetrics,
        decodeSliceMs,
        events: Pool.#coreEvents(ref, this.#counters, this.#life, settings.label),
      })
    this.#handlers = handlers
    this.#shared = shared
    this.#payloads = payloads
    this.#lent = posted.lent
    this.#broadcasts = broadcasts
    this.#settler = settler
    this.#cancellation = cancellation
    this.#group = group
    this.#scheduler = scheduler
    this.#figures = new Figures({
      clock,
      counters: this.#counters,
      timings: this.#timings,
      handlerMetrics,
      scheduler: this.#scheduler,
      slots: this.#slots,
    })
    this.#backPressure = new BackPressure(
      settings.maxQueue,
      this.#slots,
      clock,
      this.#scheduler,
      Pool.#queueEvents(ref),
    )
    const place = callerPlace(new.target)
    this.#shutdownParts = {
      clock,
      closeTimeout: settings.closeTimeout,
      life: this.#life,
      keepAlive: this.#keepAlive,
      counters: this.#counters,
      backPressure: this.#backPressure,
      scheduler,
      group,
      cancellation,
      settler,
      onClosed: Pool.#onClosed(ref, place, scheduler, broadcasts, shared, this.#output),
    }
    this.#startMinimum()
    watchPool(this, place, this.#shutdownParts)
  }

  // Static, because a function that is created in the constructor would hold the pool.

  static #coreEvents(ref: PoolRef<Pool>, counters: Counters, life: PoolLife, label: string): CoreEvents {
    return {
      onSettled: (task, outcome, wasAssigned) => {
        // A pool with unsettled tasks is busy, so it is not collected.
        ref.pool!.#onSettled(task, outcome, wasAssigned)
      },
      onLeft: () => {
        const { pool } = ref
        if (pool !== undefined) pool.#backPressure.onLeft()
      },
      pendingTasks: () => counters.pending,
      onNoneCancelled: () => inMicrotask(() => life.end?.finishIfIdle()),
      onError: error => ref.tell(pool => pool.#tellError(error)),
      onUnreportedDeath: (worker, death) =>
        ref.tell(pool => pool.#tellError(death.error, () => reportDeath(label, worker, death))),
      onUserMessage: (worker, value) => ref.tell(pool => pool.#tell('message', value, worker.view)),
      onCreated: worker =>
        ref.tell(pool => {
          pool.#output?.add(worker.view)
          pool.#tell('workerCreate', worker.view)
        }),
      onDestroyed: worker =>
        ref.tell(pool => {
          pool.#ended.add(worker.view)
          pool.#tell('workerDestroy', worker.view)
        }),
    }
  }

  static #queueEvents(ref: PoolRef<Pool>): BackPressureListener {
    return {
      onDrain: () => ref.tell(pool => pool.#tell('drain')),
      onNeedsDrain: () => ref.tell(pool => pool.#tell('needsDrain')),
      onFailure: failure => ref.tell(pool => pool.#tellError(failure)),
    }
  }

  static #onClosed(
    ref: PoolRef<Pool>,
    place: string | null,
    scheduler: Scheduler,
    broadcasts: KeptBroadcasts,
    shared: SharedValues,
    output: WorkerOutput | null,
  ): () => void {
    return () => {
      scheduler.releaseQueue()
      broadcasts.end()
      shared.end()
      forgetPlace(place)
      output?.end()
      ref.tell(pool => pool.#tell('close'))
    }
  }

  /**
   * Runs the handler with the payload in a worker. Resolves with the handler's result. Payload and result are copied as by
   * `structuredClone()`: a `Buffer` arrives as a `Uint8Array`. `move()` transfers a value in place of the copy.
   *
   * Never throws. Rejects with the handler's own error, or with a `PoolError`:
   * - `InvalidTaskError`: an option of the call is wrong, or nothing names a file
   * - `QueueFullError`: `maxQueue` tasks are queued
   * - `PoolClosedError`: the pool is closing or closed, or ended before the task finished
   * - `TaskCancelledError`: `signal` was aborted
   * - `TaskTimeoutError`: `timeout`, `queueTimeout` or `deadline` is over
   * - `WorkerStartError`, `RestartLimitError`: no worker could load the handler
   * - `WorkerExitError`, `WorkerMemoryError`: the worker ended while it ran the task
   * - `TaskQuarantinedError`: with `retry`, two or more workers ended while they ran the task
   * - `NotCloneableError`: the payload or the result cannot be copied or transferred
   * - `InvalidOptionError`: an option of the pool proves wrong only now, as a `loadBalancer` that returns no worker
   */
  run<Name extends HandlerName<Module> | undefined = Default>(
    ...args: RunArguments<Module, Name, Default>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>>
  run(payload?: unknown, options?: RunOptions): Promise<unknown> {
    if (this.#life.state !== 'open') return rejectCall(new PoolClosedError('closed'), Pool.prototype.run)
    let call: Call
    try {
      call = resolveRun(payload, options, this.#settings, this.#plainTerms)
    } catch (problem) {
      return rejectCall(problem, Pool.prototype.run)
    }
    return this.#start(call, Pool.prototype.run)
  }

  /**
   * The functions of the module, each with its own parameters: `pool.api.resize(bytes, { width: 200 })`. A call rejects as
   * `run()` does. An argument given to `move()` is transferred.
   */
  get api(): PoolApi<Module> {
    this.#api ??= this.#createApi(resolveWith(undefined))
    return this.#api
  }

  /**
   * The same functions, called with these options: `pool.with({ timeout: 5_000 }).api.resize(bytes)`. The object may be kept
   * and used for any number of calls. Throws `InvalidTaskError`.
   */
  with(options: CallOptions): { readonly api: PoolApi<Module> } {
    return { api: this.#createApi(forCaller(Pool.prototype.with, () => resolveWith(options))) }
  }

  /**
   * Runs one task for each item of the input, and gives the results as an async iterable. It pulls an item only when a place is
   * free (`concurrency`), so the input may be endless. Iterate over it, or call `toArray()` or `forEach()`.
   *
   * Throws `InvalidTaskError`. The iteration rejects with the error of the first task that fails, unless `onError` says to go on;
   * with the error of the input; with `TaskCancelledError` when `signal` is aborted; with `PoolClosedError`.
   */
  map<Name extends HandlerName<Module> | undefined = Default, Replacement = never>(
    source: MapSource<PayloadOf<Module, Chosen<Name, Default>>>,
    options?: MapOptions<PayloadOf<Module, Chosen<Name, Default>>, Replacement> & { name?: Name },
  ): PoolMap<ResultOf<Module, Chosen<Name, Default>> | Awaited<Replacement>> {
    const settings = forCaller(Pool.prototype.map, () => {
      checkSource(source)
      return resolveMap(options, this.#settings)
    })
    const terms = this.#inContext(settings.terms)
    return new MapRun(source, settings, {
      clock: this.#clock,
      slots: this.#slots,
      hasQueueLimit: Number.isFinite(this.maxQueue),
      room: () => this.room(),
      submit: (payload, settle, onProgress) => {
        const call = callOf(payload, onProgress === null ? terms : { ...terms, onProgress })
        return this.#submit(call, settle, Pool.prototype.map)
      },
      cancel: (task, error) => this.#scheduler.cancel(task, error),
    })
  }

  /**
   * Runs a handler whose result is a stream: a generator, an async iterable or a web stream. Gives its chunks as an async iterable.
   * The task is submitted when the first chunk is asked for, and occupies a slot until its stream has ended. The handler pauses while
   * `highWaterMark` chunks wait for the reader. `break` cancels the task, and its generator runs its `finally` blocks in the worker.
   *
   * Throws `InvalidTaskError`. The iteration rejects with the errors of `run()`. After a `TaskCancelledError`, a `TaskTimeoutError` or
   * a `PoolClosedError`, the chunks that wait are dropped. Other errors come after them.
   */
  stream<Name extends HandlerName<Module> | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, StreamOptions>
  ): PoolStream<ChunkOf<Module, Chosen<Name, Default>>>
  stream(payload?: unknown, options?: StreamOptions): PoolStream {
    const { call, window } = forCaller(Pool.prototype.stream, () =>
      resolveStream(payload, options, this.#settings),
    )
    const taken = this.#takeEarly({ ...call, terms: this.#inContext(call.terms) })
    const task: StreamTask = new StreamTask(window, {
      start: () => this.#startStream(taken(), task, Pool.prototype.stream),
    })
    return task.makeStream()
  }

  /**
   * Runs a handler that reads a stream and gives a stream: `async function* (source)`. Returns two web streams, for `pipeThrough()`. The
   * task is submitted with the first write or read. Both directions pause while `highWaterMark` chunks wait for their reader.
   *
   * Throws `InvalidTaskError`. Errors of the task, as of `run()`, end both streams.
   */
  transform<Input = any, Output = any>(
    options?: TransformOptions & { name?: HandlerName<Module> | undefined },
  ): PoolTransform<Input, Output> {
    const { call, window, transfers } = forCaller(Pool.prototype.transform, () =>
      resolveTransform(options, this.#settings),
    )
    const terms = this.#inContext(call.terms)
    const transform: Transform = new Transform(window, transfers, this.#clock, {
      start: () => this.#startStream({ ...call, terms }, transform, Pool.prototype.transform),
    })
    return transform.makeStreams()
  }

  /** The task of a stream starts later than the call, but gets the payload of the call. The returned function throws a refusal. */
  #takeEarly(call: Call): () => Call {
    try {
      const taken = this.#payloads.takeEarly(call, this.#clock.now())
      return () => taken(this.#clock.now())
    } catch (refused) {
      return () => {
        throw withCallerFrames(refused, Pool.prototype.stream)
      }
    }
  }

  #startStream({ payload, terms }: Call, end: OpenedEnd, entry: PublicFunction): CancelTask {
    const openStream: OpenStream = (post, cancel) => ({ end: end.onOpened(post, cancel), result: null })
    const call = { payload, terms: { ...terms, openStream } }
    const task = this.#submit(call, answer => end.onAnswer(answer), entry)
    return error => this.#scheduler.cancel(task, error)
  }

  /**
   * Encodes a large value once, for the payloads of many calls. Put the returned handle anywhere in a payload: the handler receives the
   * value. Each worker decodes it once, at its first use. Typed arrays in it are views on shared memory, and must only be read; in
   * processes they are copies. On this side the handle has no members of the value. Blocks this thread while it encodes.
   *
   * Throws `NotCloneableError` for a value that structured clone refuses.
   */
  share<T>(value: T): T & SharedValue {
    return forCaller(Pool.prototype.share, () => share(value))
  }

  /**
   * Runs the handler once on every worker that is starting or ready. A busy worker runs it after its task, before any other.
   * Resolves to all results, in the order in which the workers were started. A worker that ends before it starts the call has no
   * result. Without workers, resolves to `[]`. Each worker gets a copy of the payload.
   *
   * With `alsoNew`, workers that start later run it before their first task, until `signal` is aborted, or until a newer call with
   * `alsoNew` of the same file and name. If the handler fails there, the start of that worker has failed (`WorkerStartError`).
   *
   * Never throws. Rejects when all workers have settled, with the first error of any of them, as `run()` does. Rejects at once with
   * `InvalidTaskError` for a wrong option, with `NotCloneableError` for a payload that cannot be copied, with `TaskCancelledError`
   * when `signal` is already aborted, and with `PoolClosedError` when the pool is closing or closed.
   */
  broadcast<Name extends HandlerName<Module> | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, BroadcastOptions>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>[]>
  broadcast(payload?: unknown, options?: BroadcastOptions): Promise<unknown[]> {
    const { broadcast } = Pool.prototype
    let answer: Promise<unknown[]>
    try {
      if (this.#life.state !== 'open') throw new PoolClosedError('closed')
      const call = this.#shared.send(this.#clock.now(), () =>
        resolveBroadcast(payload, options, this.#settings),
      )
      const refusal = this.#refusalOf(call)
      if (refusal !== null) throw refusal
      answer = this.#sendToAll(call.payload, call.terms, call.alsoNew)
    } catch (problem) {
      return rejectCall(problem, broadcast)
    }
    return this.#withCallerStack ? withCallerStack(answer, broadcast) : answer
  }

  /**
   * Resolves when the next `run()` will find a free place: with a finite `maxQueue`, when fewer tasks are queued; otherwise, when
   * fewer tasks are queued than the pool has slots. Callers are served in order, one for each place. Call `run()` in the same turn
   * of the event loop.
   *
   * Rejects with `PoolClosedError` when the pool closes, with `TaskCancelledError` when `signal` is aborted, and with
   * `InvalidTaskError` for a wrong option.
   */
  room(options?: RoomOptions): Promise<void> {
    try {
      if (this.#life.state !== 'open') throw new PoolClosedError('closed')
      const signal = resolveRoom(options)
      const lender = this.#lent.current
      return this.#backPressure.room(signal, lender === null ? null : () => this.#promiseSlot(lender))
    } catch (problem) {
      return Promise.reject(withCallerFrames(problem, Pool.prototype.room))
    }
  }

  /**
   * Refuses new tasks, waits for the accepted ones, runs the teardowns and ends the workers. After `closeTimeout` the remaining
   * tasks reject with `PoolClosedError`, and the host kills the workers. Calling it again is no error.
   *
   * Rejects with `InvalidTaskError` for a wrong option.
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    const { force } = forCaller(Pool.prototype.close, () => resolveClose(options))
    return await this.#ending().close(force)
  }

  /**
   * Rejects all tasks with `PoolClosedError` and kills all workers at once, without teardowns. Resolves when they have ended; never
   * rejects. Calling it again, or during `close()`, is no error.
   */
  async destroy(): Promise<void> {
    await this.#ending().destroy()
  }

  /**
   * Replaces every worker, one after another. The new worker is ready before the old one leaves, and the old one finishes its
   * started tasks. Resolves when all old workers have ended and a new one is ready. A second call meanwhile joins the first one.
   *
   * Rejects with `WorkerStartError` when a new worker does not start: the workers that are not replaced yet stay. Rejects with
   * `PoolClosedError` when the pool closes.
   *
   * With `minWorkers: 0` and no worker alive, the call resolves at once. With a higher `minWorkers` it starts a worker, also when all
   * others have failed.
   */
  recycle(): Promise<void> {
    return this.#replaceAll('recycle')
  }

  /**
   * Does the same as `recycle()` for handler files that have changed, and rejects with the same errors. After it has resolved, no
   * task runs on a worker that was started before the call. Ends a pause after failed starts. Inline workers keep the modules
   * that the program has loaded.
   */
  reload(): Promise<void> {
    return this.#replaceAll('reload')
  }

  /**
   * Resolves when `minWorkers` workers are ready: they run, have loaded the handler's file, and its `setup()` has finished.
   *
   * Rejects with `WorkerStartError` when a worker does not start, with `RestartLimitError` while the pool starts none, and with
   * `PoolClosedError` when the pool closes.
   */
  ready(): Promise<void> {
    return this.#whileBusy(Pool.prototype.ready, () => this.#group.whenReady())
  }

  /**
   * Changes the number of workers while the pool runs. The pool starts workers up to the new minimum at once. Surplus workers finish
   * their started tasks and stop, idle ones first. `maxQueue` stays as it is.
   *
   * Throws `InvalidOptionError`, and `PoolClosedError` when the pool is closing or closed.
   */
  resize(options: ResizeOptions): void {
    const { size } = this.#settings
    forCaller(Pool.prototype.resize, () => {
      if (this.#life.state !== 'open') throw new PoolClosedError('closed')
      Object.assign(size, resolveResize(options, size))
    })
    this.#options = Object.freeze({ ...this.#options, ...size })
    this.#figures.resize(this.#slots)
    this.#group.onResized()
    this.#scheduler.pump()
    this.#backPressure.resize(this.#slots)
  }

  /**
   * Rejects all queued tasks with `TaskCancelledError`, whose `reason` is the given value. Tasks that have a slot continue, and the
   * pool stays open.
   */
  cancelQueued(reason?: unknown): void {
    this.#scheduler.cancelWaiting(() => new TaskCancelledError(reason, 'cancelQueued() was called'))
  }

  /** Calls `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Queued tasks: no slot is free for them. */
  get queueSize(): number {
    return this.#backPressure.waiting
  }

  /** Most tasks that may be queued. */
  get maxQueue(): number {
    return this.#settings.maxQueue
  }

  /** True while the queue is full. With `maxQueue: Infinity`: while as many tasks are queued as the pool has slots. */
  get needsDrain(): boolean {
    return this.#backPressure.needsDrain
  }

  /** Settled tasks that a worker had, whatever their outcome. */
  get completed(): number {
    return this.#figures.completed
  }

  /** Milliseconds since the pool was created. */
  get duration(): number {
    return this.#figures.durationMs
  }

  /** 0 to 1: the time in which tasks ran, divided by the time of all slots. 0 with `recordTiming: false`. */
  get utilization(): number {
    return this.#figures.utilization
  }

  /** Wait and run times since the pool was created, or since the last reset. */
  get histogram(): PoolHistogram {
    return this.#figures.histogram
  }

  /** Workers that the pool keeps alive. */
  get minWorkers(): number {
    return this.#settings.size.minWorkers
  }

  /** Most workers that the pool keeps at once. */
  get maxWorkers(): number {
    return this.#settings.size.maxWorkers
  }

  /** All options with their defaults, frozen. `resize()` replaces the object. */
  get options(): PoolSettings {
    return this.#options
  }

  /** The `worker_threads` objects of the workers that are starting or ready. Empty for processes and inline workers. */
  get threads(): Worker[] {
    return this.workers.map(worker => worker.thread).filter(thread => thread !== null)
  }

  /**
   * What all workers print to stdout, in whole lines, with the option `output: 'pipe'`. `null` without it. Ends after the pool is closed.
   * Read it from the start, because output is dropped until the first use of this property.
   */
  get stdout(): Readable | null {
    return this.#output?.stdout.stream ?? null
  }

  /** What all workers print to stderr. The same holds as for `stdout`. */
  get stderr(): Readable | null {
    return this.#output?.stderr.stream ?? null
  }

  /** The workers that are starting or ready. */
  get workers(): WorkerView[] {
    return this.#group.workers.map(worker => worker.view)
  }

  /** A plain snapshot of all figures. You can log it or send it. */
  stats(): PoolStats {
    return {
      label: this.#settings.label,
      state: this.#life.state,
      durationMs: this.duration,
      utilization: this.utilization,
      tasks: this.#figures.tasks,
      queue: { size: this.queueSize, limit: this.maxQueue, needsDrain: this.needsDrain },
      workers: this.workers.map(workerStats),
      endedWorkers: this.#ended.list(),
      waitTime: durationStats(this.#timings?.waitTime),
      runTime: durationStats(this.#timings?.runTime),
      handlers: this.#figures.handlers,
      handOverMs: this.#figures.handOverMs,
      backend: this.#settings.backend,
      transport: transportOf(this.#settings),
      transportReason: transportReason(this.#settings),
    }
  }

  #replaceAll(reason: 'recycle' | 'reload'): Promise<void> {
    return this.#whileBusy(Pool.prototype[reason], () => this.#group.replaceAll(reason))
  }

  async #whileBusy(entry: PublicFunction, work: () => Promise<void>): Promise<void> {
    if (this.#life.state !== 'open') throw withCallerFrames(new PoolClosedError('closed'), entry)
    await this.#keepAlive.during(work)
  }

  get #slots(): number {
    return this.#settings.size.maxWorkers * this.#settings.concurrentTasksPerWorker
  }

  #startMinimum(): void {
    try {
      while (this.#group.workers.length < this.#settings.size.minWorkers) this.#group.spawn()
    } catch (failure) {
      void this.#group.killAll(new PoolClosedError('destroyed'))
      this.#keepAlive.end()
      this.#scheduler.releaseQueue()
      throw withCallerFrames(refusedStart(failure, this.#settings.handler, 1), Pool)
    }
  }

  #createApi(options: ReadRunOptions): PoolApi<Module> {
    // The promise of a function that returns a stream resolves to it.
    const openStream: OpenStream = (post, cancel) => {
      const end = new StreamTask(DEFAULT_WINDOW, { start: () => cancel }).onOpened(post, cancel)
      return { end, result: end.makeStream() }
    }
    return createApi(name => {
      let terms: CallTerms | null = null
      const call = (...args: unknown[]): Promise<unknown> => {
        try {
          terms ??= termsOfFunction(name, options, this.#settings, openStream)
        } catch (problem) {
          return rejectCall(problem, call)
        }
        return this.#start({ payload: args, terms }, call, ApiPromise)
      }
      return call
    }) as PoolApi<Module>
  }

  /** @param entry the public function that the program called */
  #start(call: Call, entry: PublicFunction, PromiseClass: PromiseConstructor = Promise): Promise<unknown> {
    const refusal = this.#refusalOf(call)
    if (refusal !== null) return rejectCall(refusal, entry)
    const answer = new PromiseClass(resolve => {
      this.#accept(call, resolve, entry)
    })
    if (!this.#withCallerStack) return answer
    return new PromiseClass(resolve => resolve(withCallerStack(answer, entry)))
  }

  /** Throws the error with which the pool refuses the call. */
  #submit(call: Call, settle: (answer: unknown) => void, entry: PublicFunction): Task {
    const refusal = this.#refusalOf(call)
    if (refusal !== null) throw withCallerFrames(refusal, entry)
    return this.#accept(call, settle, entry)
  }

  /** Why the pool does not accept the call. */
  #refusalOf({ terms: { signal, limits } }: Call): PoolError | null {
    if (this.#life.state !== 'open') return new PoolClosedError('closed')
    if (signal?.aborted) return new TaskCancelledError(signal.reason)
    if (limits !== null && limits.deadline <= this.#clock.epochNow())
      return new TaskTimeoutError('deadline', 0)
    return null
  }

  /** Throws the error of a custom signal. */
  #sendToAll(payload: unknown, terms: CallTerms, alsoNew: boolean): Promise<unknown[]> {
    const { handler, signal } = terms
    if (alsoNew) {
      this.#broadcasts.keep({ handlerId: this.#handlers.numberOf(handler), handler }, payload, signal)
    }
    // A leaving worker starts no more tasks, so it needs no broadcast.
    const results = gatherResults(this.#group.keptWorkers, ({ id }, settle) => {
      this.#enter({ payload, terms: { ...terms, workerId: id } }, settle)
    })
    this.#backPressure.onLeft()
    return results
  }

  /**
   * True when the next task that a function of the waiting task submits in this turn gets its slot. The slot is promised to one caller
   * at a time.
   */
  #promiseSlot(lender: Lender): boolean {
    if (lender.isPromised || !this.#scheduler.mayBorrow(lender)) return false
    lender.isPromised = true
    this.#clock.nextTurn(() => {
      lender.isPromised = false
      this.#backPressure.onLeft()
    })
    return true
  }

  /** Remembers the caller's async context where a function of the program is asked about the task later. */
  #inContext(terms: CallTerms): CallTerms {
    const isAsked = this.#settings.loadBalancer !== undefined || (terms.retry?.when ?? null) !== null
    return isAsked && terms.context === undefined
      ? { ...terms, context: new AsyncContext('lido.call') }
      : terms
  }

  /** Throws `QueueFullError`. */
  #accept(call: Call, resolve: (answer: unknown) => void, entry: PublicFunction): Task {
    const { limit } = this.#backPressure
    // Counting takes longer than a short task, and without a limit nobody needs the count.
    const waiting = limit === Number.POSITIVE_INFINITY ? 0 : this.#backPressure.waiting
    const mustStartNow = limit !== Number.POSITIVE_INFINITY && waiting >= limit
    if (
      mustStartNow &&
      !this.#scheduler.mayBorrow(this.#lent.current) &&
      (this.#scheduler.queueSize > 0 || this.#scheduler.inFlight - this.#scheduler.lent >= this.#slots)
    ) {
      throw withCallerFrames(new QueueFullError(limit), entry)
    }
    const task = this.#enter(call, resolve)
    const isStillWaiting = task.state === 'queued' || task.state === 'assigned'
    if (
      mustStartNow &&
      isStillWaiting &&
      this.#backPressure.waiting > waiting &&
      this.#scheduler.withdraw(task)
    ) {
      this.#settler.reject(task, withCallerFrames(new QueueFullError(limit), entry))
      this.#counters.onRefused()
    }
    this.#backPressure.onAccepted()
    return task
  }

  /** Counts the task, and gives it to the scheduler. */
  #enter(call: Call, resolve: (answer: unknown) => void): Task {
    this.#lastTaskId = nextTaskId(this.#lastTaskId)
    const handlerId = this.#handlers.numberOf(call.terms.handler)
    const terms = this.#inContext(call.terms)
    const own = terms === call.terms ? call : { ...call, terms }
    const task = new Task(this.#lastTaskId, own, handlerId, this.#clock.now(), resolve)
    this.#counters.onAccepted()
    if (this.#counters.pending === 1) this.#keepAlive.onBusy()
    this.#lent.adopt(task)
    try {
      this.#cancellation.watch(task)
      // A custom signal may abort as soon as a listener is added.
      if (task.state === 'queued') this.#scheduler.submit(task)
    } catch (failure) {
      if (task.state !== 'queued') throw failure
      // A custom signal threw when the listener was added.
      inMicrotask(() => this.#takeBack(task, failure))
    }
    return task
  }

  /** Rejects a task that the pool has already counted. */
  #takeBack(task: Task, failure: unknown): void {
    if (task.state === 'queued' && this.#scheduler.withdraw(task)) this.#settler.reject(task, failure)
    this.#backPressure.onLeft()
  }

  #onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void {
    try {
      this.#cancellation.release(task)
    } catch (failure) {
      // A custom signal threw when the listener was removed.
      this.#tellError(failure)
    }
    closeMoved(task)
    this.#counters.onSettled(outcome, wasAssigned)
    this.#lent.onSettled(task)
    if (this.#shared.isReleasing) this.#shared.onSettled(task)
    if (this.#counters.pending > 0) return
    const { end } = this.#life
    if (end === null) this.#keepAlive.onIdle()
    else inMicrotask(() => end.finishIfIdle())
  }

  #ending(): PoolEnd {
    unwatchPool(this)
    return shutDown(this.#shutdownParts)
  }

  /** Emits the event after the pool's own work, so that a listener may call the pool. */
  #tell<Name extends keyof PoolEvents>(name: Name, ...args: PoolEvents[Name]): void {
    inMicrotask(() => this.#context.run(() => (this as unknown as NodeJS.EventEmitter).emit(name, ...args)))
  }

  #tellError(error: unknown, onNoListener = () => {}): void {
    inMicrotask(() => {
      if (this.listenerCount('error') > 0) this.#context.run(() => this.emit('error', error))
      else onNoListener()
    })
  }
}

function rejectCall(problem: unknown, entry: PublicFunction): Promise<never> {
  return Promise.reject(withCallerFrames(problem, entry))
}

function startAhead(backend: Backend, { workerOptions, handler }: CoreSettings): void {
  try {
    startingAhead(() => withoutCaller(() => backend.startAhead?.(workerOptions)))
  } catch (failure) {
    throw refusedStart(failure, handler, 1)
  }
}
