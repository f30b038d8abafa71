// The promise made to users. It takes calls in, tells what happens, and lets go in order; the rooms behind it do the rest.
import type { Worker } from 'node:worker_threads'
import {
  PoolClosedError,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
  withCallerFrames,
} from '../../shared/errors/pool-errors.js'
import { AsyncContext, withoutCaller } from '../../shared/platform/async-context.js'
import { type Clock, realClock } from '../../shared/platform/clock.js'
import { EventEmitter } from '../../shared/platform/host-node-modules.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Backend } from '../backend/backend.js'
import type { HandlerRegistry } from '../lane/handler-registry.js'
import { Counters, type Outcome } from '../metrics/counters.js'
import { HandlerMetrics } from '../metrics/handler-metrics.js'
import { PerformanceWarnings } from '../metrics/performance-warnings.js'
import { type PoolHistogram, Timings } from '../metrics/timings.js'
import { BackPressure } from '../queue/back-pressure.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { Call, CallTerms } from '../task/call.js'
import type { Cancellation } from '../task/cancellation.js'
import type { Settler } from '../task/settle.js'
import { nextTaskId, Task } from '../task/task.js'
import { refusedStart } from '../workers/exit-reason.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { WorkerView } from '../workers/worker-view.js'
import { backendOf } from './backend-of.js'
import {
  type CloseOptions,
  type CloseReport,
  plainTerms,
  type RoomOptions,
  type RunOptions,
  resolveClose,
  resolveRoom,
  resolveRun,
} from './call-options.js'
import { forCaller, withCallerStack } from './caller-stack.js'
import { createCore } from './core.js'
import { Figures } from './figures.js'
import type { DefaultName, HandlerName, NoPayload, PayloadOf, ResultOf } from './handler-types.js'
import { KeepAlive } from './keep-alive.js'
import { type CoreSettings, type ResizeOptions, resolveOptions, resolveResize } from './options.js'
import type { PoolState } from './pool-life.js'
import type { PoolOptions } from './pool-options.js'
import type { PoolSettings } from './pool-table.js'
import { reportDeath } from './report-death.js'
import { Shutdown } from './shutdown.js'
import { durationStats, type PoolStats, workerStats } from './stats.js'
import { transportOf, transportReason } from './transport.js'

export interface PoolEvents {
  drain: []
  needsDrain: []
  error: [error: unknown]
  message: [value: unknown, worker: WorkerView]
  workerCreate: [worker: WorkerView]
  workerDestroy: [worker: WorkerView]
  close: []
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
 * `Module` is the type of the handlers' module, as `typeof import('./work.js')`; `Default` the function that calls run which name
 * none, where the pool's option `name` is not `default`.
 */
export class Pool<
  Module = any,
  Default extends HandlerName<Module> = DefaultName<Module>,
> extends EventEmitter<PoolEvents> {
  readonly #settings: CoreSettings
  #options: PoolSettings
  /** Listeners are called in it. */
  readonly #context = new AsyncContext('lido.Pool')
  readonly #plainTerms: CallTerms | null
  readonly #clock: Clock
  readonly #counters = new Counters()
  readonly #timings: Timings | null
  readonly #figures: Figures
  readonly #settler: Settler
  readonly #cancellation: Cancellation
  readonly #group: WorkerGroup
  readonly #scheduler: Scheduler
  readonly #handlers: HandlerRegistry
  readonly #backPressure: BackPressure
  readonly #keepAlive: KeepAlive
  readonly #life: { state: PoolState } = { state: 'open' }
  readonly #withCallerStack: boolean
  #lastTaskId = 0
  /** Calls of `recycle` and `reload` under way. */
  #replacing = 0
  #closing: Shutdown | null = null

  /** Throws `InvalidOptionError`. */
  constructor(options?: PoolOptions)
  /** @internal */
  constructor(options?: PoolOptions, parts?: PoolParts)
  constructor(options?: PoolOptions, parts: PoolParts = { clock: realClock }) {
    super()
    const { clock, backend: given, decodeSliceMs }: PoolParts = Object.assign(Object.create(null), parts)
    const settings = forCaller(Pool, () => resolveOptions(options))
    const backend = given ?? backendOf(settings)
    if (settings.size.minWorkers > 0) forCaller(Pool, () => startAhead(backend, settings))
    this.#settings = settings
    this.#options = settings.options
    this.#plainTerms = plainTerms(settings)
    this.#withCallerStack = settings.callerStack
    this.#clock = clock
    this.#keepAlive = new KeepAlive(
      clock,
      () => this.#counters.pending > 0 || this.#closing !== null || this.#replacing > 0,
    )
    this.#timings = settings.recordTiming ? new Timings() : null
    const warnings = settings.performanceWarnings
      ? new PerformanceWarnings(settings.label, settings.concurrentTasksPerWorker)
      : null
    const handlerMetrics = settings.recordTiming ? new HandlerMetrics(warnings) : null
    const { handlers, settler, cancellation, group, scheduler } = createCore({
      settings,
      backend,
      clock,
      timings: this.#timings,
      handlerMetrics,
      decodeSliceMs,
      events: {
        onSettled: (task, outcome, wasAssigned) => this.#onSettled(task, outcome, wasAssigned),
        onLeft: () => this.#backPressure.onLeft(),
        onNoneCancelled: () => inMicrotask(() => this.#closing?.finishIfIdle()),
        onError: error => this.#tellError(error),
        onUnheardDeath: (worker, death) =>
          this.#tellError(death.error, () => reportDeath(settings.label, worker, death)),
        onUserMessage: (worker, value) => this.#tell('message', value, worker.view),
        onCreated: worker => this.#tell('workerCreate', worker.view),
        onDestroyed: worker => this.#tell('workerDestroy', worker.view),
      },
    })
    this.#handlers = handlers
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
    this.#backPressure = new BackPressure(settings.maxQueue, this.#slots, clock, this.#scheduler, {
      onDrain: () => this.#tell('drain'),
      onNeedsDrain: () => this.#tell('needsDrain'),
      onFailure: failure => this.#tellError(failure),
    })
    this.#startMinimum()
  }

  /**
   * Hands one task to the pool. The payload is copied as by `structuredClone()`: a `Buffer` arrives as a `Uint8Array`.
   *
   * Never throws; rejects with the handler's own error, or with a `PoolError` that says what
   * went wrong: `InvalidTaskError`, `QueueFullError`, `PoolClosedError`, `TaskCancelledError`, `TaskTimeoutError`,
   * `WorkerStartError`, `WorkerExitError`, `WorkerMemoryError` or `NotCloneableError`.
   */
  run(
    payload: PayloadOf<Module, Default>,
    options?: Omit<RunOptions, 'name'> & { name?: undefined },
  ): Promise<ResultOf<Module, Default>>
  run<Name extends HandlerName<Module> = Default>(
    payload: PayloadOf<Module, Name>,
    options?: RunOptions & { name?: Name | undefined },
  ): Promise<ResultOf<Module, Name>>
  run(...none: NoPayload<Module, Default>): Promise<ResultOf<Module, Default>>
  run<Name extends HandlerName<Module> = Default>(
    payload?: PayloadOf<Module, Name>,
    options?: RunOptions & { name?: Name | undefined },
  ): Promise<ResultOf<Module, Name>> {
    if (this.#life.state !== 'open') return rejectRun(new PoolClosedError('closed'))
    let call: Call
    try {
      call = resolveRun(payload, options, this.#settings, this.#plainTerms)
      const { signal } = call.terms
      if (signal?.aborted) throw new TaskCancelledError(signal.reason)
    } catch (problem) {
      return rejectRun(problem)
    }
    const { limits } = call.terms
    // A getter of the options may have closed it.
    if (call.terms !== this.#plainTerms && this.#life.state !== 'open')
      return rejectRun(new PoolClosedError('closed'))
    if (limits !== null && limits.deadline <= this.#clock.epochNow())
      return rejectRun(new TaskTimeoutError('deadline', 0))
    const answer = new Promise<ResultOf<Module, Name>>((resolve, reject) =>
      this.#accept(call, resolve as (value: unknown) => void, reject),
    )
    return this.#withCallerStack ? withCallerStack(answer, Pool.prototype.run) : answer
  }

  /**
   * Resolves when the next `run()` will find room; in order, one waiter for each place. Call `run()` in the same turn.
   * Rejects with `PoolClosedError` when the pool closes and with `TaskCancelledError` when `signal` is aborted.
   */
  room(options?: RoomOptions): Promise<void> {
    try {
      if (this.#life.state !== 'open') throw new PoolClosedError('closed')
      return this.#backPressure.room(resolveRoom(options))
    } catch (problem) {
      return Promise.reject(withCallerFrames(problem, Pool.prototype.room))
    }
  }

  /**
   * Refuses new tasks, waits for every accepted one, then ends the workers. After `closeTimeout` the tasks that still run
   * reject with `PoolClosedError`, and a `teardown` that still runs is cut off. Calling it again is no error.
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    const { force } = forCaller(Pool.prototype.close, () => resolveClose(options))
    return await this.#ending().close(force)
  }

  /** Rejects all tasks with `PoolClosedError` and ends all workers, at once. Calling it again is no error. */
  async destroy(): Promise<void> {
    await this.#ending().destroy()
  }

  /**
   * Replaces every worker, one after another. The new worker is ready before the old one leaves, and the old one finishes its
   * started tasks. Resolves when all old workers have ended and a new one is ready. A second call during the first one joins it.
   *
   * Rejects with `WorkerStartError` when a new worker does not start: the workers that are not replaced yet stay. Rejects with
   * `PoolClosedError` when the pool closes.
   *
   * A pool with `minWorkers: 0` and no worker has nothing to replace: the call resolves at once, and the next task loads the file.
   * With a higher `minWorkers`, the call starts a worker also when all have failed, and rejects when that one fails too.
   */
  recycle(): Promise<void> {
    return this.#replaceAll(false)
  }

  /**
   * Does the same as `recycle()` for handler files that have changed. When it has resolved, no task runs on a worker that was
   * started before the call. It ends pauses after failed starts. Inline workers keep the modules that the program has loaded.
   */
  reload(): Promise<void> {
    return this.#replaceAll(true)
  }

  /**
   * Changes the number of workers while the pool runs. It grows at once to the new minimum, and up to the new maximum while
   * tasks wait. Surplus workers finish their started tasks and leave, idle ones first. Throws `InvalidOptionError`, and
   * `PoolClosedError` when the pool is closing or closed.
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Tasks that wait. */
  get queueSize(): number {
    return this.#backPressure.waiting
  }

  get maxQueue(): number {
    return this.#settings.maxQueue
  }

  /** True while the queue is full; with `maxQueue: Infinity`, while as many tasks wait as the pool has slots. */
  get needsDrain(): boolean {
    return this.#backPressure.needsDrain
  }

  /** Tasks that ended after a worker had them, whatever the outcome. */
  get completed(): number {
    return this.#figures.completed
  }

  /** Milliseconds since construction. */
  get duration(): number {
    return this.#figures.durationMs
  }

  /** 0 to 1: the time tasks ran, of the time that all workers had. 0 with `recordTiming: false`. */
  get utilization(): number {
    return this.#figures.utilization
  }

  get histogram(): PoolHistogram {
    return this.#figures.histogram
  }

  get minWorkers(): number {
    return this.#settings.size.minWorkers
  }

  get maxWorkers(): number {
    return this.#settings.size.maxWorkers
  }

  /** The options with all defaults, frozen. `resize()` puts a new object in its place. */
  get options(): PoolSettings {
    return this.#options
  }

  /** The threads that are alive or starting; workers that are none are in `workers` only. */
  get threads(): Worker[] {
    return this.workers.map(worker => worker.thread).filter(thread => thread !== null)
  }

  get workers(): WorkerView[] {
    return this.#group.workers.map(worker => worker.view)
  }

  /** A snapshot of everything that can be counted. */
  stats(): PoolStats {
    return {
      label: this.#settings.label,
      state: this.#life.state,
      durationMs: this.duration,
      utilization: this.utilization,
      tasks: this.#figures.tasks,
      queue: { size: this.queueSize, limit: this.maxQueue, needsDrain: this.needsDrain },
      workers: this.workers.map(workerStats),
      waitTime: durationStats(this.#timings?.waitTime),
      runTime: durationStats(this.#timings?.runTime),
      handlers: this.#figures.handlers,
      handOverMs: this.#figures.handOverMs,
      backend: this.#settings.backend,
      transport: transportOf(this.#settings),
      transportReason: transportReason(this.#settings),
    }
  }

  async #replaceAll(isReload: boolean): Promise<void> {
    if (this.#life.state !== 'open') {
      const { recycle, reload } = Pool.prototype
      throw withCallerFrames(new PoolClosedError('closed'), isReload ? reload : recycle)
    }
    this.#keepAlive.onBusy()
    this.#replacing++
    try {
      await this.#group.replaceAll(isReload)
    } finally {
      this.#replacing--
      this.#keepAlive.onIdle()
    }
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

  #accept(call: Call, resolve: (value: unknown) => void, reject: (reason: unknown) => void): void {
    const { limit } = this.#backPressure
    const mustStartNow = limit !== Number.POSITIVE_INFINITY && this.#backPressure.waiting >= limit
    if (mustStartNow && (this.#scheduler.queueSize > 0 || this.#scheduler.inFlight >= this.#slots)) {
      return reject(withCallerFrames(new QueueFullError(limit), Pool.prototype.run))
    }
    this.#lastTaskId = nextTaskId(this.#lastTaskId)
    const handlerId = this.#handlers.numberOf(call.terms.handler)
    const task = new Task(this.#lastTaskId, call, handlerId, this.#clock.now(), resolve)
    this.#counters.onAccepted()
    if (this.#counters.pending === 1) this.#keepAlive.onBusy()
    try {
      this.#cancellation.watch(task)
      // A signal of the user's own making may be aborted when it is listened to.
      if (task.state === 'queued') this.#scheduler.submit(task)
    } catch (failure) {
      if (task.state !== 'queued') throw failure
      // A signal that is none.
      return inMicrotask(() => this.#takeBack(task, failure))
    }
    const isStillWaiting = task.state === 'queued' || task.state === 'assigned'
    if (
      mustStartNow &&
      isStillWaiting &&
      this.#backPressure.waiting > limit &&
      this.#scheduler.withdraw(task)
    ) {
      this.#settler.reject(task, withCallerFrames(new QueueFullError(limit), Pool.prototype.run))
      this.#counters.onRefused()
    }
    this.#backPressure.onAccepted()
  }

  /** It was counted, and is to be told. */
  #takeBack(task: Task, failure: unknown): void {
    if (task.state === 'queued' && this.#scheduler.withdraw(task)) this.#settler.reject(task, failure)
    this.#backPressure.onLeft()
  }

  #onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void {
    try {
      this.#cancellation.release(task)
    } catch (failure) {
      // A signal of the user's own making.
      this.#tellError(failure)
    }
    this.#counters.onSettled(outcome, wasAssigned)
    if (this.#counters.pending > 0) return
    if (this.#closing === null) this.#keepAlive.onIdle()
    else inMicrotask(() => this.#closing?.finishIfIdle())
  }

  #ending(): Shutdown {
    this.#closing ??= new Shutdown({
      clock: this.#clock,
      closeTimeout: this.#settings.closeTimeout,
      life: this.#life,
      keepAlive: this.#keepAlive,
      counters: this.#counters,
      backPressure: this.#backPressure,
      scheduler: this.#scheduler,
      group: this.#group,
      cancellation: this.#cancellation,
      settler: this.#settler,
      onClosed: () => {
        this.#scheduler.releaseQueue()
        this.#tell('close')
      },
    })
    return this.#closing
  }

  /** Events are told when the pool's own work is done, so that a listener may call the pool. */
  #tell<Name extends keyof PoolEvents>(name: Name, ...args: PoolEvents[Name]): void {
    inMicrotask(() => this.#context.run(() => (this as NodeJS.EventEmitter).emit(name, ...args)))
  }

  #tellError(error: unknown, onNoListener = () => {}): void {
    inMicrotask(() => {
      if (this.listenerCount('error') > 0) this.#context.run(() => this.emit('error', error))
      else onNoListener()
    })
  }
}

function rejectRun(problem: unknown): Promise<never> {
  return Promise.reject(withCallerFrames(problem, Pool.prototype.run))
}

function startAhead(backend: Backend, { workerOptions, handler }: CoreSettings): void {
  try {
    withoutCaller(() => backend.startAhead?.(workerOptions))
  } catch (failure) {
    throw refusedStart(failure, handler, 1)
  }
}
