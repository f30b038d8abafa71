// One worker as the host knows it, from its start to its end. It reads the worker's messages, asks the worker to leave or to
// stop, and kills it when that takes too long.
import { type PoolError, TeardownError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import { deserializeError, type ErrorClasses } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { Bell, ToHost, WorkerLimits } from '../../shared/messages/messages.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'
import type { Backend, LinkListener, WorkerLink } from '../backend/backend.js'
import { DurationHistogram } from '../metrics/histogram.js'
import type { PlacementView } from '../scheduler/placement.js'
import type { BusyView } from '../scheduler/scaling.js'
import type { Task } from '../task/task.js'
import { ExitReason } from './exit-reason.js'
import { type Lane, WorkerTasks } from './worker-tasks.js'
import { type ViewedWorker, type WorkerState, WorkerView } from './worker-view.js'

export const workerStates: StateTable<WorkerState> = {
  /** draining: the host ends it before it is ready */
  spawning: ['ready', 'draining', 'exited'],
  ready: ['draining', 'exited'],
  /** the host has asked it to end; it accepts no tasks */
  draining: ['exited'],
  exited: [],
}

/**
 * How long a worker that may be loading gets to end itself, however often the host asks. Node 20 to 24 abort when a thread is
 * killed in `require(esm)`.
 */
const LOADING_GRACE_MS = 250
/** How long a worker without a teardown gets to write out what it printed, and to end itself. */
const QUICK_STOP_MS = 1000

export interface WorkerSettings {
  concurrentTasksPerWorker: number
  workerHistogram: boolean
  niceIncrement: number
  recordTiming: boolean
  maxTasksPerWorker: number
  maxWorkerMemoryMb: number
  /** Milliseconds. */
  teardownTimeout: number
  /** Loaded before the worker is ready. `null` when the pool has no file. */
  preload: HandlerRef | null
  workerOptions: Record<string, unknown>
  errorClasses: ErrorClasses
  lane: Lane
}

/** Why a worker died. `error` is for its started tasks. */
export interface Death {
  wasReady: boolean
  error: unknown
}

/** Called for the tasks of workers. The scheduler implements it. */
export interface TaskListener {
  onReady(worker: Worker): void
  onMessage(worker: Worker, message: ToHost): void
  /** A message of the worker could not be read. */
  onUnreadable(worker: Worker): void
  /** The host ends the worker: its tasks return to the queue or fail. */
  onGivenUp(worker: Worker, error: PoolError): void
  /** The worker leaves: its unstarted tasks return to the queue, except those whose payload was moved to it. */
  onLeaving(worker: Worker): void
  /** A worker that the host has ended is gone. */
  onGone(worker: Worker): void
  /** The worker died. Returns true when some caller was told. */
  onLost(worker: Worker, death: Death): boolean
  /** Workers may be started again after failed starts. */
  onPauseOver(): void
}

/** Called for the events of the pool. */
export interface WorkerEvents {
  /** An error that no caller was told. */
  onError(error: unknown): void
  /** A worker died, and no caller was told. */
  onUnheardDeath(worker: Worker, death: Death): void
  onUserMessage(worker: Worker, value: unknown): void
  onCreated(worker: Worker): void
  onDestroyed(worker: Worker): void
}

/** What a worker needs from its group. */
export interface WorkerOwner {
  readonly settings: WorkerSettings
  readonly backend: Backend
  readonly clock: Clock
  readonly taskListener: TaskListener
  readonly events: WorkerEvents
  onReady(worker: Worker): void
  /** The worker accepts no more tasks. */
  onLeaving(worker: Worker): void
  onMemoryExceeded(worker: Worker): void
  /** The host ends the worker. Called before its tasks return to the queue. */
  onDraining(worker: Worker): void
  /** The host has asked the worker to stop, or has killed it. */
  onStopping(worker: Worker): void
  /** A worker that the host has ended is gone. */
  onStopped(worker: Worker): void
  /** The worker ended although the host had not asked for it. */
  onDied(worker: Worker, wasReady: boolean): void
}

export class Worker implements LinkListener, PlacementView, BusyView, ViewedWorker {
  readonly id: number
  readonly slots: number
  readonly tasks: WorkerTasks
  readonly histogram: DurationHistogram | null
  readonly view: WorkerView
  readonly exitReason: ExitReason
  readonly link: WorkerLink
  readonly startedAt: number
  /** Resolves when the worker has ended. */
  readonly ended: Promise<void>
  readonly #owner: WorkerOwner
  state: WorkerState = 'spawning'
  /** The worker accepts no more tasks. It ends when it holds none. */
  isLeaving = false
  /** The worker confirmed that it accepts no more tasks. */
  #hasConfirmedLeaving = false
  /** The worker was asked to run its teardown and to end, and was not killed since. */
  isStopping = false
  /** The worker has not reported that its file is loaded. */
  mayBeLoading = true
  /** A module that the worker has loaded exports a teardown. */
  hasTeardown = false
  idleSince: number
  /** Tasks that the worker has answered. */
  answers = 0
  #resolveEnded!: () => void
  /** Kills the worker when it does not end in time. */
  #killTimer: Timer | null = null

  /** Starts the worker. Throws what the runtime throws. */
  constructor(id: number, owner: WorkerOwner) {
    const { settings, backend, clock } = owner
    const { preload, niceIncrement, workerOptions } = settings
    this.id = id
    this.#owner = owner
    this.slots = settings.concurrentTasksPerWorker
    this.tasks = new WorkerTasks(id, settings.lane)
    this.histogram = settings.workerHistogram ? new DurationHistogram() : null
    this.view = new WorkerView(this)
    this.exitReason = new ExitReason(id, preload, settings.errorClasses)
    this.startedAt = clock.now()
    this.idleSince = this.startedAt
    // A promise keeps the async context in which it is made, here that of the caller who needs the worker.
    this.ended = withoutCaller(
      () =>
        new Promise(resolve => {
          this.#resolveEnded = resolve
        }),
    )
    const spec = {
      lane: this.tasks.order(),
      preload,
      niceIncrement,
      limits: limitsOf(settings),
      measures: settings.recordTiming,
      workerOptions,
    }
    this.link = withoutCaller(() => backend.start(spec, this))
  }

  get isReady(): boolean {
    return this.state === 'ready'
  }

  get usage(): number {
    return this.tasks.usage
  }

  get isExclusive(): boolean {
    return this.tasks.isExclusive
  }

  get isIdle(): boolean {
    return this.usage === 0
  }

  /** Judged by its answers, the worker has started as many tasks as it may. Its own report may be on its way. */
  get hasReachedTaskLimit(): boolean {
    return this.answers + this.usage >= this.#owner.settings.maxTasksPerWorker
  }

  /** The tasks that the worker holds, in the order in which they were accepted. */
  listTasks(): Task[] {
    return this.tasks.list()
  }

  /** True when a task started here, answered or not. */
  get hasWorked(): boolean {
    return this.answers > 0 || this.tasks.list().some(task => this.tasks.hasStarted(task))
  }

  // Its end.

  /** The worker finishes its started tasks and stops. */
  leave(): void {
    if (this.isLeaving || this.state === 'draining' || this.state === 'exited') return
    if (this.isReady && this.tasks.retire()) return this.stop()
    this.#stopAccepting()
    // A starting worker that holds a task is ready: only its message is on its way.
    if (this.state === 'spawning' && this.tasks.isEmpty) return this.stop()
    this.link.post({ kind: 'leave' })
  }

  #stopAccepting(): void {
    this.isLeaving = true
    this.#owner.onLeaving(this)
  }

  /** Call it when a task was taken from the worker. */
  stopIfDone(): void {
    if (this.isReady && this.#hasConfirmedLeaving && this.tasks.isEmpty) this.stop()
  }

  /** A worker that holds no task runs its teardown and ends. A worker that loads its file does so when the file is loaded. */
  stop(error: PoolError = new WorkerExitError(this.id, 0)): void {
    this.isStopping = true
    this.#drain(error)
    this.link.post({ kind: 'end' })
    if (this.hasTeardown) this.#killAfterTeardown()
    else this.#killAfter(this.mayBeLoading ? LOADING_GRACE_MS : QUICK_STOP_MS)
    this.#owner.onStopping(this)
  }

  /** Kills the worker, also while it runs its teardown. Resolves when it has ended. */
  kill(error: PoolError = new WorkerExitError(this.id, 1)): Promise<void> {
    if (this.state === 'exited') return this.ended
    const wasDraining = this.state === 'draining'
    this.isStopping = false
    if (!wasDraining) this.#drain(error)
    this.#terminate()
    if (!wasDraining) this.#owner.onStopping(this)
    return this.ended
  }

  #drain(error: PoolError): void {
    moveState(workerStates, this, 'draining', 'worker')
    this.tasks.dismiss()
    this.#owner.onDraining(this)
    this.#owner.taskListener.onGivenUp(this, error)
  }

  /** A worker that may be loading gets a moment to end itself. */
  #terminate(): void {
    if (this.mayBeLoading) {
      this.link.post({ kind: 'stop' })
      if (this.#killTimer === null) this.#killAfter(LOADING_GRACE_MS)
    } else {
      this.#killTimer?.cancel()
      this.link.terminate()
    }
  }

  #killAfterTeardown(): void {
    const { settings, events } = this.#owner
    const { teardownTimeout } = settings
    this.#killAfter(teardownTimeout, () => events.onError(new TeardownError(this.id, teardownTimeout)))
  }

  /** The kill comes a turn later: a busy host first hears of what was done in time. It hears of the end of a process two turns later. */
  #killAfter(delayMs: number, onLate = () => {}): void {
    const { clock } = this.#owner
    this.#killTimer?.cancel()
    const kill = () => {
      onLate()
      this.link.terminate()
    }
    const onTimeOver = () => {
      this.#killTimer = clock.nextTurn(() => {
        if (this.link.kind === 'process') this.#killTimer = clock.nextTurn(kill)
        else kill()
      })
    }
    this.#killTimer = clock.after(delayMs, onTimeOver, true)
  }

  // Its messages.

  onMessage(message: ToHost): void {
    const { taskListener } = this.#owner
    // A worker rings the host's bell for all workers, until its end.
    if (message === 'bell') return taskListener.onMessage(this, message)
    if (this.state === 'draining' && !countsWhileDraining(message)) return
    switch (message.kind) {
      case 'ready':
        return this.#onReady()
      case 'start-failed':
        return this.exitReason.onStartFailed(message.error)
      case 'leaving':
        return this.#onLeaving()
      case 'memory-exceeded':
        return this.#owner.onMemoryExceeded(this)
      case 'has-teardown':
        return this.#onTeardownFound()
      case 'teardown-failed':
        return this.#onTeardownFailed(deserializeError(message.error, this.#owner.settings.errorClasses))
      case 'crashed':
        return this.exitReason.onCrashed(message.error)
      default:
        return taskListener.onMessage(this, message)
    }
  }

  onUnreadable(): void {
    if (this.state !== 'draining') this.#owner.taskListener.onUnreadable(this)
  }

  onUserMessage(value: unknown): void {
    this.#owner.events.onUserMessage(this, value)
  }

  onExit(exitCode: number, error: unknown, signal: NodeJS.Signals | null = null): void {
    const { exitReason, state } = this
    exitReason.onExit(exitCode, error, signal)
    moveState(workerStates, this, 'exited', 'worker')
    this.#killTimer?.cancel()
    this.#resolveEnded()
    if (state !== 'draining') return this.#owner.onDied(this, state === 'ready')
    const { trouble } = exitReason
    // Before its file was loaded, the worker had no teardown to fail.
    if (this.isStopping && !this.mayBeLoading && trouble !== undefined) this.#onTeardownFailed(trouble)
    this.#owner.onStopped(this)
  }

  #onReady(): void {
    moveState(workerStates, this, 'ready', 'worker')
    this.mayBeLoading = false
    this.idleSince = this.#owner.clock.now()
    this.#owner.onReady(this)
  }

  #onLeaving(): void {
    this.#hasConfirmedLeaving = true
    this.#stopAccepting()
    this.stopIfDone()
  }

  #onTeardownFound(): void {
    this.hasTeardown = true
    if (!this.isStopping) return
    this.mayBeLoading = false
    this.#killAfterTeardown()
  }

  #onTeardownFailed(cause: unknown): void {
    const { settings, events } = this.#owner
    events.onError(new TeardownError(this.id, settings.teardownTimeout, cause))
  }
}

/** Answers count, whoever ends the worker. */
function countsWhileDraining({ kind }: Exclude<ToHost, Bell>): boolean {
  return kind === 'done' || kind === 'failed' || kind === 'has-teardown' || kind === 'teardown-failed'
}

/** The limits that the worker checks itself. `null`: there are none. */
function limitsOf({ maxTasksPerWorker, maxWorkerMemoryMb }: WorkerSettings): WorkerLimits | null {
  if (Math.min(maxTasksPerWorker, maxWorkerMemoryMb) === Number.POSITIVE_INFINITY) return null
  return { tasks: maxTasksPerWorker, bytes: maxWorkerMemoryMb * 2 ** 20 }
}
