// Why a worker did not start, or why it ended: what the worker reported and what the runtime says.
import {
  InvalidOptionError,
  type PoolError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import {
  deserializeError,
  type ErrorClasses,
  type SerializedError,
} from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import { MissingPackageFileError } from '../backend/missing-package-file.js'

/** A terminal sends them to the whole process group. A process that has started ignores them. */
const GROUP_SIGNALS = new Set<string | null>(['SIGINT', 'SIGTERM', 'SIGHUP'])

export class ExitReason {
  readonly #workerId: number
  readonly #preload: HandlerRef | null
  readonly #errorClasses: ErrorClasses
  #startError: WorkerStartError | null = null
  #crash: { error: unknown } | null = null
  #exitCode = 0
  #signal: string | null = null
  /** `undefined` when neither the worker nor the runtime named an error. */
  #error: unknown

  constructor(workerId: number, preload: HandlerRef | null, errorClasses: ErrorClasses) {
    this.#workerId = workerId
    this.#preload = preload
    this.#errorClasses = errorClasses
  }

  onStartFailed(error: SerializedError): void {
    this.#startError = this.#failedToStart(deserializeError(error, this.#errorClasses))
  }

  onCrashed(error: SerializedError): void {
    this.#crash = { error: deserializeError(error, this.#errorClasses) }
  }

  /** @param error the runtime's error; `undefined` for most ends of a process */
  onExit(exitCode: number, error: unknown, signal: string | null): void {
    this.#exitCode = exitCode
    this.#signal = signal
    // The worker's own report of an exception says more than the runtime's.
    const reported = this.#crash === null || isOutOfMemory(error) ? error : this.#crash.error
    this.#error = this.#startError ?? reported
  }

  /** The error of a worker that the host has ended. `undefined`: it ended as it should. */
  get trouble(): unknown {
    return this.#error ?? (isCrash(this.#signal) ? this.#deathError(true) : undefined)
  }

  /** A signal to the process group ended the worker before it could handle signals. Its file is not to blame. */
  get wasInterrupted(): boolean {
    return this.#startError === null && GROUP_SIGNALS.has(this.#signal)
  }

  /** The error for the worker's started tasks. */
  taskError(wasReady: boolean): unknown {
    return wasReady ? this.#deathError(true) : this.startError(this.#deathError(false))
  }

  /** The error for tasks that wait for a worker. */
  startError(cause: unknown): WorkerStartError {
    return cause instanceof WorkerStartError ? cause : this.#failedToStart(cause)
  }

  #failedToStart(cause: unknown): WorkerStartError {
    return startError(this.#workerId, this.#preload, endedBeforeLoading(cause) ? 'thread' : 'load', cause)
  }

  #deathError(wasReady: boolean): unknown {
    if (this.#error === undefined) {
      return new WorkerExitError(this.#workerId, this.#exitCode, undefined, this.#signal, wasReady)
    }
    return isOutOfMemory(this.#error) ? new WorkerMemoryError(this.#workerId, this.#error) : this.#error
  }
}

/** The error for callers when the runtime refuses to start a worker. It names the option where one is the cause. */
export function refusedStart(failure: unknown, handler: HandlerRef | null, workerId: number): PoolError {
  if (failure instanceof MissingPackageFileError) return startError(workerId, handler, 'thread', failure)
  const { code, name, message } = (failure ?? {}) as { code?: string; name?: string; message?: string }
  if (code === 'ERR_WORKER_INVALID_EXEC_ARGV') {
    return new InvalidOptionError(
      'execArgv',
      `The option 'execArgv' (or NODE_OPTIONS in 'env') holds flags a worker cannot have: ${message}.`,
      failure,
    )
  }
  // Node 20 gives the code for a port that is not in the transfer list.
  if (name === 'DataCloneError' || code === 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST') {
    return new InvalidOptionError('workerData', `The option 'workerData' (or 'env'): ${message}`, failure)
  }
  return startError(workerId, handler, 'thread', failure)
}

function startError(
  workerId: number,
  handler: HandlerRef | null,
  stage: 'thread' | 'load',
  cause: unknown,
): WorkerStartError {
  return new WorkerStartError(workerId, handler ?? { filename: '', name: '' }, stage, cause)
}

/** The worker ended before it tried to load the handler's file. */
function endedBeforeLoading(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown }
  return cause instanceof MissingPackageFileError || code === 'ERR_WORKER_INIT_FAILED'
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** SIGKILL does not count: the host itself sends it. */
function isCrash(signal: string | null): boolean {
  return signal !== null && signal !== 'SIGKILL'
}
