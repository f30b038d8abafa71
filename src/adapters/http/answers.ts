// What a pool's error says over HTTP: the one table of all doors, and its use where an error is answered by its own
// `statusCode` and `headers`, as Fastify does. It is told by `code`, so that errors of another copy of the package are known too.
import {
  isPoolError,
  type RestartLimitError,
  type TaskCancelledError,
  type TaskTimeoutError,
} from '../../index.js'
import { clientGone } from './client.js'

/** What such an error has beside its own fields, once it was given to `forHttp`. */
export interface HttpFields {
  statusCode?: number
  headers?: Record<string, string>
}

export interface Answer {
  readonly statusCode: number
  /** For the log. */
  readonly reason: string
  /** Seconds; absent where the same request would fare no better later. */
  readonly retryAfter?: number
}

/** nginx's number for a client that has left; nobody reads it but the log, where it is no fault of the server. */
const CLIENT_CLOSED_REQUEST = 499
const UNAVAILABLE = 503

/** Gives a pool's error its status and headers, unless it has a status; leaves every other value as it is. */
export function forHttp(error: unknown, retryAfter: number): void {
  if (!isPoolError(error) || (error as HttpFields).statusCode !== undefined) return
  const answer = answerTo(error, retryAfter)
  if (answer === undefined) return
  const fields: HttpFields = { statusCode: answer.statusCode }
  if (answer.retryAfter !== undefined) fields.headers = { 'retry-after': String(answer.retryAfter) }
  Object.assign(error, fields)
}

/** `undefined` where the state of the pool is not the cause, nor that the client has gone. `retryAfter` in seconds. */
export function answerTo(error: { code: string }, retryAfter: number): Answer | undefined {
  switch (error.code) {
    case 'ERR_LIDO_QUEUE_FULL':
      return { statusCode: UNAVAILABLE, reason: 'too many tasks wait', retryAfter }
    case 'ERR_LIDO_TASK_TIMEOUT': {
      // Not begun in time is a matter of load; begun and not done would be the same again.
      const late = { statusCode: UNAVAILABLE, reason: 'the task took too long' }
      return (error as TaskTimeoutError).limit === 'queueTimeout' ? { ...late, retryAfter } : late
    }
    case 'ERR_LIDO_RESTART_LIMIT': {
      const down = { statusCode: UNAVAILABLE, reason: 'workers do not start' }
      const seconds = Math.max(1, Math.ceil((error as RestartLimitError).retryAfter / 1000))
      // With `pause: Infinity` no time is the right one, and beyond this the number has no digits of its own.
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
