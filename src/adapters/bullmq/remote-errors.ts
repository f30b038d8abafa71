// The errors of `RemotePool` that a local pool does not have, and the classes of errors that cross the queue.

import type { ErrorClass } from '../../api/pool-options.js'
import * as lido from '../../index.js'
import { PoolError } from '../../index.js'
import { ErrorClasses, markPoolError, shorten } from '../../kit.js'
import { JobFormatError, ValueTooLargeError } from './job-values.js'
import { troubleOf } from './server-errors.js'

export { isInterruption } from './server-errors.js'

/** The job failed without details of the error: it stalled too often, or a host without this package ran it. Code `ERR_LIDO_JOB_FAILED`. */
export class JobFailedError extends PoolError {
  /** The id of the job. */
  readonly jobId: string

  constructor(jobId: string, reason: string) {
    super(
      'ERR_LIDO_JOB_FAILED',
      `Job ${shorten(jobId)} failed: ${reason.replace(/\.$/, '')}. Look at the log of the host that ran it. A job that stalls lost its host, or blocked it for longer than its lock.`,
    )
    this.jobId = jobId
  }
}

/** The queue has no such job: it was removed, or its result expired. Code `ERR_LIDO_JOB_LOST`. */
export class JobLostError extends PoolError {
  /** The id of the job. */
  readonly jobId: string

  constructor(jobId: string) {
    super(
      'ERR_LIDO_JOB_LOST',
      `The queue has no job ${shorten(jobId)}. It was removed from the queue, or its result expired. Check the id, or raise keepResults.`,
    )
    this.jobId = jobId
  }
}

/** The queue's server cannot be reached or refuses the connection or a command. Code `ERR_LIDO_ENGINE`. `cause` is its error. */
export class EngineError extends PoolError {
  constructor(queueName: string, connection: unknown, cause: unknown) {
    super(
      'ERR_LIDO_ENGINE',
      `The server of queue '${shorten(queueName)}' at ${addressOf(connection)} refused the request${stateOf(cause)} (${reasonOf(cause)}). ${adviceOn(cause)}`,
      cause,
    )
  }
}

function stateOf(cause: unknown): string {
  const trouble = troubleOf(cause)
  return trouble === null ? '' : `: ${trouble.state}`
}

function adviceOn(cause: unknown): string {
  if (troubleOf(cause)?.kind === 'refusal') return 'Help the server, then repeat the call.'
  return "Check that the server runs, the address, the password, and for PostgreSQL that the tables exist ('migrate')."
}

function reasonOf(cause: unknown): string {
  const { message, code, errors } = Object(cause) as {
    message?: string
    code?: string
    errors?: unknown[]
  }
  if (message) return message
  // Node tries several addresses of a name, and gives one error for all.
  return errors?.[0] === undefined ? (code ?? String(cause)) : reasonOf(errors[0])
}

/** Without the password. */
function addressOf(connection: unknown): string {
  if (typeof connection === 'string') return hostOf(connection)
  const outer = Object(connection)
  const { connectionString, url, host, port, path } = { ...outer.options, ...outer }
  if (connectionString ?? url) return hostOf(String(connectionString ?? url))
  if (path) return String(path)
  return port === undefined ? String(host ?? 'its default address') : `${host ?? 'localhost'}:${port}`
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the address in its connection string'
}

const own: Record<string, unknown> = { ...lido, JobFormatError, ValueTooLargeError }
const poolErrors = Object.values(own).filter(
  member => typeof member === 'function' && member.prototype instanceof PoolError,
) as ErrorClass[]

export function remoteClasses(given: readonly ErrorClass[]): ErrorClasses {
  return new ErrorClasses([PoolError, ...poolErrors, ...given])
}

/** A copy of an error of this package has its class, but lacks the mark that `isPoolError()` looks for. */
export function restored(error: unknown): unknown {
  if (error instanceof PoolError && !lido.isPoolError(error)) {
    markPoolError(error)
  }
  return error
}

const unsupportedMethods = {
  stream:
    'A queue keeps one result for each job, so it carries no stream of chunks. Use map() for many items, or onProgress for intermediate values.',
  transform:
    'A queue keeps one result for each job, so it carries no streams. Use map() with the chunks as its input.',
  broadcast:
    "A job runs on one worker, and this program does not know the workers of the hosts. Export 'setup' from the handlers' module, or call broadcast() on each host.",
  share:
    'Machines share no memory. Put the value where all hosts can read it, such as a file store, and pass its address.',
}

/** Throws the error of a method that a local pool has and a `RemotePool` cannot have. */
export function unsupported(method: keyof typeof unsupportedMethods): never {
  throw new lido.InvalidTaskError(method, `RemotePool has no ${method}(): ${unsupportedMethods[method]}`)
}
