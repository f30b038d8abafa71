// Errors for HTTP servers, with the fields that Express and Fastify use for their answer: `status`, `statusCode`,
// `expose`, `headers`. They have the texts and types of body-parser where it has an equivalent error.
import { isPoolError, type PoolError } from '../../index.js'
import { answerTo } from '../http/answers.js'
import { clientGone } from '../http/client.js'
import { RETRY_AFTER_S } from '../http/options.js'

/** An error with the fields by which Express and Fastify answer. */
export interface HttpProblem extends Error {
  /** The status of the answer. `statusCode` is the same. */
  readonly status: number
  /** The status of the answer. */
  readonly statusCode: number
  /** Whether the client may read the message. */
  readonly expose: boolean
  /** The kind of the problem, as `'entity.parse.failed'`. */
  readonly type: string
  /** The `code` of the pool's error. */
  readonly code?: string
  /** Headers of the answer, as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
}

export function httpProblem<Fields extends object>(
  error: Error,
  status: number,
  type: string,
  fields?: Fields,
): HttpProblem & Fields {
  const common = { expose: status < 500, statusCode: status, status, type }
  return Object.assign(error, common, fields) as unknown as HttpProblem & Fields
}

/** The text is not JSON. `body` is the text, decoded on the first read. It can be set, as in body-parser. */
export function malformed(message: string, line: number, readBody: () => string): HttpProblem {
  const problem = httpProblem(new SyntaxError(message), 400, 'entity.parse.failed', line > 0 ? { line } : {})
  const set = (value: unknown) =>
    Object.defineProperty(problem, 'body', { value, writable: true, enumerable: true, configurable: true })
  return Object.defineProperty(problem, 'body', { get: readBody, set, enumerable: true, configurable: true })
}

export function tooDeep(maxDepth: number): HttpProblem {
  const message = `request entity nests deeper than ${maxDepth} levels`
  return httpProblem(new Error(message), 400, 'entity.too.deep', { limit: maxDepth })
}

export function tooManyLines(maxLines: number): HttpProblem {
  const message = `request entity has more than ${maxLines} lines`
  return httpProblem(new Error(message), 413, 'lines.too.many', { limit: maxLines })
}

export function invalid(issues: unknown): HttpProblem & { issues: unknown } {
  return httpProblem(new Error('request entity is not valid'), 422, 'entity.invalid', { issues })
}

/**
 * The client left before the answer. Only logs show this error, with the fields of body-parser. Clients leave often, and Express prints
 * the stack, which would tell nothing.
 */
export function requestAborted(): HttpProblem {
  const error = httpProblem(new Error('request aborted'), 400, 'request.aborted', { code: 'ECONNABORTED' })
  return withoutAbortStack(error) as HttpProblem
}

/** Shortens the stack of such an error, also of the one of body-parser. */
export function withoutAbortStack(problem: unknown): unknown {
  if (problem instanceof Error && (problem as HttpProblem).type === 'request.aborted')
    problem.stack = `${problem.name}: ${problem.message}`
  return problem
}

/** Converts an error of `pool.run()` for HTTP. Returns an error of the handler unchanged. */
export function problemOf(error: unknown): unknown {
  if (!isPoolError(error)) return error
  const { code, cause } = error
  const answer = answerTo(error, RETRY_AFTER_S)
  if (answer?.statusCode === 503) {
    // Without `retryAfter`, a RestartLimitError means that workers never start again.
    const defaultRetry = code === 'ERR_LIDO_RESTART_LIMIT' ? undefined : RETRY_AFTER_S
    return unavailable(error, answer.reason, answer.retryAfter ?? defaultRetry)
  }
  if (code !== 'ERR_LIDO_TASK_CANCELLED')
    return httpProblem(failure(error, error.message), 500, 'task.failed', { code })
  if (cause === clientGone) return requestAborted()
  return isHttpProblem(cause) ? cause : unavailable(error, 'the task was cancelled', RETRY_AFTER_S)
}

/**
 * Wraps a thrown primitive in an error. Express ignores `next(undefined)` and treats `next('route')` as a command.
 */
export function thrownError(thrown: unknown): unknown {
  if ((typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function') return thrown
  const shown = typeof thrown === 'string' ? `'${thrown}'` : String(thrown)
  const message = `A function of the option 'module' threw ${shown}. Throw an Error instead. Its 'status', if set, becomes the status of the answer.`
  return httpProblem(new Error(message, { cause: thrown }), 500, 'task.failed')
}

function unavailable(error: PoolError, reason: string, retryAfter: number | undefined): HttpProblem {
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  return httpProblem(failure(error, reason), 503, 'service.unavailable', { code: error.code, headers })
}

function failure(cause: PoolError, message: string): Error {
  return new Error(message, { cause })
}

function isHttpProblem(value: unknown): value is HttpProblem {
  return value instanceof Error && typeof (value as Partial<HttpProblem>).status === 'number'
}
