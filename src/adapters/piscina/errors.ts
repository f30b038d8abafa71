// Converts lido's errors to Piscina's errors. Programs compare the texts, so they must stay the same.
import {
  isPoolError,
  type NotCloneableError,
  type PoolClosedError,
  type QueueFullError,
  type TaskCancelledError,
  type WorkerExitError,
  type WorkerStartError,
} from '../../index.js'

import { NO_REASON } from './abort-signal.js'

export class AbortError extends Error {
  constructor(reason?: unknown) {
    super('The task has been aborted', reason === undefined ? undefined : { cause: reason })
  }

  override get name(): string {
    return 'AbortError'
  }
}

export const QUEUE_IS_ENDING = 'queue is being terminated'
const POOL_IS_CLOSED = 'pool is closed'

function threadTermination(): Error {
  return new Error('Terminating worker thread')
}

export function closeTimedOut(): Error {
  return new Error('Close operation timed out')
}

export function filenameMissing(): Error {
  return new Error('filename must be provided to run() or in options object')
}

export function noHandler(filename: string): Error {
  return new Error(`No handler function exported from ${filename}`)
}

export function queueIsTaken(): Error {
  return new TypeError(
    'options.taskQueue is the queue of another pool that is still open. Create a queue for each pool.',
  )
}

/** Converts an error of the pool. Returns an error of the handler unchanged. */
export function inPiscinaTerms(error: unknown): unknown {
  if (!isPoolError(error)) return error
  switch (error.code) {
    case 'ERR_LIDO_TASK_CANCELLED':
      return abortError((error as TaskCancelledError).reason)
    case 'ERR_LIDO_QUEUE_FULL': {
      const isUnavailable = (error as QueueFullError).limit === 0
      return new Error(
        isUnavailable ? 'No task queue available and all Workers are busy' : 'Task queue is at limit',
      )
    }
    case 'ERR_LIDO_INVALID_OPTION':
      return error.cause ?? error
    case 'ERR_LIDO_NOT_CLONEABLE':
      return (error as NotCloneableError).cause
    case 'ERR_LIDO_WORKER_EXIT':
      return new Error(
        `worker exited with code: ${(error as WorkerExitError).exitCode}`,
        error.cause === undefined ? undefined : { cause: error.cause },
      )
    case 'ERR_WORKER_OUT_OF_MEMORY':
      return error.cause
    case 'ERR_LIDO_RESTART_LIMIT':
      return inPiscinaTerms(error.cause)
    case 'ERR_LIDO_WORKER_START':
      return startFailure(error as WorkerStartError)
    case 'ERR_LIDO_POOL_CLOSED':
      return poolEnd(error as PoolClosedError)
    default:
      return error
  }
}

function abortError(reason: unknown): AbortError {
  return new AbortError(reason === NO_REASON ? undefined : reason)
}

function startFailure(error: WorkerStartError): unknown {
  if (error.stage === 'handler') return noHandler(error.filename)
  return inPiscinaTerms(error.cause)
}

function poolEnd(error: PoolClosedError): Error {
  if (error.reason === 'closed') return new AbortError(QUEUE_IS_ENDING)
  if (error.reason === 'forced') return new AbortError(POOL_IS_CLOSED)
  return threadTermination()
}
