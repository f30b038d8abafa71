// Keeps workers alive: starts, replaces and ends them. It knows nothing of tasks beyond a worker's count of them.

import { type PoolError, WorkerExitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { ErrorClasses } from '../../shared/errors/serialize-error.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Backend } from '../backend/backend.js'
import { chooseSurplus, type PoolSize } from '../scheduler/scaling.js'
import { Ageing } from './ageing.js'
import { Crew } from './crew.js'
import { type Ending, Endings } from './endings.js'
import type { LastWords } from './last-words.js'
import { Replacements } from './replacements.js'
import { RestartPolicy } from './restart-policy.js'
import { Retirement } from './retirement.js'
import { type StartSettings, Starts } from './starts.js'
import type { SupervisorListener } from './supervisor-listener.js'
import type { WorkerHandle } from './worker-handle.js'
import { moveWorker } from './worker-life.js'
import { WorkerListener, type WorkerListenerParts } from './worker-listener.js'

export interface SupervisorSettings extends StartSettings {
  /** `pool.resize()` changes it. */
  size: PoolSize
  idleTimeout: number
  /** Workers spin while fewer of them than this are awake; 0: never. */
  spinCores: number
  errorClasses: ErrorClasses
}

export class Supervisor {
  readonly crew: Crew
  /** The crew's. */
  readonly workers: readonly WorkerHandle[]
  readonly policy: RestartPolicy
  readonly #settings: SupervisorSettings
  readonly #clock: Clock
  readonly #listener: SupervisorListener
  readonly #starts: Starts
  readonly #endings: Endings
  readonly #replacements: Replacements
  readonly #ageing: Ageing
  readonly #retirement: Retirement
  #keepsMinimum = true

  constructor(settings: SupervisorSettings, backend: Backend, clock: Clock, listener: SupervisorListener) {
    const { size, idleTimeout, teardownTimeout, preload, errorClasses } = settings
    const policy = new RestartPolicy(settings.restart)
    const crew = new Crew(settings.spinCores)
    this.#settings = settings
    this.#clock = clock
    this.#listener = listener
    this.policy = policy
    this.crew = crew
    this.workers = crew.workers
    const hearing: WorkerListenerParts = {
      preload,
      errorClasses,
      listener,
      onReady: worker => this.#onReady(worker),
      onLeaving: worker => this.#onLeaving(worker),
      onHeavy: worker => this.#renew(worker),
      onTeardownFound: worker => this.#endings.onTeardownFound(worker),
      onTeardownFailed: (worker, error) => this.#endings.onTeardownFailed(worker, error),
      onExit: (worker, lastWords) => this.#onExit(worker, lastWords),
    }
    this.#starts = new Starts({
      settings,
      backend,
      clock,
      policy,
      crew,
      listenerFor: worker => new WorkerListener(worker, hearing),
      terminate: worker => this.giveUp(worker),
      onPauseOver: () => {
        this.ensureMinimum()
        listener.onPauseOver()
      },
    })
    this.#endings = new Endings({ clock, teardownTimeout, onTrouble: error => listener.onTrouble(error) })
    this.#replacements = new Replacements({
      spawn: () => this.#spawnAnyway(),
      mayAddOne: () => !this.#starts.areOver && this.#alive <= size.maxWorkers,
      leave: worker => this.askToLeave(worker),
      workers: () => this.workers,
    })
    this.#ageing = new Ageing(settings.maxWorkerAge, clock, this.workers, worker => this.#renew(worker))
    this.#retirement = new Retirement({
      clock,
      crew,
      size,
      idleTimeout,
      onRetired: worker => this.#end(worker),
    })
  }

  /** While one worker leaves, another may have taken its place already. */
  get maySpawn(): boolean {
    return (
      !this.#starts.areOver &&
      this.crew.takers < this.#settings.size.maxWorkers &&
      this.#alive <= this.#settings.size.maxWorkers &&
      this.policy.maySpawn(this.#clock.now())
    )
  }

  /** How many workers fewer than `maxWorkers` there are to be had for now. A pool without any is not waited for: see `isHopeless`. */
  get missing(): number {
    const { maxWorkers } = this.#settings.size
    const free = maxWorkers - this.crew.takers
    if (free <= 0 || this.isHopeless) return 0
    if (!this.policy.maySpawn(this.#clock.now())) return free
    return Math.max(0, free - Math.max(0, maxWorkers + 1 - this.#alive))
  }

  /** No worker is alive, and none may be started for now because others failed. */
  get isHopeless(): boolean {
    return this.crew.isEmpty && !this.policy.maySpawn(this.#clock.now())
  }

  /** Workers that are there, and those that run their teardown. */
  get #alive(): number {
    return this.workers.length + this.#endings.plannedCount
  }

  /** Starts a worker; throws what the runtime throws. */
  spawn(): WorkerHandle {
    const worker = this.#starts.start()
    this.crew.add(worker)
    this.#ageing.plan()
    this.#listener.onCreated(worker)
    return worker
  }

  /** Starts a worker unless it may not or cannot; a failure is remembered by the policy. */
  trySpawn(): WorkerHandle | null {
    if (!this.maySpawn) return null
    try {
      return this.#spawnAnyway()
    } catch {
      return null
    }
  }

  /** Throws a `PoolError`, which the policy knows of. */
  #spawnAnyway(): WorkerHandle {
    try {
      return this.spawn()
    } catch (failure) {
      throw this.#starts.onRefused(failure)
    }
  }

  ensureMinimum(): void {
    if (!this.#keepsMinimum) return
    while (this.crew.takers < this.#settings.size.minWorkers && this.trySpawn() !== null);
  }

  /** To be called when the size has changed. Surplus workers finish their started tasks and leave, idle ones first. */
  onResized(): void {
    const { maxWorkers } = this.#settings.size
    for (const worker of chooseSurplus(this.crew.staying, maxWorkers)) this.askToLeave(worker)
    this.ensureMinimum()
    this.#retirement.plan()
  }

  /** The pool closes: from now on a worker that dies is replaced only where tasks wait for one. */
  keepNoMinimum(error: PoolError): void {
    this.#keepsMinimum = false
    this.#replacements.stop(error)
  }

  /**
   * Replaces every worker by a new one, which is ready before the old one leaves. Resolves when the old ones have ended;
   * rejects when a new one does not start.
   * @param isReload those started while others are replaced are replaced as well, and pauses after failures are over
   */
  async replaceAll(isReload: boolean): Promise<void> {
    if (isReload) this.policy.forgive()
    const done = this.#replacements.all(!isReload)
    this.ensureMinimum()
    await done
  }

  /** Kills a worker, also one that runs its teardown. Resolves when the thread has ended. */
  giveUp(worker: WorkerHandle, error: PoolError = new WorkerExitError(worker.id, 1)): Promise<void> {
    const known = this.#endings.of(worker)
    if (known !== undefined) {
      known.cutOff()
      return known.ended
    }
    if (worker.state === 'exited') return Promise.resolve()
    const ending = this.#beginEnding(worker, error, false)
    ending.cutOff()
    this.#listener.onDestroyed(worker)
    this.ensureMinimum()
    return ending.ended
  }

  /** A worker that holds nothing runs its teardown and ends; one that loads its file does so when it has. */
  #end(worker: WorkerHandle, error: PoolError = new WorkerExitError(worker.id, 0)): void {
    this.#beginEnding(worker, error, true).letEnd()
    this.#listener.onDestroyed(worker)
    this.ensureMinimum()
  }

  #beginEnding(worker: WorkerHandle, error: PoolError, isPlanned: boolean): Ending {
    if (worker.state === 'spawning') this.policy.onStartCutOff()
    const ending = this.#endings.begin(worker, isPlanned)
    moveWorker(worker, 'draining')
    worker.holding.dismiss()
    this.crew.remove(worker)
    this.#listener.onGivenUp(worker, error)
    return ending
  }

  /** Kills all workers, also those that are ending, and starts no more. Resolves when every thread has ended. */
  async stop(error: PoolError): Promise<void> {
    this.#startNoMore()
    this.#endings.killPlanned()
    for (const worker of [...this.workers]) void this.giveUp(worker, error)
    await this.#endings.allEnded()
  }

  /** The same for workers that nobody waits for any more: each runs its teardown first. */
  async finish(error: PoolError): Promise<void> {
    this.#startNoMore()
    for (const worker of [...this.workers]) this.#end(worker, error)
    await this.#endings.allEnded()
  }

  /**
   * Kills the workers that still run their teardown, and lets no more begin one; tells whether any were killed. The others end
   * by themselves, soon.
   */
  cutOffTeardowns(): boolean {
    return this.#endings.cutOffTeardowns()
  }

  #startNoMore(): void {
    this.#starts.stop()
    this.#retirement.stop()
    this.#ageing.stop()
  }

  /** To be called when a worker has become idle. */
  onIdle(worker: WorkerHandle): void {
    if (worker.isLeaving) this.#endIfDone(worker)
    else this.#retirement.plan()
  }

  /** It is too old, or too large. */
  #renew(worker: WorkerHandle): void {
    // One that is still starting may not come to be.
    const serving = this.crew.serving.length
    const isSpare = worker.isReady && worker.isIdle && serving > this.#settings.size.minWorkers
    if (isSpare) this.askToLeave(worker)
    else this.#replacements.request(worker)
  }

  /** The worker finishes what it has begun and ends. */
  askToLeave(worker: WorkerHandle): void {
    if (worker.isLeaving || worker.state === 'draining' || worker.state === 'exited') return
    if (worker.state === 'ready' && worker.holding.retire()) return this.#end(worker)
    this.#letLeave(worker)
    // One that holds something even now may be ready; only the word of it is still on its way.
    if (worker.state === 'spawning' && worker.holding.isEmpty) return this.#end(worker)
    worker.link!.post({ kind: 'leave' })
  }

  /** The worker takes no more, by its own will or because it was asked: what it had not begun by now it never will. */
  #onLeaving(worker: WorkerHandle): void {
    const wasAsked = worker.isLeaving
    worker.hasStopped = true
    this.#letLeave(worker)
    // It goes on with what was given away to it.
    if (!wasAsked && worker.state === 'ready') worker.link!.post({ kind: 'leave' })
    this.#endIfDone(worker)
  }

  #letLeave(worker: WorkerHandle): void {
    this.crew.letLeave(worker)
    this.#listener.onLeaving(worker)
    this.ensureMinimum()
  }

  /** To be called when a task was taken from a worker that leaves. */
  endThoseDone(): void {
    for (const worker of [...this.workers]) if (worker.isLeaving) this.#endIfDone(worker)
  }

  #endIfDone(worker: WorkerHandle): void {
    if (worker.state === 'ready' && worker.hasStopped && worker.holding.isEmpty) this.#end(worker)
  }

  #onReady(worker: WorkerHandle): void {
    moveWorker(worker, 'ready')
    this.policy.onStarted()
    if (worker.isIdle) worker.idleSince = this.#clock.now()
    // First who leaves gives back what it has not begun: room that is made known afterwards is there.
    this.#replacements.onReady(worker)
    this.#listener.onReady(worker)
    this.ensureMinimum()
    this.#retirement.plan()
  }

  #onExit(worker: WorkerHandle, lastWords: LastWords): void {
    const wasReady = worker.state === 'ready'
    const wasGivenUp = worker.state === 'draining'
    moveWorker(worker, 'exited')
    if (wasGivenUp) {
      this.#endings.onExit(worker, lastWords.trouble)
      this.#replacements.onGone(worker, null)
      this.#listener.onGone(worker)
      // It may have been the one too many.
      return this.ensureMinimum()
    }
    this.crew.remove(worker)
    const cause = lastWords.cause(wasReady)
    const wasInterrupted = !wasReady && lastWords.wasInterrupted
    if (wasInterrupted) this.policy.onStartCutOff()
    if (!worker.hasWorked) {
      this.policy.onFailure(wasReady || wasInterrupted, lastWords.startError(cause), this.#clock.now())
    }
    this.#listener.onDestroyed(worker)
    this.#listener.onLost(worker, { wasReady, error: cause })
    this.#replacements.onGone(worker, cause instanceof WorkerStartError ? cause : null)
    this.#starts.lookAgainAfterPause()
    this.ensureMinimum()
  }
}
