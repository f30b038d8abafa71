// The errors of Tinypool. Programs compare the texts, so they must stay the same.
import {
  isPoolError,
  type NotCloneableError,
  type QueueFullError,
  type TaskCancelledError,
  type WorkerExitError,
  type WorkerStartError,
} from '../../index.js'

export class AbortError extends Error {
  constructor() {
    super('The task has been aborted')
  }

  override get name(): string {
    return 'AbortError'
  }
}

export class CancelError extends Error {
  constructor() {
    super('The task has been cancelled')
  }

  override get name(): string {
    return 'CancelError'
  }
}

export const threadTermination = (): Error => new Error('Terminating worker thread')
export const failedToTerminate = (): Error => new Error('Failed to terminate worker')
export const filenameMissing = (): Error =>
  new Error('filename must be provided to run() or in options object')

export function channelRefused(member: 'onMessage' | 'postMessage', use: string): Error {
  return new Error(
    `{ runtime: 'worker_threads' } doesn't support channel.${member}. Use transferListItem for ${use} messages instead.`,
  )
}

/** Converts an error of the pool. Returns an error of the handler unchanged. */
export function inTinypoolTerms(error: unknown): unknown {
  if (!isPoolError(error)) return error
  switch (error.code) {
    case 'ERR_LIDO_QUEUE_FULL':
      return new Error(
        (error as QueueFullError).limit === 0
          ? 'No task queue available and all Workers are busy'
          : 'Task queue is at limit',
      )
    case 'ERR_LIDO_NOT_CLONEABLE':
      return (error as NotCloneableError).cause
    case 'ERR_LIDO_WORKER_EXIT':
      return new Error('Worker exited unexpectedly', { cause: (error as WorkerExitError).cause ?? error })
    case 'ERR_WORKER_OUT_OF_MEMORY':
      return error.cause
    case 'ERR_LIDO_RESTART_LIMIT':
    case 'ERR_LIDO_WORKER_START':
      return inTinypoolTerms((error as WorkerStartError).cause)
    case 'ERR_LIDO_TASK_CANCELLED':
      return (error as TaskCancelledError).reason
    case 'ERR_LIDO_POOL_CLOSED':
      return threadTermination()
    default:
      return error
  }
}
