// Why a worker ended: what it said of that itself, and what the runtime told.

import { WorkerExitError, WorkerMemoryError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import {
  deserializeError,
  type ErrorClasses,
  type SerializedError,
} from '../../shared/errors/serialize-error.js'
import type { Handler } from '../../shared/messages/handler.js'
import { MissingPackageFileError } from '../backend/missing-package-file.js'

/** A process that has begun ends of none of them. */
const GROUP_SIGNALS = new Set<string | null>(['SIGINT', 'SIGTERM', 'SIGHUP'])

export class LastWords {
  readonly #workerId: number
  readonly #preload: Handler | null
  readonly #errorClasses: ErrorClasses
  #startError: WorkerStartError | null = null
  #crash: { error: unknown } | null = null
  #exitCode = 0
  #signal: string | null = null
  /** `undefined` when neither the worker nor the runtime said anything. */
  #error: unknown

  constructor(workerId: number, preload: Handler | null, errorClasses: ErrorClasses) {
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

  /** @param told the runtime's error; of a process that is nothing */
  onExit(exitCode: number, told: unknown, signal: string | null): void {
    this.#exitCode = exitCode
    this.#signal = signal
    this.#error = this.#startError ?? this.#orCrash(told)
  }

  /** What went wrong at an end that was asked for; `undefined`: nothing. */
  get trouble(): unknown {
    return this.#error ?? (isCrash(this.#signal) ? this.#death(true) : undefined)
  }

  /** It ended of a signal to the whole group, before it could listen: that says nothing of its file. */
  get wasInterrupted(): boolean {
    return this.#startError === null && GROUP_SIGNALS.has(this.#signal)
  }

  /** What its tasks died of. */
  cause(wasReady: boolean): unknown {
    return wasReady ? this.#death(true) : this.startError(this.#death(false))
  }

  /** The same, of a worker that has done nothing. */
  startError(cause: unknown): WorkerStartError {
    return cause instanceof WorkerStartError ? cause : this.#failedToStart(cause)
  }

  #failedToStart(cause: unknown): WorkerStartError {
    const handler = this.#preload ?? { filename: '', name: '' }
    return new WorkerStartError(this.#workerId, handler, isOfThread(cause) ? 'thread' : 'load', cause)
  }

  /** What the worker said of the exception that ended it says more than what the runtime tells. */
  #orCrash(told: unknown): unknown {
    return this.#crash === null || isOutOfMemory(told) ? told : this.#crash.error
  }

  #death(wasReady: boolean): unknown {
    if (this.#error === undefined) {
      return new WorkerExitError(this.#workerId, this.#exitCode, undefined, this.#signal, wasReady)
    }
    return isOutOfMemory(this.#error) ? new WorkerMemoryError(this.#workerId, this.#error) : this.#error
  }
}

/** It ended before its file was looked at. */
function isOfThread(cause: unknown): boolean {
  return (
    cause instanceof MissingPackageFileError ||
    (cause as { code?: unknown } | null)?.code === 'ERR_WORKER_INIT_FAILED'
  )
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** A process that was killed was so by its pool, or by who knows why. */
function isCrash(signal: string | null): boolean {
  return signal !== null && signal !== 'SIGKILL'
}
