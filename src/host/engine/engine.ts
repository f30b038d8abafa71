// The door of the core: what a pool can do, in few verbs. The public class, the calls and the adapters are its clients.
import type { CloseReport } from '../../api/call-options.js'
import type { PoolIdentity } from '../../api/channels.js'
import type { QuestionListener } from '../../api/figures.js'
import type { AdaptStart, PoolSettings } from '../../api/pool-options.js'
import type { PoolState } from '../../api/stats.js'
import type { WorkerView } from '../../api/worker-view.js'
import { sendBeforePool } from '../../shared/codec/handle.js'
import { PoolClosedError, type PoolError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { ownFields } from '../../shared/options/option-table.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import { type Clock, realClock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Backend } from '../backend/backend.js'
import { ThreadBackend } from '../backend/thread-backend.js'
import { DurationMetrics } from '../metrics/duration-metrics.js'
import { HandlerMetrics } from '../metrics/handler-metrics.js'
import { HandlerTasks } from '../metrics/handler-tasks.js'
import { PerformanceWarnings } from '../metrics/performance-warnings.js'
import { TaskMetrics } from '../metrics/task-metrics.js'
import type { CoreSettings } from '../options/settings.js'
import type { Call, CallTerms } from '../task/call.js'
import type { Task } from '../task/task.js'
import { refusedStart } from '../workers/exit-reason.js'
import { WorkerOutput } from '../workers/output.js'
import type { PoolSize } from '../workers/scaling.js'
import type { WorkerProbe } from '../workers/worker-probe.js'
import { Admission } from './admission.js'
import { BackPressure } from './back-pressure.js'
import { backendOf } from './backend-of.js'
import type { ShutdownParts } from './close.js'
import { type Core, createCore } from './core.js'
import { KeepAlive } from './keep-alive.js'
import { forgetPlace, listPool, shutDown, unwatchPool, watchPool } from './open-pools.js'
import type { PoolEnd, PoolLife } from './pool-life.js'
import { PoolRef } from './pool-ref.js'
import { nextPoolId, type PoolEmitter, Reports } from './reports.js'
import { Stats, slotsOf } from './stats.js'
import type { WorkerLogs } from './worker-logs.js'

/** What is not in the settings. Tests of the host pass stand-ins for threads and time. */
export interface EngineParts {
  /** Default: the clock of the program. */
  clock?: Clock
  /** Default: the backend that the option names. A pool whose first thread has started passes its backend. */
  backend?: Backend
  /** Default: `DECODE_SLICE_MS`. */
  decodeSliceMs?: number
  /** Adapters change the options with which a worker starts. */
  adaptStart?: AdaptStart
}

export class Engine {
  readonly settings: CoreSettings
  readonly clock: Clock
  /** The value of `pool.options`, frozen. */
  options: PoolSettings
  /** The pool in the messages of channels. */
  readonly identity: PoolIdentity
  readonly stats: Stats
  readonly logs: WorkerLogs
  /** `null` without the option `output: 'pipe'`. */
  readonly output: WorkerOutput | null
  /** Held, because its listeners must live as long as a call. */
  readonly pool: PoolEmitter
  readonly #core: Core
  readonly #life: PoolLife = { state: 'open', end: null }
  readonly #reports: Reports
  readonly #admission: Admission
  readonly #backPressure: BackPressure
  readonly #keepAlive: KeepAlive
  readonly #shutdownParts: ShutdownParts

  /**
   * Starts `minWorkers` workers. Throws `InvalidOptionError` and `WorkerStartError`.
   * @param pool emits the events
   * @param place the file and line that create the pool; `null`: not known
   */
  constructor(settings: CoreSettings, pool: PoolEmitter, place: string | null, parts?: EngineParts) {
    // No function here refers to `this` or to `pool`: running threads hold the parts, and must not hold the pool.
    const { clock = realClock, backend: given, decodeSliceMs, adaptStart = null } = ownFields(parts ?? {})
    const { label, recordTiming } = settings
    const backend = given ?? backendOf(settings)
    if (settings.handlerProblem !== null) warnOfProgram(settings.handlerProblem)
    this.settings = settings
    this.options = settings.options
    this.clock = clock
    this.pool = pool
    this.output = settings.output === 'pipe' ? new WorkerOutput() : null
    const life = this.#life
    const identity = { id: nextPoolId(), label }
    this.identity = identity
    const taskMetrics = new TaskMetrics()
    const ref = new PoolRef<PoolEmitter>(pool)
    const reports = new Reports(ref, identity, this.output)
    this.#reports = reports
    this.logs = reports.logs
    this.#keepAlive = new KeepAlive(clock, ref, taskMetrics, life)
    const handlerTasks = new HandlerTasks()
    const durationMetrics = recordTiming ? new DurationMetrics(handlerTasks) : null
    const warnings = settings.performanceWarnings
      ? new PerformanceWarnings(label, settings.concurrentTasksPerWorker)
      : null
    const handlerMetrics = recordTiming ? new HandlerMetrics(warnings) : null
    this.#core = createCore({
      settings,
      backend,
      clock,
      identity,
      handlerTasks,
      durationMetrics,
      handlerMetrics,
      decodeSliceMs,
      adaptStart,
      workerEvents: reports,
      events: {
        onSettled: (task, outcome, wasAssigned) => admission.onSettled(task, outcome, wasAssigned),
        onLeft: () => backPressure.onLeft(),
        pendingTasks: () => taskMetrics.pending,
        onNoneCancelled: () => inMicrotask(() => life.end?.finishIfIdle()),
      },
    })
    const core = this.#core
    const { handlers, payloads, settler, traced, cancelTriggers, group, pump, startCalls, largeResults } =
      core
    const { slots } = core.posted
    const backPressure = new BackPressure({
      limit: settings.maxQueue,
      slots: slotsOf(settings),
      clock,
      ledger: slots,
      decoding: largeResults,
      listener: reports,
    })
    this.#backPressure = backPressure
    const admission = new Admission({
      settings,
      clock,
      life,
      taskMetrics,
      handlerTasks,
      keepAlive: this.#keepAlive,
      backPressure,
      handlers,
      payloads,
      slots,
      pump,
      cancelTriggers,
      settler,
      traced,
      onError: error => reports.onError(error),
    })
    this.#admission = admission
    this.stats = new Stats({
      id: identity.id,
      settings,
      clock,
      life,
      taskMetrics,
      handlerTasks,
      durationMetrics,
      handlerMetrics,
      pump,
      waiting: core.waiting,
      groups: core.groups,
      requeue: core.requeue,
      largeResults,
      group,
      backPressure,
    })
    reports.stats = this.stats
    const { output } = this
    const unlist = listPool(pool)
    this.#shutdownParts = {
      clock,
      closeTimeout: settings.closeTimeout,
      life,
      keepAlive: this.#keepAlive,
      taskMetrics,
      backPressure,
      pump,
      cancelling: core.cancelling,
      gracePeriods: core.gracePeriods,
      group,
      cancelTriggers,
      settler,
      onClosed: () => {
        pump.releaseQueue()
        startCalls.end()
        payloads.end()
        forgetPlace(place)
        unlist()
        output?.end()
        reports.onClosed()
      },
    }
    this.#startMinimum()
    watchPool(this, place, this.#shutdownParts)
  }

  /** Call it when the pool is complete. Publishes that it is open. */
  announce(): void {
    this.#reports.onOpened()
  }

  #startMinimum(): void {
    const { group, payloads, pump } = this.#core
    const { size, handler } = this.settings
    try {
      while (group.workers.length < size.minWorkers) group.starts.spawn()
    } catch (failure) {
      void group.killAll(new PoolClosedError('destroyed'))
      this.#keepAlive.end()
      pump.releaseQueue()
      payloads.end()
      throw refusedStart(failure, handler, 1)
    }
  }

  // Tasks.

  /** Throws the error with which the pool refuses a call with these terms. */
  check(terms: CallTerms): void {
    this.#admission.check(terms)
  }

  /**
   * Accepts a task. Throws the error with which the pool refuses it.
   * @param settle called once, with the result or a `Rejection`
   */
  submit(call: Call, settle: (answer: unknown) => void): Task {
    this.#admission.check(call.terms)
    return this.#admission.accept(call, settle)
  }

  /** Rejects the caller at once. A started handler is asked to stop. */
  cancel(task: Task, error: PoolError): void {
    this.#core.cancelling.cancel(task, error)
  }

  /** Rejects the tasks without a slot. */
  cancelQueued(reason: unknown): void {
    this.#core.cancelling.cancelWaiting(() => new TaskCancelledError(reason, 'cancelQueued() was called'))
  }

  /** Resolves when `submit()` will find a place. The place is kept for the rest of the turn of the event loop. */
  room(signal: AbortSignal | null): Promise<void> {
    return this.#admission.room(signal)
  }

  /** The terms with the async context of the caller, for a call whose tasks come later. */
  inContext(terms: CallTerms): CallTerms {
    return this.#admission.inContext(terms)
  }

  /**
   * Takes the payload of a call whose task comes later. Throws `NotCloneableError`.
   * @returns gives the call with the taken payload; throws when a resource in it was released since
   */
  take(call: Call): () => Call {
    const taken = this.#core.payloads.takeEarly(call, this.clock.now())
    return () => taken(this.clock.now())
  }

  /** How many tasks may run at once. */
  get slots(): number {
    return slotsOf(this.settings)
  }

  // All workers at once.

  /** Encodes a payload for all workers. They get what it carries first. */
  encode<T>(encode: () => T): T {
    return this.#core.payloads.send(this.clock.now(), encode)
  }

  /** Workers that start later run the call before their first task, until the signal of its terms aborts. */
  callOnNewWorkers({ payload, terms: { handler, signal } }: Call): void {
    const { startCalls, handlers } = this.#core
    startCalls.keep({ handlerId: handlers.numberOf(handler), handler }, payload, signal)
  }

  /** Accepts a part of a call that the pool accepted before: beside the limit of the queue, and also while the pool closes. */
  submitPart(call: Call, settle: (answer: unknown) => void): Task {
    const task = this.#admission.enter(call, settle)
    this.#backPressure.onLeft()
    return task
  }

  // Workers.

  /** The workers that are starting or ready. */
  get workers(): WorkerView[] {
    return this.#core.group.workers.map(worker => worker.view)
  }

  /** The workers that start or accept tasks. A leaving worker starts no more tasks. */
  get keptWorkerIds(): number[] {
    return this.#core.group.keptWorkers.map(({ id }) => id)
  }

  /** Calls the probe back for each worker that is alive, and for later ones. Returns the function that ends it. */
  watchWorkers(probe: WorkerProbe): () => void {
    const { probes, workers } = this.#core.group
    probes.add(probe)
    for (const worker of workers) probe.onStarted(worker)
    return () => probes.delete(probe)
  }

  /** Resolves when `minWorkers` workers are ready. */
  async ready(): Promise<void> {
    await this.#keepAlive.during(() => this.#core.group.whenReady())
  }

  /** Replaces all workers, one after another. */
  async replaceAll(reason: 'recycle' | 'reload'): Promise<void> {
    await this.#keepAlive.during(() => this.#core.group.replaceAll(reason))
  }

  resize(size: PoolSize): void {
    const { group, pump } = this.#core
    Object.assign(this.settings.size, size)
    this.options = Object.freeze({ ...this.options, ...size })
    this.stats.onResized()
    group.onResized()
    pump.pump()
    this.#backPressure.resize(slotsOf(this.settings))
  }

  /**
   * Calls the default export of a file in each worker that starts or is ready. These calls are no tasks: nothing counts them, and a worker
   * answers them also between two turns of a task.
   */
  ask(filename: string, listenerOf: (workerId: number) => QuestionListener | null): void {
    for (const { id, link, questions } of this.#core.group.workers) {
      const listener = listenerOf(id)
      if (listener !== null) questions.ask(link, filename, listener)
    }
  }

  // Life.

  get state(): PoolState {
    return this.#life.state
  }

  /** Accepted tasks run first. With `force`, queued tasks are rejected. */
  close(force: boolean): Promise<CloseReport> {
    return this.#end().close(force)
  }

  /** Rejects all tasks and kills all workers now. */
  async destroy(): Promise<void> {
    await this.#end().destroy()
  }

  #end(): PoolEnd {
    unwatchPool(this)
    return shutDown(this.#shutdownParts)
  }
}

/**
 * Starts the first thread of a pool before its other parts exist, because a thread needs long to start.
 * @returns the backend of the pool
 */
export function startAhead(workerOptions: Record<string, unknown>): Backend {
  const backend = new ThreadBackend()
  try {
    sendBeforePool(() => withoutCaller(() => backend.startAhead(workerOptions)))
  } catch {
    // The pool starts the thread again, and reports why it cannot start.
  }
  return backend
}

function warnOfProgram(problem: string): void {
  process.emitWarning(
    `A worker runs a file of the program that creates a pool. The handler's file of that pool ${problem}.`,
    { type: 'LidoWarning', code: 'LIDO_PROGRAM_IN_WORKER' },
  )
}
