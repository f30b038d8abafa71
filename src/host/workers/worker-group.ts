// The workers of a pool: starts them, counts them, replaces them and ends them. It knows nothing of tasks except how many a
// worker holds.
import { type PoolError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Backend } from '../backend/backend.js'
import { chooseSurplus, type PoolSize } from '../scheduler/scaling.js'
import { refusedStart } from './exit-reason.js'
import { IdleTimeout, MaxAge } from './lifetimes.js'
import { type ReplaceableGroup, Replacements } from './replacement.js'
import { RestartPolicy, type RestartSettings } from './restart-policy.js'
import {
  type TaskListener,
  Worker,
  type WorkerEvents,
  type WorkerOwner,
  type WorkerSettings,
} from './worker.js'

export interface GroupSettings extends WorkerSettings {
  /** `pool.resize()` changes it. */
  size: PoolSize
  idleTimeout: number
  maxWorkerAge: number
  restart: RestartSettings
  /** Workers busy-wait while fewer of them than this are awake. 0: never. */
  spinCores: number
}

export class WorkerGroup implements WorkerOwner, ReplaceableGroup {
  /** The workers that start or are ready, oldest first. */
  readonly workers: Worker[] = []
  /** How many of them accept tasks, or will when they are ready. */
  acceptingWorkers = 0
  /** A core is free, so the host may poll for answers. */
  mayPoll = false
  readonly policy: RestartPolicy
  readonly settings: GroupSettings
  readonly backend: Backend
  readonly clock: Clock
  readonly events: WorkerEvents
  /** Set once, before the first worker is started. */
  taskListener!: TaskListener
  /** Workers that the host has asked to end. */
  readonly #draining = new Set<Worker>()
  readonly #replacements: Replacements
  readonly #maxAge: MaxAge
  readonly #idleTimeout: IdleTimeout
  #lastId = 0
  #keepsMinimum = true
  /** No worker is started any more. */
  #isClosed = false
  #afterPause: Timer | null = null

  constructor(settings: GroupSettings, backend: Backend, clock: Clock, events: WorkerEvents) {
    const { size, idleTimeout, maxWorkerAge, restart } = settings
    this.settings = settings
    this.backend = backend
    this.clock = clock
    this.events = events
    this.policy = new RestartPolicy(restart)
    this.#replacements = new Replacements(this, size)
    this.#maxAge = new MaxAge(maxWorkerAge, clock, this.workers, worker => this.#renew(worker))
    this.#idleTimeout = new IdleTimeout({ clock, workers: this, size, idleTimeout })
  }

  // Counts.

  /** Workers that are not leaving. */
  get keptWorkers(): Worker[] {
    return this.workers.filter(worker => !worker.isLeaving)
  }

  /** Workers that are ready and not leaving. */
  get servingWorkers(): Worker[] {
    return this.workers.filter(worker => worker.isReady && !worker.isLeaving)
  }

  get hasLeaving(): boolean {
    return this.acceptingWorkers < this.workers.length
  }

  get isAnyStarting(): boolean {
    return this.workers.some(worker => worker.state === 'spawning')
  }

  withId(id: number): Worker | null {
    return this.workers.find(worker => worker.id === id) ?? null
  }

  /** All workers that exist, including those that run their teardown. */
  get #alive(): number {
    let alive = this.workers.length
    for (const worker of this.#draining) if (worker.isStopping) alive++
    return alive
  }

  /** While one worker leaves, another one may already take its place. */
  get maySpawn(): boolean {
    return (
      !this.#isClosed &&
      this.acceptingWorkers < this.settings.size.maxWorkers &&
      this.#alive <= this.settings.size.maxWorkers &&
      this.policy.maySpawn(this.clock.now())
    )
  }

  get mayAddReplacement(): boolean {
    return !this.#isClosed && this.#alive <= this.settings.size.maxWorkers
  }

  /**
   * How many workers are missing up to `maxWorkers` and may not be started for now. 0 when there is no worker at all: tasks do
   * not wait then, see `isHopeless`.
   */
  get missingWorkers(): number {
    const { maxWorkers } = this.settings.size
    const free = maxWorkers - this.acceptingWorkers
    if (free <= 0 || this.isHopeless) return 0
    if (!this.policy.maySpawn(this.clock.now())) return free
    return Math.max(0, free - Math.max(0, maxWorkers + 1 - this.#alive))
  }

  /** No worker exists, and none may be started for now because others failed. */
  get isHopeless(): boolean {
    return this.workers.length === 0 && !this.policy.maySpawn(this.clock.now())
  }

  // Busy-waiting.

  /** Workers may busy-wait, and the host may poll, while the host and each worker that is awake have a core. */
  shareCores(awake: number): void {
    const isAllowed = awake < this.settings.spinCores
    if (isAllowed !== this.mayPoll) this.#allowSpin(isAllowed)
  }

  #allowSpin(isAllowed: boolean): void {
    this.mayPoll = isAllowed
    for (const worker of this.workers) worker.tasks.allowSpin(isAllowed)
  }

  // Starts.

  /** Starts a worker. Throws what the runtime throws. */
  spawn(): Worker {
    this.policy.onSpawn()
    const worker = new Worker(++this.#lastId, this)
    this.workers.push(worker)
    this.#onChanged()
    this.#maxAge.plan()
    this.events.onCreated(worker)
    return worker
  }

  /** Starts a worker if it may and can. A refused start counts as a failed one. */
  trySpawn(): Worker | null {
    if (!this.maySpawn) return null
    try {
      return this.spawnReplacement()
    } catch {
      return null
    }
  }

  /** Starts a worker also during a pause. Throws a `PoolError` when the runtime refuses, which counts as a failed start. */
  spawnReplacement(): Worker {
    try {
      return this.spawn()
    } catch (failure) {
      const error = refusedStart(failure, this.settings.preload, this.#lastId)
      this.policy.onFailure(false, error, this.clock.now())
      this.#waitForPause()
      throw error
    }
  }

  ensureMinimum(): void {
    if (!this.#keepsMinimum) return
    while (this.acceptingWorkers < this.settings.size.minWorkers && this.trySpawn() !== null);
  }

  /** When the pause after a failed start is over, workers are started again: for waiting tasks, and up to the minimum. */
  #waitForPause(): void {
    const leftMs = this.policy.pauseLeftMs(this.clock.now())
    if (leftMs === 0 || this.#isClosed || this.#afterPause !== null) return
    this.#afterPause = this.clock.after(leftMs, () => {
      this.#afterPause = null
      if (this.#isClosed) return
      // A timer may fire a moment early.
      if (this.policy.pauseLeftMs(this.clock.now()) > 0) return this.#waitForPause()
      this.taskListener.onPauseOver()
      // When no worker exists, only waiting tasks are a reason to try again.
      if (this.workers.length > 0) this.ensureMinimum()
    })
  }

  // Changes that users ask for.

  /** Call it when the size has changed. Surplus workers finish their started tasks and leave, idle ones first. */
  onResized(): void {
    for (const worker of chooseSurplus(this.keptWorkers, this.settings.size.maxWorkers)) worker.leave()
    this.ensureMinimum()
    this.#idleTimeout.plan()
  }

  /**
   * Replaces every worker. Resolves when the old ones have ended and a new one is ready. Rejects when a new one does not start.
   * @param isReload replaces also workers that were started for an earlier call, and ends a pause after failed starts
   */
  async replaceAll(isReload: boolean): Promise<void> {
    if (isReload) this.policy.reset()
    const done = this.#replacements.replaceAll(!isReload)
    this.ensureMinimum()
    await done
  }

  /** The pool closes: from now on a worker is started only for waiting tasks. */
  stopReplacing(error: PoolError): void {
    this.#keepsMinimum = false
    this.#replacements.end(error)
  }

  /** Stops all workers: each runs its teardown first. Resolves when all have ended. */
  async stopAll(error: PoolError): Promise<void> {
    this.#close()
    for (const worker of [...this.workers]) worker.stop(error)
    await this.#allEnded()
  }

  /** Kills all workers, also those that run their teardown. Resolves when all have ended. */
  async killAll(error: PoolError): Promise<void> {
    this.#close()
    for (const worker of this.#draining) if (worker.isStopping) void worker.kill()
    for (const worker of [...this.workers]) void worker.kill(error)
    await this.#allEnded()
  }

  /**
   * Kills the workers that run a teardown or may still begin one. The others end soon by themselves. True when a teardown was
   * cut off.
   */
  cutOffTeardowns(): boolean {
    let wasAny = false
    for (const worker of this.#draining) {
      if (!worker.isStopping || !(worker.hasTeardown || worker.mayBeLoading)) continue
      if (worker.hasTeardown) wasAny = true
      void worker.kill()
    }
    return wasAny
  }

  #close(): void {
    this.#isClosed = true
    this.#afterPause?.cancel()
    this.#idleTimeout.end()
    this.#maxAge.end()
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#draining].map(worker => worker.ended))
  }

  // Changes of one worker.

  /** Call it when a worker has become idle. */
  onIdle(worker: Worker): void {
    if (worker.isLeaving) worker.stopIfDone()
    else this.#idleTimeout.plan()
  }

  /** Call it when a task was taken from a leaving worker. */
  stopLeavingIfDone(): void {
    for (const worker of [...this.workers]) worker.stopIfDone()
  }

  onReady(worker: Worker): void {
    this.policy.onStarted()
    // A worker that leaves now returns its unstarted tasks first, so that the listener finds them in the queue.
    this.#replacements.onReady(worker)
    this.taskListener.onReady(worker)
    this.ensureMinimum()
    this.#idleTimeout.plan()
  }

  onLeaving(worker: Worker): void {
    this.acceptingWorkers = this.keptWorkers.length
    this.taskListener.onLeaving(worker)
    this.ensureMinimum()
  }

  onMemoryExceeded(worker: Worker): void {
    this.#renew(worker)
  }

  /** The worker is too old or too large. */
  #renew(worker: Worker): void {
    // Starting workers do not count: they may fail to start.
    const isSpare =
      worker.isReady && worker.isIdle && this.servingWorkers.length > this.settings.size.minWorkers
    if (isSpare) worker.leave()
    else this.#replacements.replace(worker)
  }

  onDraining(worker: Worker): void {
    if (worker.mayBeLoading) this.policy.onStartAborted()
    this.#draining.add(worker)
    this.#remove(worker)
  }

  onStopping(worker: Worker): void {
    this.events.onDestroyed(worker)
    this.ensureMinimum()
  }

  onStopped(worker: Worker): void {
    this.#draining.delete(worker)
    this.#replacements.onEnded(worker, null)
    this.taskListener.onGone(worker)
    // Its place is free now.
    this.ensureMinimum()
  }

  onDied(worker: Worker, wasReady: boolean): void {
    const { exitReason } = worker
    this.#remove(worker)
    const error = exitReason.taskError(wasReady)
    const wasInterrupted = !wasReady && exitReason.wasInterrupted
    if (wasInterrupted) this.policy.onStartAborted()
    if (!worker.hasWorked) {
      this.policy.onFailure(wasReady || wasInterrupted, exitReason.startError(error), this.clock.now())
    }
    this.events.onDestroyed(worker)
    const death = { wasReady, error }
    if (!this.taskListener.onLost(worker, death)) this.events.onUnheardDeath(worker, death)
    this.#replacements.onEnded(worker, error instanceof WorkerStartError ? error : null)
    this.#waitForPause()
    this.ensureMinimum()
  }

  #remove(worker: Worker): void {
    const index = this.workers.indexOf(worker)
    if (index >= 0) this.workers.splice(index, 1)
    this.#onChanged()
  }

  /** Until `shareCores` is called again, all workers count as awake. */
  #onChanged(): void {
    this.acceptingWorkers = this.keptWorkers.length
    this.#allowSpin(this.workers.length < this.settings.spinCores)
  }
}
