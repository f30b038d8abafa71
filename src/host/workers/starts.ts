// Starts workers, remembers how that went, and looks again when the pause is over that follows on failures.

import { InvalidOptionError, type PoolError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { Handler } from '../../shared/messages/handler.js'
import { filesAbove } from '../../shared/messages/loading.js'
import type { WorkerLimits } from '../../shared/messages/messages.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Backend, LinkListener } from '../backend/backend.js'
import { MissingPackageFileError } from '../backend/missing-package-file.js'
import type { Crew } from './crew.js'
import type { MakeHolding } from './holding.js'
import type { RestartPolicy } from './restart-policy.js'
import { WorkerHandle } from './worker-handle.js'
import type { LifeSettings } from './worker-limits.js'

export interface StartSettings extends LifeSettings {
  concurrentTasksPerWorker: number
  workerHistogram: boolean
  niceIncrement: number
  recordTiming: boolean
  preload: Handler | null
  workerOptions: Record<string, unknown>
  makeHolding: MakeHolding
}

export interface StartsParts {
  settings: StartSettings
  backend: Backend
  clock: Clock
  policy: RestartPolicy
  crew: Crew
  listenerFor: (worker: WorkerHandle) => LinkListener
  /** The worker's end is asked for by a user. */
  terminate: (worker: WorkerHandle) => Promise<void>
  /** Workers may be started again after some failed. */
  onPauseOver: () => void
}

export class Starts {
  readonly #parts: StartsParts
  #isStopped = false
  #lastId = 0
  #afterPause: Timer | null = null

  constructor(parts: StartsParts) {
    this.#parts = parts
  }

  /** None is started any more. */
  get areOver(): boolean {
    return this.#isStopped
  }

  /** Starts a worker, whose words are heard in no caller's context; throws what the runtime throws. */
  start(): WorkerHandle {
    const { settings, backend, clock, policy, listenerFor, terminate } = this.#parts
    const { preload, niceIncrement, workerOptions } = settings
    policy.onSpawn()
    const id = ++this.#lastId
    const worker = new WorkerHandle(
      id,
      settings.concurrentTasksPerWorker,
      settings.makeHolding(id),
      settings.workerHistogram,
      settings.maxTasksPerWorker,
      clock.now(),
      terminate,
    )
    const limits = limitsOf(settings)
    const road = worker.holding.order()
    const measures = settings.recordTiming
    const spec = { road, preload, niceIncrement, limits, measures, above: filesAbove(), workerOptions }
    const listener = listenerFor(worker)
    worker.link = withoutCaller(() => backend.start(spec, listener))
    return worker
  }

  /** The runtime gave no worker; returns what callers are told of it. */
  onRefused(failure: unknown): PoolError {
    const { settings, clock, policy } = this.#parts
    const error = startProblem(failure, settings.preload, this.#lastId)
    policy.onFailure(false, error, clock.now())
    this.lookAgainAfterPause()
    return error
  }

  /** While a worker lives, the others come back once the pause is over. Without one, the next call tries. */
  lookAgainAfterPause(): void {
    const { clock, policy, crew, onPauseOver } = this.#parts
    const leftMs = policy.pauseLeftMs(clock.now())
    if (leftMs === 0 || this.#isStopped || this.#afterPause !== null || crew.isEmpty) return
    this.#afterPause = clock.after(leftMs, () => {
      this.#afterPause = null
      if (this.#isStopped || crew.isEmpty) return
      onPauseOver()
      this.lookAgainAfterPause()
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#afterPause?.cancel()
  }
}

/** What the runtime says when it gives no worker, as an error about the option where it is one. */
export function startProblem(failure: unknown, handler: Handler | null, workerId = 1): PoolError {
  if (!(failure instanceof MissingPackageFileError)) {
    const { code, name, message } = (failure ?? {}) as { code?: string; name?: string; message?: string }
    if (code === 'ERR_WORKER_INVALID_EXEC_ARGV') {
      return new InvalidOptionError(
        'execArgv',
        `The option 'execArgv' (or NODE_OPTIONS in 'env') holds flags a worker cannot have: ${message}.`,
        failure,
      )
    }
    // The latter is how Node 20 says it of a port.
    if (name === 'DataCloneError' || code === 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST') {
      return new InvalidOptionError('workerData', `The option 'workerData' (or 'env'): ${message}`, failure)
    }
  }
  return new WorkerStartError(workerId, handler ?? { filename: '', name: '' }, 'thread', failure)
}

/** What a worker itself has to look after; `null`: nothing. */
function limitsOf({ maxTasksPerWorker, maxWorkerMemoryMb }: LifeSettings): WorkerLimits | null {
  if (maxTasksPerWorker === Number.POSITIVE_INFINITY && maxWorkerMemoryMb === Number.POSITIVE_INFINITY)
    return null
  return { tasks: maxTasksPerWorker, bytes: maxWorkerMemoryMb * 2 ** 20 }
}
