// One worker as the host sees it, from its start to its end. Handles the worker's messages, asks the worker to leave or
// to stop, and kills it if that takes too long.
import type { ResourceLimits } from 'node:worker_threads'
import type { PoolIdentity } from '../../api/channels.js'
import type { AdaptStart } from '../../api/pool-options.js'
import type { WorkerState, WorkerStopReason, WorkerView } from '../../api/worker-view.js'
import { type PoolError, TeardownError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import { deserializeError, type ErrorClasses } from '../../shared/errors/serialize-error.js'
import { type HandlerRef, loadingFiles } from '../../shared/messages/handler-ref.js'
import {
  type Bell,
  type MessageOfTasks,
  type MessageOfWorker,
  type Receiver,
  receiversOnHost,
  type ToHost,
  type WorkerLimits,
} from '../../shared/messages/messages.js'
import { describe, mayHoldOptions, ownFields } from '../../shared/options/option-table.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import type { Clock } from '../../shared/platform/clock.js'
import { invariant } from '../../shared/platform/invariant.js'
import { within } from '../../shared/platform/within.js'
import type { Backend, LinkListener, WorkerLink } from '../backend/backend.js'
import type { Slots, SlotWorker } from '../lane/slots.js'
import { DurationHistogram } from '../metrics/histogram.js'
import { ExitReason } from './exit-reason.js'
import type { PlacementView } from './placement.js'
import { WorkerQuestions } from './questions.js'
import type { BusyView } from './scaling.js'
import type { StartCalls } from './start-calls.js'
import { WorkerExit } from './worker-exit.js'
import { leavingLives, lifeOnReady, moveWorker, shownStates, type WorkerLife } from './worker-life.js'
import type { ProbedWorker, ProfileOrder, WorkerProbe } from './worker-probe.js'
import { type Lane, WorkerTasks } from './worker-tasks.js'
import { View, type ViewedWorker } from './worker-view.js'
import { heapLimitOf, limitsHeap, warnOfHeap } from './worker-warnings.js'

/** How long a planned stop waits for the recorders. */
const LONGEST_PROBE_MS = 500

export interface WorkerSettings {
  concurrentTasksPerWorker: number
  workerHistogram: boolean
  niceIncrement: number
  recordTiming: boolean
  maxTasksPerWorker: number
  maxWorkerMemoryMb: number
  /** Milliseconds. */
  setupTimeout: number
  /** Milliseconds. */
  teardownTimeout: number
  /** The handler that the worker loads before it is ready. `null` when the pool has no file. */
  preload: HandlerRef | null
  /** A new worker runs them before it is ready. */
  startCalls: StartCalls
  pool: PoolIdentity
  workerOptions: Record<string, unknown>
  adaptStart: AdaptStart | null
  errorClasses: ErrorClasses
  lane: Lane
}

/** The death of a worker. `error` is the error for its started tasks. */
export interface Death {
  wasReady: boolean
  error: unknown
}

/** The events of workers that concern their tasks. The scheduler implements it. */
export interface TaskListener {
  onReady(worker: Worker): void
  onMessage(worker: Worker, message: Bell | MessageOfTasks): void
  /** The host could not read a message of the worker. */
  onUnreadable(worker: Worker): void
  /** The host stops or kills the worker. Its tasks return to the queue or fail. */
  onGivenUp(worker: Worker, error: PoolError): void
  /** The worker leaves. Its unstarted tasks return to the queue, except tasks that no other worker can run. */
  onLeaving(worker: Worker): void
  /** A worker that the host stopped or killed has ended. */
  onGone(worker: Worker): void
  /** The worker died. Returns true when a caller received the error. */
  onLost(worker: Worker, death: Death): boolean
  /** The pause after failed starts is over, so the pool may start workers again. */
  onPauseOver(): void
}

/** The events that the pool reports to its user. */
export interface WorkerEvents {
  /** An error that no caller receives. */
  onError(error: unknown): void
  /** A worker died, and no caller received the error. */
  onUnreportedDeath(worker: Worker, death: Death): void
  onUserMessage(worker: Worker, value: unknown): void
  /** Lines of loggers in the worker. */
  onLog(worker: Worker, lines: string): void
  onCreated(worker: Worker): void
  onDestroyed(worker: Worker): void
  /** The thread or the process has ended. */
  onExited(worker: Worker): void
}

/** The group of a worker, as far as the worker uses it. */
export interface WorkerOwner {
  readonly settings: WorkerSettings
  readonly backend: Backend
  readonly clock: Clock
  readonly taskListener: TaskListener
  readonly events: WorkerEvents
  /** The recorders that watch the pool. */
  readonly probes: ReadonlySet<WorkerProbe>
  onReady(worker: Worker): void
  /** The worker accepts no more tasks. */
  onLeaving(worker: Worker): void
  onMemoryExceeded(worker: Worker): void
  /** The worker ends before requests of its handlers are finished. */
  onUnfinished(worker: Worker, requests: readonly string[]): void
  /** The host stops or kills the worker. Called before its tasks return to the queue. */
  onDraining(worker: Worker): void
  /** The host has asked the worker to stop, or has killed it. */
  onStopping(worker: Worker): void
  /** A worker that the host stopped or killed has ended. */
  onStopped(worker: Worker): void
  /** The worker ended although the host had not stopped or killed it. */
  onDied(worker: Worker, wasReady: boolean): void
}

export class Worker implements LinkListener, PlacementView, BusyView, SlotWorker, ViewedWorker, ProbedWorker {
  readonly id: number
  readonly tasks: WorkerTasks
  readonly histogram: DurationHistogram | null
  readonly view: WorkerView
  readonly exitReason: ExitReason
  readonly link: WorkerLink
  /** Node's id of the thread, also after its end; -1 for a process. */
  readonly threadId: number
  /** The pool's limit of the old generation. `null`: none. */
  readonly heapLimitMb: number | null
  readonly startedAt: number
  /** Resolves when the worker has ended. */
  readonly ended: Promise<void>
  readonly #owner: WorkerOwner
  life: WorkerLife = 'starting'
  /** True until the worker reports that its file is loaded. */
  mayBeLoading = true
  /** A loaded module of the worker exports a teardown. */
  hasTeardown = false
  idleSince: number
  /** Set when the pool decides to stop the worker, which may serve until its replacement is ready. */
  stopReason: WorkerStopReason | null = null
  /** As the worker last reported it. */
  memoryBytes: number | null = null
  /** The same for its heap alone. */
  heapBytes: number | null = null
  /** The time for which its thread or process used cores, as it last reported. */
  cpuMs: number | null = null
  /** How many tasks the worker has answered. */
  answers = 0
  /** The sum of the run times of these tasks. */
  runMs = 0
  /** When it became ready, or answered its last task. */
  freedAt = 0
  /** Why the worker stopped in whose place this one was started. `null`: the pool grew. */
  readonly replaced: WorkerStopReason | null
  readonly questions = new WorkerQuestions()
  #resolveEnded!: () => void
  readonly #exit: WorkerExit

  /** Starts the worker. Throws the error of the runtime. */
  constructor(id: number, owner: WorkerOwner, replaced: WorkerStopReason | null = null) {
    const { settings, backend, clock } = owner
    const { preload, startCalls, niceIncrement, setupTimeout, workerOptions, adaptStart } = settings
    this.id = id
    this.replaced = replaced
    this.#owner = owner
    this.tasks = new WorkerTasks(id, settings.lane)
    this.histogram = settings.workerHistogram ? new DurationHistogram() : null
    this.view = new View(this)
    this.#exit = new WorkerExit(this, clock, settings.teardownTimeout, owner.events)
    this.exitReason = new ExitReason(id, preload, settings.errorClasses)
    this.heapLimitMb = heapLimitOf(workerOptions.resourceLimits as ResourceLimits | undefined)
    this.startedAt = clock.now()
    this.idleSince = this.startedAt
    // A promise keeps the async context of its creation. Here that would be the context of one caller of the pool.
    this.ended = withoutCaller(
      () =>
        new Promise(resolve => {
          this.#resolveEnded = resolve
        }),
    )
    const spec = {
      lane: this.tasks.order(),
      preload,
      preloadId: preload === null ? 0 : settings.lane.handlers.numberOf(preload),
      loading: [...loadingFiles()],
      startCalls: startCalls.calls,
      niceIncrement,
      setupTimeoutMs: setupTimeout,
      limits: limitsOf(settings),
      checksHeap: limitsHeap(workerOptions.resourceLimits as ResourceLimits | undefined),
      measures: settings.recordTiming,
      origin: { pool: settings.pool, workerId: id },
      workerOptions: adaptStart === null ? workerOptions : adapted(workerOptions, adaptStart, id),
    }
    // The handles in `workerData` are older than the pool.
    const { payloads } = settings.lane
    this.link = withoutCaller(() => payloads.send(Number.NEGATIVE_INFINITY, () => backend.start(spec, this)))
    this.threadId = this.link.threadId
  }

  get state(): WorkerState {
    return shownStates[this.life]
  }

  get isReady(): boolean {
    return this.state === 'ready'
  }

  /** The worker accepts no more tasks, and stops when it holds none. */
  get isLeaving(): boolean {
    return leavingLives.has(this.life)
  }

  /** The host has asked the worker to run its teardown and to stop, and has not killed it since. */
  get isStopping(): boolean {
    return this.life === 'stopping' || this.life === 'cutOff'
  }

  get slots(): number {
    return this.#slots.sizeOf(this)
  }

  get usage(): number {
    return this.#slots.usedBy(this)
  }

  get isExclusive(): boolean {
    return this.#slots.isExclusiveOn(this.id)
  }

  get isIdle(): boolean {
    return this.usage === 0
  }

  get claimed(): number {
    return this.tasks.claimed
  }

  /** The worker holds no task, and the host has collected all its answers. */
  get isEmpty(): boolean {
    return this.isIdle && this.tasks.list().length === 0
  }

  get #slots(): Slots {
    return this.#owner.settings.lane.posted.slots
  }

  /**
   * The worker has started as many tasks as it may, judged by its answers. Its message that it leaves may be on its
   * way.
   */
  get hasReachedTaskLimit(): boolean {
    return this.answers + this.usage >= this.#owner.settings.maxTasksPerWorker
  }

  /** True when the worker has started a task, answered or not. */
  get hasWorked(): boolean {
    return this.answers > 0 || this.tasks.list().some(task => this.tasks.hasStarted(task))
  }

  // Stop and kill.

  /** The worker finishes its started tasks and stops. */
  leave(reason: WorkerStopReason): void {
    const isStarting = this.life === 'starting'
    if (!isStarting && this.life !== 'ready') return
    this.stopReason ??= reason
    if (!isStarting && this.tasks.retire()) return this.stop(reason)
    moveWorker(this, isStarting ? 'leavingEarly' : 'leaving')
    this.#owner.onLeaving(this)
    // If a starting worker holds a task, it is in fact ready, and its message is on its way.
    if (isStarting && this.isEmpty) return this.stop(reason)
    this.link.post({ kind: 'leave' })
  }

  /** Call it when the worker may have lost its last task. */
  stopIfDone(): void {
    if (this.life === 'left' && this.isEmpty) this.stop(this.stopReason!)
  }

  /** Asks the worker to run its teardown and to stop, after it has loaded its file. The worker must hold no task. */
  stop(reason: WorkerStopReason, error: PoolError = new WorkerExitError(this.id, 0)): void {
    this.stopReason ??= reason
    this.#drain('stopping', error)
    this.#afterProbes(() => {
      if (this.life !== 'stopping') return
      this.link.post({ kind: 'stop' })
      this.#exit.limitStop()
    })
    this.#owner.onStopping(this)
  }

  /** The recorders fetch the profile of a worker before it stops. */
  #afterProbes(stop: () => void): void {
    const { probes, clock } = this.#owner
    const waits = [...probes].map(probe => probe.beforeStop(this)).filter(wait => wait !== undefined)
    if (waits.length === 0) return stop()
    void within(clock, LONGEST_PROBE_MS, Promise.allSettled(waits), () => {}).then(stop)
  }

  /**
   * Ends the worker without a teardown, also in its teardown: it is asked to exit, and killed if it does not. Resolves
   * when the worker has ended.
   */
  kill(reason: WorkerStopReason, error: PoolError = new WorkerExitError(this.id, 1)): Promise<void> {
    if (this.life === 'exited' || this.life === 'killed') return this.ended
    const { life } = this
    if (this.isStopping) moveWorker(this, 'killed')
    else {
      this.stopReason = reason
      this.#drain('killed', error)
    }
    if (life !== 'cutOff') this.#exit.ask()
    if (life !== 'cutOff' && life !== 'stopping') this.#owner.onStopping(this)
    return this.ended
  }

  #drain(next: 'stopping' | 'killed', error: PoolError): void {
    moveWorker(this, next)
    this.tasks.dismiss()
    this.#owner.onDraining(this)
    this.#owner.taskListener.onGivenUp(this, error)
  }

  askForProfile(order: ProfileOrder): void {
    this.link.post({ kind: 'profile', order })
  }

  // Messages and events of the worker.

  onMessage(message: ToHost): void {
    const { taskListener } = this.#owner
    // A bell message is for the whole pool, so the host handles it also from a draining worker.
    if (message === 'bell') return taskListener.onMessage(this, message)
    const { by, isLate }: Receiver = receiversOnHost[message.kind]
    if (this.state === 'draining' && isLate !== true) return
    if (by === 'tasks') taskListener.onMessage(this, message as MessageOfTasks)
    else this.#receive(message as MessageOfWorker)
  }

  #receive(message: MessageOfWorker): void {
    switch (message.kind) {
      case 'ready':
        if (message.heapExcess) warnOfHeap(message.heapExcess)
        return this.#onReady()
      case 'start-failed':
        return this.exitReason.onStartFailed(message)
      case 'leaving':
        return this.#onLeft()
      case 'memory-exceeded':
        this.memoryBytes = message.memoryBytes ?? this.memoryBytes
        return this.#owner.onMemoryExceeded(this)
      case 'has-teardown':
        return this.#onTeardownFound()
      case 'teardown-failed':
        return this.#onTeardownFailed(deserializeError(message.error, this.#owner.settings.errorClasses))
      case 'unfinished':
        return this.#onUnfinished(message)
      case 'log':
        return this.#owner.events.onLog(this, message.lines)
      case 'asked':
        return this.questions.onAnswer(message.filename, message.result)
      case 'crashed':
        return this.exitReason.onCrashed(message)
      case 'profile':
        for (const probe of this.#owner.probes) probe.onProfile(this, message.profile)
    }
  }

  onUnreadable(): void {
    if (this.state !== 'draining') this.#owner.taskListener.onUnreadable(this)
  }

  onUserMessage(value: unknown): void {
    this.#owner.events.onUserMessage(this, value)
  }

  onExit(exitCode: number, error: unknown, signal: NodeJS.Signals | null = null): void {
    const { exitReason, isStopping, state } = this
    exitReason.onExit(exitCode, error, signal)
    moveWorker(this, 'exited')
    this.#exit.end()
    this.questions.end()
    this.#resolveEnded()
    if (state !== 'draining') this.stopReason = 'death'
    for (const probe of this.#owner.probes) probe.onEnded(this)
    this.#owner.events.onExited(this)
    if (state !== 'draining') return this.#owner.onDied(this, state === 'ready')
    const { stopError } = exitReason
    // Before the file is loaded, the worker has no teardown that could fail.
    if (isStopping && !this.mayBeLoading && stopError !== undefined) this.#onTeardownFailed(stopError)
    this.#owner.onStopped(this)
  }

  #onReady(): void {
    const next = lifeOnReady[this.life]
    invariant(next !== undefined, 'a worker says once that it is ready')
    moveWorker(this, next)
    this.mayBeLoading = false
    this.idleSince = this.#owner.clock.now()
    this.freedAt = this.idleSince
    this.#owner.onReady(this)
  }

  #onLeft(): void {
    moveWorker(this, this.isReady ? 'left' : 'leftEarly')
    // The message may arrive before the host has read the last answers from the ring.
    const started = this.answers + this.tasks.list().length
    this.stopReason ??= started >= this.#owner.settings.maxTasksPerWorker ? 'maxTasksPerWorker' : 'load'
    this.#owner.onLeaving(this)
    this.stopIfDone()
  }

  #onTeardownFound(): void {
    this.hasTeardown = true
    if (this.life !== 'stopping') return
    this.mayBeLoading = false
    this.#exit.limitTeardown(0)
  }

  #onUnfinished({ requests, isCutOff }: Extract<ToHost, { kind: 'unfinished' }>): void {
    if (isCutOff) return this.#owner.onUnfinished(this, requests)
    if (this.life !== 'stopping') return
    this.#exit.allowUnfinished()
  }

  #onTeardownFailed(cause: unknown): void {
    const { settings, events } = this.#owner
    events.onError(new TeardownError(this.id, settings.teardownTimeout, cause))
  }
}

/** The limits that the worker checks itself. `null`: no limits. */
function limitsOf({ maxTasksPerWorker, maxWorkerMemoryMb }: WorkerSettings): WorkerLimits | null {
  if (Math.min(maxTasksPerWorker, maxWorkerMemoryMb) === Number.POSITIVE_INFINITY) return null
  return { tasks: maxTasksPerWorker, bytes: maxWorkerMemoryMb * 2 ** 20 }
}

/** The options with which an adapter starts this worker. Throws a `TypeError`. */
function adapted(workerOptions: object, adaptStart: AdaptStart, id: number): Record<string, unknown> {
  const given: unknown = adaptStart(workerOptions as Record<string, unknown>, id)
  if (mayHoldOptions(given)) return ownFields(given as Record<string, unknown>)
  throw new TypeError(`adaptStart() must return the options of a worker, got ${describe(given)}`)
}
