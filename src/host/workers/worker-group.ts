// Manages the workers of a pool: starts, counts, replaces, stops and kills them. The group does not handle tasks.

import type { WorkerStopReason } from '../../api/worker-view.js'
import { type PoolClosedError, type PoolError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Backend } from '../backend/backend.js'
import { refusedStart } from './exit-reason.js'
import { IdleTimeout, MaxAge } from './lifetimes.js'
import { type ReplaceableGroup, Replacements } from './replacement.js'
import { RestartPolicy, type RestartSettings } from './restart-policy.js'
import { chooseSurplus, type PoolSize } from './scaling.js'
import {
  type TaskListener,
  Worker,
  type WorkerEvents,
  type WorkerOwner,
  type WorkerSettings,
} from './worker.js'
import { warnOfUnfinished } from './worker-warnings.js'

export interface GroupSettings extends WorkerSettings {
  /** `pool.resize()` changes it. */
  size: PoolSize
  idleTimeout: number
  maxWorkerAge: number
  restart: RestartSettings
  /** Workers busy-wait while fewer than this number are awake. 0: workers never busy-wait. */
  spinCores: number
}

export class WorkerGroup implements WorkerOwner, ReplaceableGroup {
  /** The workers that are starting or ready, oldest first. */
  readonly workers: Worker[] = []
  /** How many of them accept tasks, now or when they are ready. */
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
  /** Workers that the host stops or kills, until they have ended. */
  readonly #draining = new Set<Worker>()
  readonly #replacements: Replacements
  /** Calls of `pool.ready()` that wait. */
  #readyCalls: { resolve: () => void; reject: (reason: unknown) => void }[] = []
  readonly #maxAge: MaxAge
  readonly #idleTimeout: IdleTimeout
  #lastId = 0
  #hasWarnedOfUnfinished = false
  /** False when the pool closes: then a worker starts only for queued tasks. */
  #keepsMinimum = true
  /** The group starts no more workers. */
  #isClosed = false
  #afterPause: Timer | null = null
  /** Set while nobody busy-waits, because other threads need the cores. */
  #spinPause: Timer | null = null

  constructor(settings: GroupSettings, backend: Backend, clock: Clock, events: WorkerEvents) {
    const { size, idleTimeout, maxWorkerAge, restart } = settings
    this.settings = settings
    this.backend = backend
    this.clock = clock
    this.events = events
    this.policy = new RestartPolicy(restart)
    this.#replacements = new Replacements(this, size)
    this.#maxAge = new MaxAge(maxWorkerAge, clock, this.workers, worker =>
      this.#renew(worker, 'maxWorkerAge'),
    )
    this.#idleTimeout = new IdleTimeout({ clock, workers: this, size, idleTimeout })
  }

  // Counts.

  /** Starting and ready workers that are not leaving. */
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

  /** Workers that the host stops or kills, until they have ended. */
  get drainingWorkers(): ReadonlySet<Worker> {
    return this.#draining
  }

  get isAnyStarting(): boolean {
    return this.workers.some(worker => worker.state === 'spawning')
  }

  withId(id: number): Worker | null {
    return this.workers.find(worker => worker.id === id) ?? null
  }

  /** Counts also the workers that stop, for example in their teardown. */
  get #alive(): number {
    let alive = this.workers.length
    for (const worker of this.#draining) if (worker.isStopping) alive++
    return alive
  }

  /** While one worker leaves, another one may start in its place. */
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
   * How many workers the pool has below `maxWorkers` and may not start now. 0 while `isHopeless`, because the pool
   * rejects tasks then.
   */
  get missingWorkers(): number {
    const { maxWorkers } = this.settings.size
    const free = maxWorkers - this.acceptingWorkers
    if (free <= 0 || this.isHopeless) return 0
    if (!this.policy.maySpawn(this.clock.now())) return free
    return Math.max(0, free - Math.max(0, maxWorkers + 1 - this.#alive))
  }

  /** The pool has no worker and may not start one now, because earlier starts failed. */
  get isHopeless(): boolean {
    return this.workers.length === 0 && !this.policy.maySpawn(this.clock.now())
  }

  // Busy-waiting.

  /** Workers may busy-wait, and the host may poll, while the host and each awake worker have their own core. */
  shareCores(awake: number): void {
    const isAllowed = awake < this.settings.spinCores && this.#spinPause === null
    if (isAllowed !== this.mayPoll) this.#allowSpin(isAllowed)
  }

  /** Other threads need the cores. Host and workers do not busy-wait for `pauseMs`. */
  pauseSpin(pauseMs: number): void {
    if (this.#isClosed) return
    this.#allowSpin(false)
    this.#spinPause?.cancel()
    this.#spinPause = this.clock.after(pauseMs, () => {
      this.#spinPause = null
    })
  }

  #allowSpin(isAllowed: boolean): void {
    this.mayPoll = isAllowed
    for (const worker of this.workers) worker.tasks.allowSpin(isAllowed)
  }

  // Starts.

  /** Starts a worker. Throws the error of the runtime. */
  spawn(): Worker {
    this.policy.onSpawn()
    const worker = new Worker(++this.#lastId, this)
    this.workers.push(worker)
    this.#onChanged()
    this.#maxAge.plan()
    this.events.onCreated(worker)
    return worker
  }

  /** Starts a worker if the pool may. Returns `null` otherwise, and when the runtime refuses the start. */
  trySpawn(): Worker | null {
    if (!this.maySpawn) return null
    try {
      return this.spawnReplacement()
    } catch {
      return null
    }
  }

  /** Starts a worker, also during a pause. A refusal of the runtime is a failed start and throws a `PoolError`. */
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

  /** After the pause that follows a failed start, starts workers again: for queued tasks, and up to the minimum. */
  #waitForPause(): void {
    const leftMs = this.policy.pauseLeftMs(this.clock.now())
    if (leftMs > 0 && !this.#isClosed && this.#afterPause === null) this.#setPauseTimer(leftMs)
  }

  #setPauseTimer(delayMs: number): void {
    this.#afterPause = this.clock.after(delayMs, () => {
      this.#afterPause = null
      if (this.#isClosed) return
      // A timer may fire a little too early. The time is read once, because the pause may end before a second look.
      const leftMs = this.policy.pauseLeftMs(this.clock.now())
      if (leftMs > 0) return this.#setPauseTimer(leftMs)
      this.taskListener.onPauseOver()
      // When the pool has no worker, only queued tasks and calls of ready() are a reason to try again.
      if (this.workers.length > 0 || this.#readyCalls.length > 0) this.ensureMinimum()
    })
  }

  // Calls of users.

  /** Call it when the size has changed. Surplus workers finish their started tasks and leave, idle workers first. */
  onResized(): void {
    for (const worker of chooseSurplus(this.keptWorkers, this.settings.size.maxWorkers))
      worker.leave('resize')
    this.ensureMinimum()
    this.#answerReadyCalls()
    this.#idleTimeout.plan()
  }

  /**
   * Replaces every worker. Resolves when the old workers have ended and a new one is ready. Rejects when a new one does
   * not start.
   * @param reason `reload` also replaces workers that were started for an unfinished earlier call, and ends a pause
   */
  async replaceAll(reason: 'recycle' | 'reload'): Promise<void> {
    if (reason === 'reload') this.policy.reset()
    const done = this.#replacements.replaceAll(reason)
    this.ensureMinimum()
    await done
  }

  /** Resolves when `minWorkers` workers are ready. Rejects when a worker fails to start. */
  whenReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#readyCalls.push({ resolve, reject })
      this.ensureMinimum()
      this.#answerReadyCalls()
      const now = this.clock.now()
      // After a single failure the call waits for the next attempt.
      const isHopeless = !this.policy.maySpawn(now) && this.policy.isHopeless(now)
      if (isHopeless && !this.isAnyStarting) this.#rejectReadyCalls(this.policy.refusal(now, now))
    })
  }

  #answerReadyCalls(): void {
    if (this.#readyCalls.length === 0 || this.servingWorkers.length < this.settings.size.minWorkers) return
    for (const { resolve } of this.#readyCalls.splice(0)) resolve()
  }

  #rejectReadyCalls(reason: unknown): void {
    for (const { reject } of this.#readyCalls.splice(0)) reject(reason)
  }

  /** Call it when the pool closes. From then on a worker starts only for queued tasks. */
  stopReplacing(error: PoolError): void {
    this.#keepsMinimum = false
    this.#rejectReadyCalls(error)
    this.#replacements.end(error)
  }

  /** Stops all workers. Each runs its teardown first. Resolves when all have ended. */
  async stopAll(error: PoolError): Promise<void> {
    this.#close()
    for (const worker of [...this.workers]) worker.stop('close', error)
    await this.#allEnded()
  }

  /** Kills all workers, also workers in their teardown. Resolves when all have ended. */
  async killAll(error: PoolClosedError): Promise<void> {
    const reason = error.reason === 'timeout' ? 'closeTimeout' : 'destroy'
    this.#close()
    for (const worker of this.#draining) if (worker.isStopping) void worker.kill(reason)
    for (const worker of [...this.workers]) void worker.kill(reason, error)
    await this.#allEnded()
  }

  /**
   * Kills the workers that run a teardown, wait for requests or load a file. Returns true when it interrupted a
   * teardown.
   */
  cutOffTeardowns(): boolean {
    let hasInterrupted = false
    for (const worker of this.#draining) {
      if (!worker.isStopping) continue
      if (worker.hasTeardown) hasInterrupted = true
      void worker.kill('closeTimeout')
    }
    return hasInterrupted
  }

  #close(): void {
    this.#isClosed = true
    this.#afterPause?.cancel()
    this.#spinPause?.cancel()
    this.#idleTimeout.end()
    this.#maxAge.end()
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#draining].map(worker => worker.ended))
  }

  // Events of one worker.

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
    // First the replacement: an old worker that leaves puts its unstarted tasks into the queue, where the listener
    // finds them.
    this.#replacements.onReady(worker)
    this.taskListener.onReady(worker)
    this.ensureMinimum()
    this.#answerReadyCalls()
    this.#idleTimeout.plan()
  }

  onLeaving(worker: Worker): void {
    this.acceptingWorkers = this.keptWorkers.length
    this.taskListener.onLeaving(worker)
    this.ensureMinimum()
  }

  onMemoryExceeded(worker: Worker): void {
    this.#renew(worker, 'maxWorkerMemoryMb')
  }

  onUnfinished(worker: Worker, requests: readonly string[]): void {
    if (this.#hasWarnedOfUnfinished) return
    this.#hasWarnedOfUnfinished = true
    warnOfUnfinished(worker.id, requests)
  }

  /** Replaces a worker that is too old or uses too much memory, or stops it if the pool does not need it. */
  #renew(worker: Worker, reason: WorkerStopReason): void {
    // Starting workers do not count, because they may fail to start.
    const isSpare =
      worker.isReady && worker.isIdle && this.servingWorkers.length > this.settings.size.minWorkers
    if (isSpare) worker.leave(reason)
    else this.#replacements.replace(worker, reason)
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
    // Another worker may start now.
    this.ensureMinimum()
  }

  onDied(worker: Worker, wasReady: boolean): void {
    const { exitReason } = worker
    this.#remove(worker)
    const error = exitReason.taskError(wasReady)
    // Its task is to blame, and is rejected.
    const wasOverfed =
      exitReason.isOutOfMemory && (wasReady ? worker.usage > 0 : worker.tasks.hasLargePayload)
    const wasInterrupted = !wasReady && (exitReason.wasInterrupted || wasOverfed)
    if (wasInterrupted) this.policy.onStartAborted()
    if (!worker.hasWorked && !wasOverfed) {
      this.policy.onFailure(wasReady || wasInterrupted, exitReason.startError(error), this.clock.now())
    }
    this.events.onDestroyed(worker)
    const death = { wasReady, error }
    const concernsReady = !wasReady && !wasInterrupted && this.#readyCalls.length > 0
    if (concernsReady) this.#rejectReadyCalls(error)
    if (!this.taskListener.onLost(worker, death) && !concernsReady)
      this.events.onUnreportedDeath(worker, death)
    this.#replacements.onEnded(worker, error instanceof WorkerStartError && !wasOverfed ? error : null)
    this.#waitForPause()
    this.ensureMinimum()
  }

  #remove(worker: Worker): void {
    const index = this.workers.indexOf(worker)
    if (index >= 0) this.workers.splice(index, 1)
    this.#onChanged()
  }

  /** All workers count as awake until the next call of `shareCores`. */
  #onChanged(): void {
    this.acceptingWorkers = this.keptWorkers.length
    // Also for a worker that was just started.
    this.#allowSpin(this.workers.length < this.settings.spinCores && this.#spinPause === null)
  }
}
