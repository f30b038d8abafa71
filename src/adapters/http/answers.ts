// Maps errors of a pool to HTTP answers, for all adapters. Recognises errors by `code`, so that errors of another copy
// of the package count too.
import {
  isPoolError,
  type RestartLimitError,
  type TaskCancelledError,
  type TaskTimeoutError,
} from '../../index.js'
import { clientGone } from './client.js'

/** The fields that `forHttp` adds to an error. */
export interface HttpFields {
  statusCode?: number
  headers?: Record<string, string>
}

export interface Answer {
  readonly statusCode: number
  /** For the log. */
  readonly reason: string
  /** Seconds. Missing if a later request would fail too. */
  readonly retryAfter?: number
}

/** nginx's status for a client that has left. Only logs show it, where it does not count as a server error. */
const CLIENT_CLOSED_REQUEST = 499
const UNAVAILABLE = 503

/** Adds a status and headers to an error of a pool that has no status. Does not change other values. */
export function forHttp(error: unknown, retryAfter: number): void {
  if (!isPoolError(error) || (error as HttpFields).statusCode !== undefined) return
  const answer = answerTo(error, retryAfter)
  if (answer === undefined) return
  const fields: HttpFields = { statusCode: answer.statusCode }
  if (answer.retryAfter !== undefined) fields.headers = { 'retry-after': String(answer.retryAfter) }
  Object.assign(error, fields)
}

/**
 * Returns `undefined` unless the state of the pool or a client that left is the cause.
 * @param retryAfter in seconds
 */
export function answerTo(error: { code: string }, retryAfter: number): Answer | undefined {
  switch (error.code) {
    case 'ERR_LIDO_QUEUE_FULL':
      return { statusCode: UNAVAILABLE, reason: 'too many tasks are queued', retryAfter }
    case 'ERR_LIDO_TASK_TIMEOUT': {
      // An unstarted task means high load, so a later request can succeed. A slow task would be slow again.
      const late = { statusCode: UNAVAILABLE, reason: 'the task took too long' }
      return (error as TaskTimeoutError).limit === 'queueTimeout' ? { ...late, retryAfter } : late
    }
    case 'ERR_LIDO_RESTART_LIMIT': {
      const down = { statusCode: UNAVAILABLE, reason: 'workers do not start' }
      const seconds = Math.max(1, Math.ceil((error as RestartLimitError).retryAfter / 1000))
      // With `pause: Infinity` workers never start again. A larger number has no exact decimal form.
      return Number.isSafeInteger(seconds) ? { ...down, retryAfter: seconds } : down
    }
    case 'ERR_LIDO_POOL_CLOSED':
      return { statusCode: UNAVAILABLE, reason: 'the pool is closed' }
    case 'ERR_LIDO_TASK_CANCELLED':
      return (error as TaskCancelledError).reason === clientGone
        ? { statusCode: CLIENT_CLOSED_REQUEST, reason: clientGone.message }
        : undefined
    default:
      return undefined
  }
}
