// Starts the workers of a pool: for queued tasks, up to the minimum, and as replacements. Counts failed starts, and pauses after them.
import type { WorkerStopReason } from '../../api/worker-view.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { refusedStart } from './exit-reason.js'
import { RestartPolicy, type RestartSettings } from './restart-policy.js'
import type { PoolSize } from './scaling.js'
import type { Vacancies } from './vacancies.js'
import { Worker, type WorkerOwner, type WorkerSettings } from './worker.js'

export interface GroupSettings extends WorkerSettings {
  /** `pool.resize()` changes it. */
  size: PoolSize
  idleTimeout: number
  maxWorkerAge: number
  restart: RestartSettings
  /** Workers busy-wait while fewer than this number are awake. 0: workers never busy-wait. */
  spinCores: number
}

/** The group that gets the workers. */
export interface StartingGroup extends WorkerOwner {
  readonly settings: GroupSettings
  readonly clock: Clock
  readonly workers: readonly Worker[]
  readonly acceptingWorkers: number
  /** Counts also the workers that stop, for example in their teardown. */
  readonly alive: number
  readonly vacancies: Vacancies
  add(worker: Worker): void
  /** The pause after failed starts is over. */
  onPauseOver(): void
}

export class Starts {
  readonly policy: RestartPolicy
  readonly #group: StartingGroup
  #lastId = 0
  /** False when the pool closes: then a worker starts only for queued tasks. */
  #keepsMinimum = true
  /** No more workers start. */
  #isClosed = false
  #afterPause: Timer | null = null

  constructor(group: StartingGroup) {
    this.#group = group
    this.policy = new RestartPolicy(group.settings.restart)
  }

  /** While one worker leaves, another one may start in its place. */
  get maySpawn(): boolean {
    const { acceptingWorkers, alive, clock, settings } = this.#group
    const { maxWorkers } = settings.size
    return (
      !this.#isClosed &&
      acceptingWorkers < maxWorkers &&
      alive <= maxWorkers &&
      this.policy.maySpawn(clock.now())
    )
  }

  get mayAddReplacement(): boolean {
    return !this.#isClosed && this.#group.alive <= this.#group.settings.size.maxWorkers
  }

  /**
   * How many workers the pool has below `maxWorkers` and may not start now. 0 while `isHopeless`, because the pool
   * rejects tasks then.
   */
  get missing(): number {
    const { acceptingWorkers, alive, clock, settings } = this.#group
    const { maxWorkers } = settings.size
    const free = maxWorkers - acceptingWorkers
    if (free <= 0 || this.isHopeless) return 0
    if (!this.policy.maySpawn(clock.now())) return free
    return Math.max(0, free - Math.max(0, maxWorkers + 1 - alive))
  }

  /** The pool has no worker and may not start one now, because earlier starts failed. */
  get isHopeless(): boolean {
    return this.#group.workers.length === 0 && !this.policy.maySpawn(this.#group.clock.now())
  }

  /**
   * Starts a worker. Throws the error of the runtime.
   * @param replaced why the worker stops that the new one replaces
   */
  spawn(replaced: WorkerStopReason | null = this.#group.vacancies.take()): Worker {
    this.policy.onSpawn()
    const worker = new Worker(++this.#lastId, this.#group, replaced)
    this.#group.add(worker)
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
  spawnReplacement(replaced?: WorkerStopReason): Worker {
    try {
      return this.spawn(replaced)
    } catch (failure) {
      const error = refusedStart(failure, this.#group.settings.preload, this.#lastId)
      this.policy.onFailure(false, error, this.#group.clock.now())
      this.waitForPause()
      throw error
    }
  }

  ensureMinimum(): void {
    if (!this.#keepsMinimum) return
    const { settings } = this.#group
    while (this.#group.acceptingWorkers < settings.size.minWorkers && this.trySpawn() !== null);
  }

  /** After the pause that follows a failed start, the group starts workers again: for queued tasks, and up to the minimum. */
  waitForPause(): void {
    const leftMs = this.policy.pauseLeftMs(this.#group.clock.now())
    if (leftMs > 0 && !this.#isClosed && this.#afterPause === null) this.#setPauseTimer(leftMs)
  }

  #setPauseTimer(delayMs: number): void {
    const { clock } = this.#group
    this.#afterPause = clock.after(delayMs, () => {
      this.#afterPause = null
      if (this.#isClosed) return
      // A timer may fire a little too early. The time is read once, because the pause may end before a second look.
      const leftMs = this.policy.pauseLeftMs(clock.now())
      if (leftMs > 0) return this.#setPauseTimer(leftMs)
      this.#group.onPauseOver()
    })
  }

  /** Call it when the pool closes. From then on a worker starts only for queued tasks. */
  dropMinimum(): void {
    this.#keepsMinimum = false
  }

  /** From then on no worker starts. */
  end(): void {
    this.#isClosed = true
    this.#afterPause?.cancel()
  }
}
