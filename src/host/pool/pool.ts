// The promise made to users. It takes calls in, tells what happens, and lets go in order; the rooms behind it do the rest.
import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { type Clock, realClock } from '../../shared/base/clock.js'
import { nextTaskId } from '../../shared/channel/claims.js'
import {
  PoolClosedError,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
} from '../../shared/errors/pool-errors.js'
import type { Backend, BackendKind } from '../backend/backend.js'
import { Dispatcher } from '../dispatch/dispatcher.js'
import { Counters } from '../observe/counters.js'
import { type PoolHistogram, poolHistogram, Timings } from '../observe/timings.js'
import { type HandlerStats, Worth } from '../observe/worth.js'
import { Admission } from '../queue/admission.js'
import type { WorkerIds } from '../supervisor/starts.js'
import { Supervisor } from '../supervisor/supervisor.js'
import type { WorkerView } from '../supervisor/worker-handle.js'
import { Cancellation } from '../task/cancellation.js'
import { Settler } from '../task/settle.js'
import { Task, type TaskRequest } from '../task/task.js'
import { type Annex, Annexes, type House } from './annexes.js'
import { backendOf } from './backend-of.js'
import { anotherQueue } from './backend-options.js'
import { withCallerStack } from './caller-stack.js'
import { type CloseOptions, type CloseReport, Closing, checkCloseOptions } from './closing.js'
import { closeOnSignals } from './closing-signals.js'
import type { HandlerName, PayloadOf, ResultOf } from './handler-types.js'
import { Liveness } from './liveness.js'
import { type PoolOptions, type PoolSettings, resolveOptions } from './options.js'
import { movePool, type PoolState } from './pool-life.js'
import { type RunOptions, resolveRun } from './run-options.js'
import { durationStats, type PoolStats, workerStats } from './stats.js'
import { Transport } from './transport.js'
import { startProblem } from './worker-options.js'
import { WorthWarnings } from './worth-warnings.js'

export interface PoolEvents {
  drain: []
  needsDrain: []
  error: [error: unknown]
  message: [value: unknown, worker: WorkerView]
  workerCreate: [worker: WorkerView]
  workerDestroy: [worker: WorkerView]
  close: []
}

/** For tests of the host: stand-ins for threads and time. For an annex: what it shares with its pool. */
export interface PoolParts {
  clock: Clock
  /** Default: what the option says. */
  backend?: Backend
  house?: House
}

export class Pool<Module = any> extends EventEmitter<PoolEvents> {
  readonly #settings: PoolSettings
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #counters = new Counters()
  readonly #timings: Timings | null
  readonly #worth: Worth | null
  readonly #histogram: PoolHistogram
  readonly #settler: Settler
  readonly #cancellation: Cancellation
  readonly #supervisor: Supervisor
  readonly #dispatcher: Dispatcher
  readonly #admission: Admission
  readonly #liveness: Liveness
  readonly #transport: Transport
  readonly #life: { state: PoolState } = { state: 'open' }
  readonly #withCallerStack: boolean
  /** Ends the listening to signals. */
  #stopListening = () => {}
  /** `null` unless single handlers live on another backend. */
  readonly #annexes: Annexes | null
  #lastTaskId = 0
  /** Calls of `recycle` and `reload` under way. */
  #replacing = 0
  #closing: Closing | null = null

  /** Throws `InvalidOptionError`. */
  constructor(options?: PoolOptions, parts: PoolParts = { clock: realClock }) {
    super()
    const settings = resolveOptions(options)
    const { clock, backend = backendOf(settings), house } = parts
    this.#settings = settings
    this.#withCallerStack = settings.callerStack
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#liveness = new Liveness(
      clock,
      () => this.#counters.pending > 0 || this.#closing !== null || this.#replacing > 0,
    )
    this.#timings = house !== undefined ? house.timings : settings.recordTiming ? new Timings() : null
    this.#histogram = poolHistogram(this.#timings)
    const warnings = settings.worthWarnings ? new WorthWarnings(settings.concurrentTasksPerWorker) : null
    this.#worth = settings.recordTiming ? new Worth(handler => warnings?.consider(handler)) : null
    this.#settler = new Settler({ onSettled: (task, wasAssigned) => this.#onSettled(task, wasAssigned) })
    this.#cancellation = new Cancellation({
      clock,
      progressOf: (task, now) => this.#dispatcher.progressOf(task, now),
      cancel: (task, error, onlyWaiting) => this.#dispatcher.cancel(task, error, onlyWaiting),
    })
    this.#transport = new Transport(settings)
    const workerIds: WorkerIds = house?.workerIds ?? { last: 0 }
    const makeHolding = (workerId: number) => this.#transport.makeHolding(workerId)
    this.#supervisor = new Supervisor(
      { ...settings, preload: settings.handler, makeHolding },
      backend,
      clock,
      {
        onReady: worker => this.#dispatcher.onReady(worker),
        onMessage: (worker, message) => this.#dispatcher.onMessage(worker, message),
        onUnreadable: worker => this.#dispatcher.onUnreadable(worker),
        onGivenUp: (worker, error) => this.#dispatcher.onGivenUp(worker, error),
        onGone: worker => this.#dispatcher.onGone(worker),
        onLeaving: worker => this.#dispatcher.onLeaving(worker),
        onTrouble: error => this.#tellError(error),
        onLost: (worker, death) => {
          const wasToldToCallers = this.#dispatcher.onLost(worker, death)
          if (!wasToldToCallers) this.#tellError(death.error)
        },
        onPauseOver: () => void this.#dispatcher.pump(),
        onUserMessage: (worker, value) => this.#tell('message', value, worker.view),
        onCreated: worker => this.#tell('workerCreate', worker.view),
        onDestroyed: worker => this.#tell('workerDestroy', worker.view),
      },
      workerIds,
    )
    this.#dispatcher = new Dispatcher({
      clock,
      supervisor: this.#supervisor,
      settler: this.#settler,
      timings: this.#timings,
      worth: this.#worth,
      queue: settings.queue,
      loadBalancer: settings.loadBalancer,
      handlers: this.#transport.handlers,
      errorClasses: settings.errorClasses,
      lane: this.#transport.lane,
      canTakeBack: this.#transport.canTakeBack,
      slotsPerWorker: settings.concurrentTasksPerWorker,
      decodeSliceMs: settings.decodeSliceMs,
      cancelGraceMs: settings.cancelGrace,
      onCondemnedGone: () => queueMicrotask(() => this.#finishIfIdle()),
      onLeft: () => this.#admission.onLeft(),
      onQueueFailure: failure => this.#tellError(failure),
    })
    this.#annexes =
      settings.handlers === null
        ? null
        : new Annexes(settings, kind => this.#openAnnex(kind, options!, clock, workerIds))
    const load = this.#annexes === null ? this.#dispatcher : this.#annexes.loadWith(this.#dispatcher)
    this.#admission =
      house?.admission ??
      new Admission(settings.maxQueue, this.#allSlots, clock, load, {
        onDrain: () => this.#tell('drain'),
        onNeedsDrain: () => this.#tell('needsDrain'),
      })
    this.#startMinimum()
    if (settings.closeOnSignals.length > 0)
      this.#stopListening = closeOnSignals(this, settings.closeOnSignals)
  }

  /**
   * Hands one task to the pool. Never throws; rejects with the handler's own error, or with a `PoolError` that says what
   * went wrong: `InvalidTaskError`, `QueueFullError`, `PoolClosedError`, `TaskCancelledError`, `TaskTimeoutError`,
   * `WorkerStartError`, `WorkerExitError`, `WorkerMemoryError` or `NotCloneableError`.
   */
  run<Name extends HandlerName<Module> = HandlerName<Module> & 'default'>(
    payload?: PayloadOf<Module, Name>,
    options?: RunOptions & { name?: Name | undefined },
  ): Promise<ResultOf<Module, Name>> {
    if (this.#life.state !== 'open') return Promise.reject(new PoolClosedError('closed'))
    let request: TaskRequest
    try {
      if (this.#annexes !== null) {
        const annex = this.#annexes.poolFor(options)
        if (annex !== null) {
          const answer = annex.run(payload, options) as Promise<ResultOf<Module, Name>>
          return this.#withCallerStack ? withCallerStack(answer, this.run) : answer
        }
      }
      request = resolveRun(payload, options, this.#settings)
    } catch (problem) {
      return Promise.reject(problem)
    }
    if (request.signal?.aborted) return Promise.reject(new TaskCancelledError(request.signal.reason))
    if (request.limits !== null && request.limits.deadline <= this.#clock.epochNow())
      return Promise.reject(new TaskTimeoutError('deadline', 0))
    const answer = new Promise<ResultOf<Module, Name>>((resolve, reject) =>
      this.#accept(request, resolve as (value: unknown) => void, reject),
    )
    return this.#withCallerStack ? withCallerStack(answer, this.run) : answer
  }

  /**
   * Resolves when the next `run()` will find room; in order, one waiter for each place. Call `run()` in the same turn.
   * Rejects with `PoolClosedError` when the pool closes and with the signal's reason when `signal` is aborted.
   */
  room(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = options !== undefined && Object.hasOwn(options, 'signal') ? options.signal : undefined
    return this.#admission.room(signal ?? null)
  }

  /**
   * Refuses new tasks, waits for every accepted one, then ends the workers. After `closeTimeout` the tasks that still run
   * reject with `PoolClosedError`, and a `teardown` that still runs is cut off. Calling it again is no error.
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    const { force = false } = checkCloseOptions(options)
    this.#closing ??= this.#beginClosing()
    this.#annexes?.close({ force })
    if (force) this.#dispatcher.rejectWaiting(new PoolClosedError('forced'))
    this.#finishIfIdle()
    return await this.#closing.done
  }

  /** Rejects all tasks with `PoolClosedError` and ends all workers, at once. Calling it again is no error. */
  async destroy(): Promise<void> {
    this.#closing ??= this.#beginClosing()
    this.#annexes?.destroy()
    this.#shutDown(new PoolClosedError('destroyed'))
    this.#closing.limit?.cancel()
    // Also those that a close() lets run their teardown.
    void this.#supervisor.stop(new PoolClosedError('destroyed'))
    await this.#closing.done
  }

  /**
   * Replaces every worker, one after another: a new one is ready before the old one is asked to leave, and the old one
   * finishes what it has begun. Resolves when all that were there have ended; a call meanwhile joins. Rejects with
   * `WorkerStartError` when a new one does not start (those not replaced yet stay) and with `PoolClosedError` when the pool
   * closes.
   */
  recycle(): Promise<void> {
    return this.#replaceAll(false)
  }

  /**
   * The same for handlers' files that have changed: when it has resolved, no task meets a worker that was started before
   * the call. Pauses after failed starts are over with it. Inline workers meet the modules that the program has loaded.
   */
  reload(): Promise<void> {
    return this.#replaceAll(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Tasks that wait. */
  get queueSize(): number {
    return this.#admission.waiting
  }

  get maxQueue(): number {
    return this.#settings.maxQueue
  }

  /** True while the queue is full; with `maxQueue: Infinity`, while as many tasks wait as the pool has slots. */
  get needsDrain(): boolean {
    return this.#admission.needsDrain
  }

  /** Tasks that ended after a worker had them, whatever the outcome. */
  get completed(): number {
    return this.#sum(this.#counters.completed, annex => annex.completed)
  }

  /** Milliseconds since construction. */
  get duration(): number {
    return this.#clock.now() - this.#startedAt
  }

  /** 0 to 1: the time tasks ran, of the time that all workers had. 0 with `recordTiming: false`. */
  get utilization(): number {
    if (this.#timings === null || this.duration === 0) return 0
    return Math.min(this.#timings.totalRunMs / (this.duration * this.#allSlots), 1)
  }

  get histogram(): PoolHistogram {
    return this.#histogram
  }

  get minThreads(): number {
    return this.#settings.minThreads
  }

  get maxThreads(): number {
    return this.#settings.maxThreads
  }

  /** What the options became. */
  get options(): PoolSettings {
    return this.#settings
  }

  /** The threads that are alive or starting; workers that are none are in `workers` only. */
  get threads(): Worker[] {
    return this.workers.map(worker => worker.thread).filter(thread => thread !== null)
  }

  get workers(): WorkerView[] {
    const own = this.#supervisor.workers.map(worker => worker.view)
    return this.#annexes === null ? own : own.concat(...this.#annexes.opened.map(annex => annex.workers))
  }

  /** A snapshot of everything that can be counted. */
  stats(): PoolStats {
    return {
      state: this.#life.state,
      durationMs: this.duration,
      utilization: this.utilization,
      tasks: {
        ...this.#taskCounts(),
      },
      queue: { size: this.queueSize, limit: this.maxQueue, needsDrain: this.needsDrain },
      workers: this.workers.map(workerStats),
      waitTime: durationStats(this.#timings?.waitTime),
      runTime: durationStats(this.#timings?.runTime),
      handlers: this.#handlerStats(),
      backend: this.#settings.backend,
      transport: this.#transport.name,
      transportReason: this.#transport.reason,
    }
  }

  async #replaceAll(isReload: boolean): Promise<void> {
    if (this.#life.state !== 'open') throw new PoolClosedError('closed')
    this.#liveness.onBusy()
    this.#replacing++
    try {
      const own = this.#supervisor.replaceAll(isReload)
      await (this.#annexes === null ? own : this.#annexes.replacedWith(own, isReload))
    } finally {
      this.#replacing--
      this.#liveness.onIdle()
    }
  }

  #taskCounts(): PoolStats['tasks'] {
    const { waiting, inFlight, arriving } = this.#dispatcher
    const counts = { ...this.#counters.snapshot(), waiting, inFlight: inFlight + arriving }
    for (const annex of this.#annexes?.opened ?? []) {
      const others = annex.#taskCounts()
      for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] += others[key]
    }
    return counts
  }

  #handlerStats(): HandlerStats[] {
    const own = this.#worth?.handlers ?? []
    return own.concat(...(this.#annexes?.opened ?? []).map(annex => annex.#handlerStats()))
  }

  #sum(own: number, of: (annex: Pool) => number): number {
    return (this.#annexes?.opened ?? []).reduce((total, annex) => total + of(annex), own)
  }

  #openAnnex(backend: BackendKind, options: PoolOptions, clock: Clock, workerIds: WorkerIds): Annex {
    const own: PoolOptions = {
      ...options,
      backend,
      handlers: undefined,
      queue: anotherQueue(this.#settings.queue),
      // What the pool does for its annexes too.
      closeOnSignals: undefined,
      callerStack: undefined,
    }
    const house = { admission: this.#admission, timings: this.#timings, workerIds }
    const annex = new Pool(own, { clock, house })
    annex.on('error', error => this.#tellError(error))
    annex.on('message', (value, worker) => this.emit('message', value, worker))
    annex.on('workerCreate', worker => this.emit('workerCreate', worker))
    annex.on('workerDestroy', worker => this.emit('workerDestroy', worker))
    return { pool: annex, load: annex.#dispatcher }
  }

  /** Of all backends. */
  get #allSlots(): number {
    return this.#slots * (1 + (this.#annexes?.count ?? 0))
  }

  get #slots(): number {
    return this.#settings.maxThreads * this.#settings.concurrentTasksPerWorker
  }

  #startMinimum(): void {
    try {
      while (this.#supervisor.workers.length < this.#settings.minThreads) this.#supervisor.spawn()
    } catch (failure) {
      void this.#supervisor.stop(new PoolClosedError('destroyed'))
      this.#liveness.end()
      throw startProblem(failure)
    }
  }

  #accept(request: TaskRequest, resolve: (value: unknown) => void, reject: (reason: unknown) => void): void {
    const { limit } = this.#admission
    const mustStartNow = limit !== Number.POSITIVE_INFINITY && this.#admission.waiting >= limit
    if (mustStartNow && (this.#dispatcher.queueSize > 0 || this.#dispatcher.inFlight >= this.#slots)) {
      return reject(new QueueFullError(limit))
    }
    this.#lastTaskId = nextTaskId(this.#lastTaskId)
    const handlerId = this.#dispatcher.handlers.idOf(request.handler)
    const task = new Task(this.#lastTaskId, request, handlerId, this.#clock.now(), resolve, reject)
    this.#counters.onAccepted()
    if (this.#counters.pending === 1) this.#liveness.onBusy()
    this.#cancellation.watch(task, request.limits)
    this.#dispatcher.submit(task)
    const isStillWaiting = task.state === 'queued' || task.state === 'assigned'
    if (
      mustStartNow &&
      isStillWaiting &&
      this.#admission.waiting > limit &&
      this.#dispatcher.withdraw(task)
    ) {
      this.#settler.reject(task, new QueueFullError(limit))
      this.#counters.onRefused()
    }
    this.#admission.onAccepted()
  }

  #onSettled(task: Task, wasAssigned: boolean): void {
    this.#cancellation.release(task)
    this.#counters.onSettled(task.outcome!, wasAssigned)
    if (this.#counters.pending > 0) return
    if (this.#closing === null) this.#liveness.onIdle()
    else queueMicrotask(() => this.#finishIfIdle())
  }

  #beginClosing(): Closing {
    movePool(this.#life, 'closing')
    this.#liveness.onBusy()
    this.#admission.close()
    this.#supervisor.keepNoMinimum(new PoolClosedError('closed'))
    const closing = new Closing()
    closing.limit = this.#clock.after(this.#settings.closeTimeout, () => {
      if (closing.isShuttingDown) closing.timedOut = this.#supervisor.cutOffTeardowns()
      else {
        closing.timedOut = true
        this.#shutDown(new PoolClosedError('timeout'))
      }
    })
    return closing
  }

  /** The handlers of cancelled tasks get their time as well. */
  #finishIfIdle(): void {
    if (this.#closing !== null && this.#counters.pending === 0 && !this.#dispatcher.hasCondemned)
      this.#shutDown(new PoolClosedError('destroyed'), true)
  }

  /** Rejects what is left and ends the workers; the one way to `closed`. */
  #shutDown(error: PoolClosedError, isPlanned = false): void {
    const closing = this.#closing!
    if (closing.isShuttingDown) return
    closing.isShuttingDown = true
    if (!isPlanned) closing.limit?.cancel()
    this.#dispatcher.rejectWaiting(error)
    this.#dispatcher.rejectArriving(error)
    const stopped = isPlanned ? this.#supervisor.finish(error) : this.#supervisor.stop(error)
    this.#dispatcher.rejectWaiting(error)
    void Promise.all([this.#annexes?.ended(), stopped]).then(([annexed]) => {
      closing.limit?.cancel()
      // What a worker gave with its last breath may be here since.
      this.#dispatcher.rejectWaiting(error)
      this.#dispatcher.rejectArriving(error)
      this.#cancellation.end()
      movePool(this.#life, 'closed')
      this.#liveness.end()
      this.#stopListening()
      const { timedOut } = closing
      const cutOff = this.#settler.cutOffCount
      if (annexed === undefined) closing.resolve({ cutOff, timedOut })
      else closing.resolve({ cutOff: cutOff + annexed.cutOff, timedOut: timedOut || annexed.timedOut })
      this.#tell('close')
    })
  }

  /** Events are told when the pool's own work is done, so that a listener may call the pool. */
  #tell<Name extends keyof PoolEvents>(name: Name, ...args: PoolEvents[Name]): void {
    queueMicrotask(() => (this as EventEmitter).emit(name, ...args))
  }

  #tellError(error: unknown): void {
    queueMicrotask(() => {
      if (this.listenerCount('error') > 0) this.emit('error', error)
    })
  }
}
