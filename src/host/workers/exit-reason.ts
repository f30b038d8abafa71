// Finds the error for a worker that did not start or that ended, from the reports of the worker and of the runtime.
import {
  InvalidOptionError,
  type PoolError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import { deserializeError, type ErrorClasses } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { ToHost } from '../../shared/messages/messages.js'
import { HEAP_FLAG, HEAP_FLAG_REMEDY } from '../backend/heap-flags.js'
import { MissingPackageFileError } from '../backend/worker-code.js'

/** A terminal sends these signals to the whole process group. A started worker process ignores them. */
const GROUP_SIGNALS = new Set<string | null>(['SIGINT', 'SIGTERM', 'SIGHUP'])

/** The exit code of Node when a listener of `uncaughtException` throws. */
const LISTENER_THREW = 7

export class ExitReason {
  readonly #workerId: number
  readonly #preload: HandlerRef | null
  readonly #errorClasses: ErrorClasses
  #startError: WorkerStartError | null = null
  #crash: { error: unknown } | null = null
  /** The last exception that a listener of the user received. */
  #caught: { error: unknown } | null = null
  #exitCode = 0
  #signal: string | null = null
  /** `undefined` when neither the worker nor the runtime reported an error. */
  #error: unknown

  constructor(workerId: number, preload: HandlerRef | null, errorClasses: ErrorClasses) {
    this.#workerId = workerId
    this.#preload = preload
    this.#errorClasses = errorClasses
  }

  onStartFailed({ error: packed, handler, isMissing }: Extract<ToHost, { kind: 'start-failed' }>): void {
    const error = deserializeError(packed, this.#errorClasses)
    this.#startError =
      handler === null
        ? this.#failedToStart(error)
        : isMissing
          ? new WorkerStartError(
              this.#workerId,
              handler,
              'handler',
              undefined,
              Array.isArray(error) ? error : [],
            )
          : startError(this.#workerId, handler, 'load', error)
  }

  onCrashed({ error: packed, isCaught }: Extract<ToHost, { kind: 'crashed' }>): void {
    const error = deserializeError(packed, this.#errorClasses)
    if (isCaught) this.#caught = { error }
    else this.#crash = { error }
  }

  /** @param error the error of the runtime; usually `undefined` for a process */
  onExit(exitCode: number, error: unknown, signal: string | null): void {
    this.#exitCode = exitCode
    this.#signal = signal
    // The worker's own report of an exception has more details than the runtime's.
    const crash = this.#crash ?? (exitCode === LISTENER_THREW ? this.#caught : null)
    const reported = crash === null || isOutOfMemory(error) ? error : crash.error
    this.#error = this.#startError ?? reported
  }

  /** The error of a worker that ended after the host had stopped it. `undefined`: it ended without an error. */
  get stopError(): unknown {
    return this.#error ?? (isCrash(this.#signal) ? this.#deathError(true) : undefined)
  }

  /**
   * A signal to the process group killed the worker before it could handle signals. The cause is not the handler's
   * file.
   */
  get wasInterrupted(): boolean {
    return this.#startError === null && GROUP_SIGNALS.has(this.#signal)
  }

  /** The worker reached its heap limit. */
  get isOutOfMemory(): boolean {
    return isOutOfMemory(this.#error)
  }

  /** The error for the worker's started tasks. */
  taskError(wasReady: boolean): unknown {
    return wasReady ? this.#deathError(true) : this.startError(this.#deathError(false))
  }

  /** The error for queued tasks. */
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

/** The error for callers when the runtime refuses to start a worker. If an option is the cause, the error names it. */
export function refusedStart(failure: unknown, handler: HandlerRef | null, workerId: number): PoolError {
  if (failure instanceof MissingPackageFileError) return startError(workerId, handler, 'thread', failure)
  const { code, name, message } = (failure ?? {}) as { code?: string; name?: string; message?: string }
  if (code === 'ERR_WORKER_INVALID_EXEC_ARGV') {
    const remedy = message?.split(/[\s,]+/).some(word => HEAP_FLAG.test(word))
      ? HEAP_FLAG_REMEDY
      : 'Remove them.'
    return new InvalidOptionError(
      'execArgv',
      `The option 'execArgv' (or NODE_OPTIONS in 'env') has flags that a worker does not accept (${message}). ${remedy}`,
      failure,
    )
  }
  // Node 20 uses this code for a port that is not in the transfer list.
  if (name === 'DataCloneError' || code === 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST') {
    return new InvalidOptionError(
      'workerData',
      `The option 'workerData' (or 'env') cannot be copied to a worker (${message}). Pass plain data.`,
      failure,
    )
  }
  return startError(workerId, handler, 'thread', failure)
}

function startError(
  workerId: number,
  handler: HandlerRef | null,
  stage: 'thread' | 'load' | 'handler',
  cause: unknown,
): WorkerStartError {
  return new WorkerStartError(workerId, handler ?? { filename: '', name: '' }, stage, cause)
}

/** True when the worker ended before it tried to load the handler's file. */
function endedBeforeLoading(cause: unknown): boolean {
  const { code } = (cause ?? {}) as { code?: unknown }
  return cause instanceof MissingPackageFileError || code === 'ERR_WORKER_INIT_FAILED'
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** SIGKILL does not count, because the host itself sends it. */
function isCrash(signal: string | null): boolean {
  return signal !== null && signal !== 'SIGKILL'
}
