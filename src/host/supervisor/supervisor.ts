// Keeps workers alive: starts, replaces and ends them. It knows nothing of tasks beyond a worker's count of them.
import type { Clock, Timer } from '../../shared/base/clock.js'
import type { ErrorClasses } from '../../shared/errors/error-classes.js'
import {
  type PoolError,
  TeardownError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import { unpack } from '../../shared/errors/remote-error.js'
import type { Handler, ToHost } from '../../shared/protocol/messages.js'
import type { Backend, LinkListener } from '../backend/backend.js'
import { chooseRetired, nextRetirement } from '../scheduler/scaling.js'
import { Ageing } from './ageing.js'
import { Ending } from './ending.js'
import type { MakeHolding } from './holding.js'
import { Replacements } from './replacements.js'
import { RestartPolicy } from './restart-policy.js'
import { WorkerHandle } from './worker-handle.js'
import { moveWorker } from './worker-life.js'
import { type LifeSettings, limitsOf } from './worker-limits.js'

export interface SupervisorSettings extends LifeSettings {
  minThreads: number
  maxThreads: number
  idleTimeout: number
  concurrentTasksPerWorker: number
  workerHistogram: boolean
  niceIncrement: number
  recordTiming: boolean
  preload: Handler | null
  workerOptions: Record<string, unknown>
  /** Workers spin while there are fewer of them than this; 0: never. */
  spinCores: number
  makeHolding: MakeHolding
  errorClasses: ErrorClasses
}

/** Why a worker is no more. `error` is for the tasks that it had begun. */
export interface Death {
  wasReady: boolean
  error: unknown
}

export interface SupervisorListener {
  onReady(worker: WorkerHandle): void
  onMessage(worker: WorkerHandle, message: ToHost): void
  onUnreadable(worker: WorkerHandle): void
  /** The worker is given up by the pool's own will; its tasks must go. */
  onGivenUp(worker: WorkerHandle, error: PoolError): void
  /** The worker is to leave: what it has not begun must go, except what was given away to it for good. */
  onLeaving(worker: WorkerHandle): void
  /** Something of the worker's went wrong that is no caller's. */
  onTrouble(error: unknown): void
  /** The worker that was given up has ended. */
  onGone(worker: WorkerHandle): void
  /** The worker died. */
  onLost(worker: WorkerHandle, death: Death): void
  /** Workers may be started again after some failed. */
  onPauseOver(): void
  onUserMessage(worker: WorkerHandle, value: unknown): void
  onCreated(worker: WorkerHandle): void
  onDestroyed(worker: WorkerHandle): void
}

/** The numbers of workers, in one row for all that a pool has. */
export interface WorkerIds {
  last: number
}

/** A worker whose time is over may be about to take a task; then it is looked at again after so long. */
const RETRY_DELAY_MS = 1
/** How long a worker that may be loading gets to end itself. Node 20 to 24 abort when one is killed in `require(esm)`. */
const LOADING_GRACE_MS = 250
/** How long a worker without a teardown gets to write out what it printed, and to end itself. */
const QUICK_END_MS = 1000

export class Supervisor {
  /** Spawning or ready, oldest first. */
  readonly workers: WorkerHandle[] = []
  readonly policy: RestartPolicy
  /** Workers that take tasks, or will when they have started. */
  takers = 0
  /** Some workers take no more tasks and still hold some. */
  hasLeaving = false
  /** There is a core for the host to look out for answers. */
  mayPoll = false
  readonly #settings: SupervisorSettings
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #listener: SupervisorListener
  readonly #ending = new Map<WorkerHandle, Ending>()
  readonly #replacements: Replacements
  readonly #ageing: Ageing
  readonly #ids: WorkerIds
  #isStopped = false
  #keepsMinimum = true
  #retirement: Timer | null = null
  #afterPause: Timer | null = null

  constructor(
    settings: SupervisorSettings,
    backend: Backend,
    clock: Clock,
    listener: SupervisorListener,
    ids: WorkerIds = { last: 0 },
  ) {
    this.#settings = settings
    this.#ids = ids
    this.#backend = backend
    this.#clock = clock
    this.#listener = listener
    this.policy = new RestartPolicy(settings.restart)
    this.#replacements = new Replacements({
      spawn: () => this.#spawnAnyway(),
      mayAddOne: () => !this.#isStopped && this.#alive <= settings.maxThreads,
      leave: worker => this.askToLeave(worker),
      workers: () => this.workers,
    })
    this.#ageing = new Ageing(settings.maxWorkerAge, clock, this.workers, worker => this.#renew(worker))
  }

  get startingCount(): number {
    let count = 0
    for (const worker of this.workers) if (worker.state === 'spawning') count++
    return count
  }

  /** While one worker leaves, another may have taken its place already. */
  get maySpawn(): boolean {
    return (
      !this.#isStopped &&
      this.takers < this.#settings.maxThreads &&
      this.#alive <= this.#settings.maxThreads &&
      this.policy.maySpawn(this.#clock.now())
    )
  }

  /** No worker is alive, and none may be started for now because others failed. */
  get isHopeless(): boolean {
    return this.workers.length === 0 && !this.policy.maySpawn(this.#clock.now())
  }

  /** Workers that are there, and those that run their teardown. */
  get #alive(): number {
    let count = this.workers.length
    for (const ending of this.#ending.values()) if (ending.isPlanned) count++
    return count
  }

  /** Starts a worker; throws what the runtime throws. */
  spawn(): WorkerHandle {
    const { concurrentTasksPerWorker, workerHistogram, niceIncrement, preload, workerOptions, recordTiming } =
      this.#settings
    this.policy.onSpawn()
    const id = ++this.#ids.last
    const worker = new WorkerHandle(
      id,
      concurrentTasksPerWorker,
      this.#settings.makeHolding(id),
      workerHistogram,
      this.#clock.now(),
      handle => this.giveUp(handle),
    )
    const limits = limitsOf(this.#settings)
    const road = worker.holding.order()
    const spec = { road, preload, niceIncrement, limits, measures: recordTiming, workerOptions }
    worker.link = this.#backend.start(spec, this.#listenerFor(worker))
    this.workers.push(worker)
    this.#shareCores()
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

  /** Throws a `WorkerStartError`, which the policy knows of. */
  #spawnAnyway(): WorkerHandle {
    try {
      return this.spawn()
    } catch (failure) {
      const handler = this.#settings.preload ?? { filename: '', name: '' }
      const error = new WorkerStartError(this.#ids.last, handler, 'thread', failure)
      this.policy.onFailure(false, error, this.#clock.now())
      this.#lookAgainAfterPause()
      throw error
    }
  }

  ensureMinimum(): void {
    if (!this.#keepsMinimum) return
    while (this.takers < this.#settings.minThreads && this.trySpawn() !== null);
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

  /** Ends a worker by the pool's own will. Resolves when the thread has ended. */
  giveUp(worker: WorkerHandle, error: PoolError = new WorkerExitError(worker.id, 1)): Promise<void> {
    const known = this.#ending.get(worker)
    if (known !== undefined) return known.ended
    if (worker.state === 'exited') return Promise.resolve()
    const wasSpawning = worker.state === 'spawning'
    if (wasSpawning) this.policy.onStartCutOff()
    const ending = this.#beginEnding(worker, error, false)
    if (wasSpawning) {
      worker.link!.post({ kind: 'stop' })
      ending.kill = this.#clock.after(LOADING_GRACE_MS, () => worker.link!.terminate(), true)
    } else {
      worker.link!.terminate()
    }
    this.#listener.onDestroyed(worker)
    this.ensureMinimum()
    return ending.ended
  }

  /** A worker that holds nothing runs its teardown and ends. */
  #end(worker: WorkerHandle, error: PoolError = new WorkerExitError(worker.id, 0)): void {
    const { teardownTimeout } = this.#settings
    const ending = this.#beginEnding(worker, error, true)
    worker.link!.post({ kind: 'end' })
    const timeoutMs = worker.hasTeardown ? teardownTimeout : QUICK_END_MS
    ending.kill = this.#clock.after(
      timeoutMs,
      () => {
        if (worker.hasTeardown) this.#listener.onTrouble(new TeardownError(worker.id, teardownTimeout))
        worker.link!.terminate()
      },
      true,
    )
    this.#listener.onDestroyed(worker)
    this.ensureMinimum()
  }

  #beginEnding(worker: WorkerHandle, error: PoolError, isPlanned: boolean): Ending {
    moveWorker(worker, 'draining')
    worker.holding.dismiss()
    this.#remove(worker)
    const ending = new Ending(isPlanned)
    this.#ending.set(worker, ending)
    this.#listener.onGivenUp(worker, error)
    return ending
  }

  /** Kills all workers, also those that are ending, and starts no more. Resolves when every thread has ended. */
  async stop(error: PoolError): Promise<void> {
    this.#startNoMore()
    for (const [worker, ending] of this.#ending) if (ending.isPlanned) worker.link!.terminate()
    for (const worker of [...this.workers]) void this.giveUp(worker, error)
    await this.#allEnded()
  }

  /** The same for workers that nobody waits for any more: each runs its teardown first. */
  async finish(error: PoolError): Promise<void> {
    this.#startNoMore()
    for (const worker of [...this.workers]) {
      if (worker.isReady) this.#end(worker, error)
      else void this.giveUp(worker, error)
    }
    await this.#allEnded()
  }

  /** Kills the workers that still run their teardown; tells whether there were any. The others end by themselves, soon. */
  cutOffTeardowns(): boolean {
    let wereAny = false
    for (const [worker, { isPlanned }] of this.#ending) {
      if (!isPlanned || !worker.hasTeardown) continue
      worker.link!.terminate()
      wereAny = true
    }
    return wereAny
  }

  #startNoMore(): void {
    this.#isStopped = true
    this.#retirement?.cancel()
    this.#afterPause?.cancel()
    this.#ageing.stop()
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#ending.values()].map(ending => ending.ended))
  }

  /** To be called when a worker has become idle. */
  onIdle(worker: WorkerHandle): void {
    if (worker.isLeaving) this.#endIfDone(worker)
    else this.#planRetirement()
  }

  /** It is too old, or too large. */
  #renew(worker: WorkerHandle): void {
    // One that is still starting may not come to be.
    const ready = this.#staying.filter(({ isReady }) => isReady).length
    const isSpare = worker.isReady && worker.isIdle && ready > this.#settings.minThreads
    if (isSpare) this.askToLeave(worker)
    else this.#replacements.request(worker)
  }

  /** The worker finishes what it has begun and ends. */
  askToLeave(worker: WorkerHandle): void {
    if (worker.isLeaving || worker.state === 'draining' || worker.state === 'exited') return
    // One that has begun a task is ready; only the word of it is still on its way.
    if (worker.state === 'spawning' && !worker.hasWorked) return void this.giveUp(worker)
    if (worker.state === 'ready' && worker.holding.retire()) return this.#end(worker)
    this.#letLeave(worker)
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
    worker.isLeaving = true
    this.countTakers()
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

  #planRetirement(leastDelayMs = 0): void {
    if (this.#isStopped || this.#retirement !== null) return
    if (this.takers <= this.#settings.minThreads) return
    const { minThreads, idleTimeout } = this.#settings
    const dueAt = nextRetirement(this.#staying, minThreads, idleTimeout)
    if (dueAt === Number.POSITIVE_INFINITY) return
    this.#retirement = this.#clock.after(Math.max(dueAt - this.#clock.now(), leastDelayMs), () => {
      this.#retirement = null
      const due = chooseRetired(this.#staying, minThreads, idleTimeout, this.#clock.now())
      const retired = due.filter(worker => worker.holding.retire())
      for (const worker of retired) {
        if (worker.isReady) this.#end(worker)
        else void this.giveUp(worker)
      }
      this.#planRetirement(retired.length < due.length ? RETRY_DELAY_MS : 0)
    })
  }

  #listenerFor(worker: WorkerHandle): LinkListener {
    let startError: WorkerStartError | null = null
    let crash: { error: unknown } | null = null
    const { errorClasses, preload } = this.#settings
    return {
      onMessage: message => {
        if (worker.state === 'draining' && !countsToTheEnd(message)) return
        switch (message.kind) {
          case 'ready':
            return this.#onReady(worker)
          case 'startFailed': {
            startError = new WorkerStartError(
              worker.id,
              preload!,
              'load',
              unpack(message.error, errorClasses),
            )
            return
          }
          case 'leaving':
            return this.#onLeaving(worker)
          case 'heavy':
            return this.#renew(worker)
          case 'hasTeardown':
            worker.hasTeardown = true
            return
          case 'teardownFailed': {
            const { teardownTimeout } = this.#settings
            return this.#listener.onTrouble(
              new TeardownError(worker.id, teardownTimeout, unpack(message.error, errorClasses)),
            )
          }
          case 'crashed':
            crash = { error: unpack(message.error, errorClasses) }
            return
          default:
            return this.#listener.onMessage(worker, message)
        }
      },
      onUnreadable: () => {
        if (worker.state !== 'draining') this.#listener.onUnreadable(worker)
      },
      onUserMessage: value => this.#listener.onUserMessage(worker, value),
      onExit: (exitCode, error, signal = null) =>
        this.#onExit(worker, exitCode, startError ?? crashError(error, crash), signal),
    }
  }

  #onReady(worker: WorkerHandle): void {
    moveWorker(worker, 'ready')
    this.policy.onStarted()
    if (worker.isIdle) worker.idleSince = this.#clock.now()
    this.#listener.onReady(worker)
    this.#replacements.onReady(worker)
    this.ensureMinimum()
    this.#planRetirement()
  }

  #onExit(worker: WorkerHandle, exitCode: number, error: unknown, signal: string | null): void {
    const wasReady = worker.state === 'ready'
    const ending = this.#ending.get(worker)
    const wasGivenUp = worker.state === 'draining'
    moveWorker(worker, 'exited')
    if (ending !== undefined) {
      this.#ending.delete(worker)
      ending.kill?.cancel()
      ending.resolve()
    }
    if (wasGivenUp) {
      const trouble =
        error ?? (isCrash(signal) ? this.#deathError(worker, exitCode, error, signal) : undefined)
      if (ending?.isPlanned && trouble !== undefined) {
        this.#listener.onTrouble(new TeardownError(worker.id, this.#settings.teardownTimeout, trouble))
      }
      this.#replacements.onGone(worker, null)
      this.#listener.onGone(worker)
      // It may have been the one too many.
      return this.ensureMinimum()
    }
    this.#remove(worker)
    const cause = wasReady
      ? this.#deathError(worker, exitCode, error, signal)
      : this.#startError(worker, this.#deathError(worker, exitCode, error, signal))
    if (!worker.hasWorked) {
      const known = cause instanceof WorkerStartError ? cause : this.#startError(worker, cause)
      this.policy.onFailure(wasReady, known, this.#clock.now())
    }
    this.#listener.onDestroyed(worker)
    this.#listener.onLost(worker, { wasReady, error: cause })
    this.#replacements.onGone(worker, cause instanceof WorkerStartError ? cause : null)
    this.#lookAgainAfterPause()
    this.ensureMinimum()
  }

  /** While a worker lives, the others come back once the pause is over. Without one, the next call tries. */
  #lookAgainAfterPause(): void {
    const leftMs = this.policy.pauseLeftMs(this.#clock.now())
    if (leftMs === 0 || this.#isStopped || this.#afterPause !== null || this.workers.length === 0) return
    this.#afterPause = this.#clock.after(leftMs, () => {
      this.#afterPause = null
      if (this.#isStopped || this.workers.length === 0) return
      this.ensureMinimum()
      this.#listener.onPauseOver()
      this.#lookAgainAfterPause()
    })
  }

  #deathError(worker: WorkerHandle, exitCode: number, error: unknown, signal: string | null): unknown {
    if (error === undefined) return new WorkerExitError(worker.id, exitCode, undefined, signal)
    if ((error as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return new WorkerMemoryError(worker.id, error)
    }
    return error
  }

  #startError(worker: WorkerHandle, cause: unknown): WorkerStartError {
    if (cause instanceof WorkerStartError) return cause
    return new WorkerStartError(
      worker.id,
      this.#settings.preload ?? { filename: '', name: '' },
      'load',
      cause,
    )
  }

  #remove(worker: WorkerHandle): void {
    const place = this.workers.indexOf(worker)
    if (place >= 0) this.workers.splice(place, 1)
    this.#shareCores()
  }

  /** To be called when a worker starts, ends or takes no more tasks. */
  countTakers(): void {
    this.takers = this.#staying.length
    this.hasLeaving = this.takers < this.workers.length
  }

  get #staying(): WorkerHandle[] {
    return this.workers.filter(worker => !worker.isLeaving)
  }

  /** Workers may spin, and the host poll, while the host and all of them have a core each. */
  #shareCores(): void {
    this.countTakers()
    const isAllowed = this.workers.length < this.#settings.spinCores
    for (const worker of this.workers) worker.holding.allowSpin(isAllowed)
    this.mayPoll = isAllowed
  }
}

/** What the worker said of the exception that ended it says more than what the runtime tells, which of a process is nothing. */
function crashError(told: unknown, crash: { error: unknown } | null): unknown {
  const wasMemory = (told as { code?: unknown } | null | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return crash === null || wasMemory ? told : crash.error
}

/** A process that was killed was so by its pool, or by who knows why. */
function isCrash(signal: string | null): boolean {
  return signal !== null && signal !== 'SIGKILL'
}

/** An answer given is an answer; and who rings the host's bell rings it for all workers. */
function countsToTheEnd({ kind }: ToHost): boolean {
  return kind === 'done' || kind === 'failed' || kind === 'bell' || kind === 'teardownFailed'
}
