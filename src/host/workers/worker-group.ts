// Manages the workers of a pool: counts, replaces, stops and kills them. The group does not handle tasks.

import type { WorkerStopReason } from '../../api/worker-view.js'
import { type PoolClosedError, type PoolError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Backend } from '../backend/backend.js'
import { CoreSharing } from './core-sharing.js'
import { IdleTimeout, MaxAge } from './lifetimes.js'
import { ReadyCalls } from './ready-calls.js'
import { type ReplaceableGroup, Replacements } from './replacement.js'
import { chooseSurplus } from './scaling.js'
import { type GroupSettings, type StartingGroup, Starts } from './starts.js'
import { Vacancies } from './vacancies.js'
import type { TaskListener, Worker, WorkerEvents } from './worker.js'
import type { WorkerProbe } from './worker-probe.js'
import { warnOfUnfinished } from './worker-warnings.js'

export class WorkerGroup implements StartingGroup, ReplaceableGroup {
  /** The workers that are starting or ready, oldest first. */
  readonly workers: Worker[] = []
  /** How many of them accept tasks, now or when they are ready. */
  acceptingWorkers = 0
  readonly starts: Starts
  readonly vacancies = new Vacancies()
  readonly cores: CoreSharing
  readonly settings: GroupSettings
  readonly backend: Backend
  readonly clock: Clock
  readonly events: WorkerEvents
  /** Set once, before the first worker is started. */
  taskListener!: TaskListener
  /** Workers that the host stops or kills, until they have ended. */
  readonly drainingWorkers = new Set<Worker>()
  /** The recorders that watch the pool. */
  readonly probes = new Set<WorkerProbe>()
  readonly #replacements: Replacements
  /** Calls of `pool.ready()` that wait. */
  readonly #readyCalls = new ReadyCalls()
  readonly #maxAge: MaxAge
  readonly #idleTimeout: IdleTimeout
  #hasWarnedOfUnfinished = false

  constructor(settings: GroupSettings, backend: Backend, clock: Clock, events: WorkerEvents) {
    const { size, idleTimeout, maxWorkerAge } = settings
    this.settings = settings
    this.backend = backend
    this.clock = clock
    this.events = events
    this.starts = new Starts(this)
    this.cores = new CoreSharing(this.workers, clock, settings.spinCores)
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

  get isAnyStarting(): boolean {
    return this.workers.some(worker => worker.state === 'spawning')
  }

  withId(id: number): Worker | null {
    return this.workers.find(worker => worker.id === id) ?? null
  }

  /** Counts also the workers that stop, for example in their teardown. */
  get alive(): number {
    let alive = this.workers.length
    for (const worker of this.drainingWorkers) if (worker.isStopping) alive++
    return alive
  }

  /** A worker was started. */
  add(worker: Worker): void {
    this.workers.push(worker)
    this.#onChanged()
    this.#maxAge.plan()
    this.events.onCreated(worker)
    for (const probe of this.probes) probe.onStarted(worker)
  }

  onPauseOver(): void {
    this.taskListener.onPauseOver()
    // When the pool has no worker, only queued tasks and calls of ready() are a reason to try again.
    if (this.workers.length > 0 || this.#readyCalls.isAny) this.starts.ensureMinimum()
  }

  // Calls of users.

  /** Call it when the size has changed. Surplus workers finish their started tasks and leave, idle workers first. */
  onResized(): void {
    for (const worker of chooseSurplus(this.keptWorkers, this.settings.size.maxWorkers))
      worker.leave('resize')
    this.starts.ensureMinimum()
    this.#answerReadyCalls()
    this.#idleTimeout.plan()
  }

  /**
   * Replaces every worker. Resolves when the old workers have ended and a new one is ready. Rejects when a new one does
   * not start.
   * @param reason `reload` also replaces workers that were started for an unfinished earlier call, and ends a pause
   */
  async replaceAll(reason: 'recycle' | 'reload'): Promise<void> {
    if (reason === 'reload') this.starts.policy.reset()
    const done = this.#replacements.replaceAll(reason)
    this.starts.ensureMinimum()
    await done
  }

  /** Resolves when `minWorkers` workers are ready. Rejects when a worker fails to start. */
  whenReady(): Promise<void> {
    const call = this.#readyCalls.add()
    this.starts.ensureMinimum()
    this.#answerReadyCalls()
    const now = this.clock.now()
    const { policy } = this.starts
    // After a single failure the call waits for the next attempt.
    const isHopeless = !policy.maySpawn(now) && policy.isHopeless(now)
    if (isHopeless && !this.isAnyStarting) this.#readyCalls.reject(policy.refusal(now, now))
    return call
  }

  #answerReadyCalls(): void {
    if (this.servingWorkers.length >= this.settings.size.minWorkers) this.#readyCalls.resolve()
  }

  /** Call it when the pool closes. From then on a worker starts only for queued tasks. */
  stopReplacing(error: PoolError): void {
    this.starts.dropMinimum()
    this.#readyCalls.reject(error)
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
    for (const worker of this.drainingWorkers) if (worker.isStopping) void worker.kill(reason)
    for (const worker of [...this.workers]) void worker.kill(reason, error)
    await this.#allEnded()
  }

  /**
   * Kills the workers that run a teardown, wait for requests or load a file. Returns true when it interrupted a
   * teardown.
   */
  cutOffTeardowns(): boolean {
    let hasInterrupted = false
    for (const worker of this.drainingWorkers) {
      if (!worker.isStopping) continue
      if (worker.hasTeardown) hasInterrupted = true
      void worker.kill('closeTimeout')
    }
    return hasInterrupted
  }

  #close(): void {
    this.starts.end()
    this.cores.end()
    this.#idleTimeout.end()
    this.#maxAge.end()
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.drainingWorkers].map(worker => worker.ended))
  }

  // Events of one worker.

  /** Call it when a worker has become idle. */
  onIdle(worker: Worker): void {
    if (worker.isLeaving) worker.stopIfDone()
    else this.#idleTimeout.plan()
  }

  /** Call it when a task was taken from a leaving worker. */
  stopLeavingIfDone(): void {
    if (this.acceptingWorkers === this.workers.length) return
    for (const worker of [...this.workers]) worker.stopIfDone()
  }

  onReady(worker: Worker): void {
    this.starts.policy.onStarted()
    // First the replacement: an old worker that leaves puts its unstarted tasks into the queue, where the listener
    // finds them.
    this.#replacements.onReady(worker)
    this.taskListener.onReady(worker)
    this.starts.ensureMinimum()
    this.#answerReadyCalls()
    this.#idleTimeout.plan()
  }

  onLeaving(worker: Worker): void {
    this.acceptingWorkers = this.keptWorkers.length
    this.vacancies.add(worker)
    this.taskListener.onLeaving(worker)
    this.starts.ensureMinimum()
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
    if (worker.mayBeLoading) this.starts.policy.onStartAborted()
    this.drainingWorkers.add(worker)
    this.#remove(worker)
  }

  onStopping(worker: Worker): void {
    this.events.onDestroyed(worker)
    this.starts.ensureMinimum()
  }

  onStopped(worker: Worker): void {
    this.drainingWorkers.delete(worker)
    this.#replacements.onEnded(worker, null)
    this.taskListener.onGone(worker)
    // Another worker may start now.
    this.starts.ensureMinimum()
  }

  onDied(worker: Worker, wasReady: boolean): void {
    const { exitReason } = worker
    this.#remove(worker)
    const error = exitReason.taskError(wasReady)
    // Its task is to blame, and is rejected.
    const wasOverfed =
      exitReason.isOutOfMemory && (wasReady ? worker.usage > 0 : worker.tasks.hasLargePayload)
    const wasInterrupted = !wasReady && (exitReason.wasInterrupted || wasOverfed)
    if (wasInterrupted) this.starts.policy.onStartAborted()
    if (!worker.hasWorked && !wasOverfed) {
      this.starts.policy.onFailure(wasReady || wasInterrupted, exitReason.startError(error), this.clock.now())
    }
    this.events.onDestroyed(worker)
    const death = { wasReady, error }
    const concernsReady = !wasReady && !wasInterrupted && this.#readyCalls.isAny
    if (concernsReady) this.#readyCalls.reject(error)
    if (!this.taskListener.onLost(worker, death) && !concernsReady)
      this.events.onUnreportedDeath(worker, death)
    this.#replacements.onEnded(worker, error instanceof WorkerStartError && !wasOverfed ? error : null)
    this.starts.waitForPause()
    this.starts.ensureMinimum()
  }

  #remove(worker: Worker): void {
    const index = this.workers.indexOf(worker)
    if (index >= 0) this.workers.splice(index, 1)
    this.vacancies.add(worker)
    this.#onChanged()
  }

  #onChanged(): void {
    this.acceptingWorkers = this.keptWorkers.length
    this.cores.onChanged()
  }
}
