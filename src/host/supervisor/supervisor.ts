// Keeps workers alive: starts, replaces and ends them. It knows nothing of tasks beyond a worker's count of them.
import type { Clock, Timer } from '../../shared/base/clock.js'
import {
  type PoolError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import { unpack } from '../../shared/errors/remote-error.js'
import type { Handler, ToHost } from '../../shared/protocol/messages.js'
import type { Backend, LinkListener } from '../backend/backend.js'
import { chooseRetired, nextRetirement } from '../scheduler/scaling.js'
import type { MakeHolding } from './holding.js'
import { RestartPolicy } from './restart-policy.js'
import { WorkerHandle } from './worker-handle.js'
import { moveWorker } from './worker-life.js'

export interface SupervisorSettings {
  minThreads: number
  maxThreads: number
  idleTimeout: number
  concurrentTasksPerWorker: number
  workerHistogram: boolean
  niceIncrement: number
  preload: Handler | null
  workerOptions: Record<string, unknown>
  /** Workers spin while there are fewer of them than this; 0: never. */
  spinCores: number
  makeHolding: MakeHolding
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

export class Supervisor {
  /** Spawning or ready, oldest first. */
  readonly workers: WorkerHandle[] = []
  readonly policy = new RestartPolicy()
  /** Workers that take tasks, or will when they have started. */
  takers = 0
  /** There is a core for the host to look out for answers. */
  mayPoll = false
  readonly #settings: SupervisorSettings
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #listener: SupervisorListener
  readonly #ending = new Map<WorkerHandle, Ending>()
  readonly #ids: WorkerIds
  #isStopped = false
  #keepsMinimum = true
  #retirement: Timer | null = null

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
  }

  get startingCount(): number {
    let count = 0
    for (const worker of this.workers) if (worker.state === 'spawning') count++
    return count
  }

  get maySpawn(): boolean {
    return (
      !this.#isStopped &&
      this.workers.length < this.#settings.maxThreads &&
      this.policy.maySpawn(this.#clock.now())
    )
  }

  /** Starts a worker; throws what the runtime throws. */
  spawn(): WorkerHandle {
    const { concurrentTasksPerWorker, workerHistogram, niceIncrement, preload, workerOptions } =
      this.#settings
    const id = ++this.#ids.last
    const worker = new WorkerHandle(
      id,
      concurrentTasksPerWorker,
      this.#settings.makeHolding(id),
      workerHistogram,
      this.#clock.now(),
      handle => this.giveUp(handle),
    )
    const spec = { road: worker.holding.order(), preload, niceIncrement, workerOptions }
    worker.link = this.#backend.start(spec, this.#listenerFor(worker))
    this.workers.push(worker)
    this.#shareCores()
    this.#listener.onCreated(worker)
    return worker
  }

  /** Starts a worker unless it may not or cannot; a failure is remembered by the policy. */
  trySpawn(): WorkerHandle | null {
    if (!this.maySpawn) return null
    try {
      return this.spawn()
    } catch (failure) {
      const handler = this.#settings.preload ?? { filename: '', name: '' }
      this.policy.onFailure(
        false,
        new WorkerStartError(this.#ids.last, handler, 'thread', failure),
        this.#clock.now(),
      )
      return null
    }
  }

  ensureMinimum(): void {
    if (!this.#keepsMinimum) return
    while (this.workers.length < this.#settings.minThreads && this.trySpawn() !== null);
  }

  /** The pool closes: from now on a worker that dies is replaced only where tasks wait for one. */
  keepNoMinimum(): void {
    this.#keepsMinimum = false
  }

  /** Ends a worker by the pool's own will. Resolves when the thread has ended. */
  giveUp(worker: WorkerHandle, error: PoolError = new WorkerExitError(worker.id, 1)): Promise<void> {
    const known = this.#ending.get(worker)
    if (known !== undefined) return known.ended
    if (worker.state === 'exited') return Promise.resolve()
    const wasSpawning = worker.state === 'spawning'
    moveWorker(worker, 'draining')
    worker.holding.dismiss()
    this.#remove(worker)
    const ending = new Ending()
    this.#ending.set(worker, ending)
    this.#listener.onGivenUp(worker, error)
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

  /** Ends all workers and starts no more. Resolves when every thread has ended. */
  async stop(error: PoolError): Promise<void> {
    this.#isStopped = true
    this.#retirement?.cancel()
    for (const worker of [...this.workers]) void this.giveUp(worker, error)
    await Promise.all([...this.#ending.values()].map(ending => ending.ended))
  }

  /** To be called when a worker has become idle. */
  onIdle(worker: WorkerHandle): void {
    if (worker.isLeaving) void this.giveUp(worker)
    else this.#planRetirement()
  }

  #planRetirement(leastDelayMs = 0): void {
    if (this.#retirement !== null || this.workers.length <= this.#settings.minThreads) return
    const { minThreads, idleTimeout } = this.#settings
    const dueAt = nextRetirement(this.workers, minThreads, idleTimeout)
    if (dueAt === Number.POSITIVE_INFINITY) return
    this.#retirement = this.#clock.after(Math.max(dueAt - this.#clock.now(), leastDelayMs), () => {
      this.#retirement = null
      const due = chooseRetired(this.workers, minThreads, idleTimeout, this.#clock.now())
      const retired = due.filter(worker => worker.holding.retire())
      for (const worker of retired) void this.giveUp(worker)
      this.#planRetirement(retired.length < due.length ? RETRY_DELAY_MS : 0)
    })
  }

  #listenerFor(worker: WorkerHandle): LinkListener {
    let startError: WorkerStartError | null = null
    return {
      onMessage: message => {
        if (worker.state === 'draining' && !countsToTheEnd(message)) return
        if (message.kind === 'ready') this.#onReady(worker)
        else if (message.kind === 'startFailed') {
          startError = new WorkerStartError(worker.id, this.#settings.preload!, 'load', unpack(message.error))
        } else this.#listener.onMessage(worker, message)
      },
      onUnreadable: () => {
        if (worker.state !== 'draining') this.#listener.onUnreadable(worker)
      },
      onUserMessage: value => this.#listener.onUserMessage(worker, value),
      onExit: (exitCode, error, signal = null) => this.#onExit(worker, exitCode, startError ?? error, signal),
    }
  }

  #onReady(worker: WorkerHandle): void {
    moveWorker(worker, 'ready')
    if (worker.isIdle) worker.idleSince = this.#clock.now()
    this.#listener.onReady(worker)
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
    if (wasGivenUp) return this.#listener.onGone(worker)
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
    this.#lookAgainAfterPause()
    this.ensureMinimum()
  }

  /** Tasks that wait beside a living worker get another one once the pause is over; the others were rejected. */
  #lookAgainAfterPause(): void {
    const leftMs = this.policy.pauseLeftMs(this.#clock.now())
    if (leftMs === 0 || this.#isStopped || this.workers.length === 0) return
    this.#clock.after(leftMs, () => {
      if (!this.#isStopped) this.#listener.onPauseOver()
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
    this.takers = this.workers.filter(worker => !worker.isLeaving).length
  }

  /** Workers may spin, and the host poll, while the host and all of them have a core each. */
  #shareCores(): void {
    this.countTakers()
    const isAllowed = this.workers.length < this.#settings.spinCores
    for (const worker of this.workers) worker.holding.allowSpin(isAllowed)
    this.mayPoll = isAllowed
  }
}

/** An answer given is an answer; and who rings the host's bell rings it for all workers. */
function countsToTheEnd({ kind }: ToHost): boolean {
  return kind === 'done' || kind === 'failed' || kind === 'bell'
}

/** A worker whose end was asked for. */
class Ending {
  readonly ended: Promise<void>
  resolve!: () => void
  kill: Timer | null = null

  constructor() {
    this.ended = new Promise(resolve => {
      this.resolve = resolve
    })
  }
}
