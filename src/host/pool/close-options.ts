// What a caller may say of the end of a pool, and is told of it.
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { describe } from './describe-value.js'

export interface CloseOptions {
  /** Rejects the tasks that wait with `PoolClosedError` instead of running them. Default `false`. */
  force?: boolean | undefined
}

export interface CloseReport {
  /** Accepted tasks that did not get to finish. */
  cutOff: number
  /** `closeTimeout` was over before the tasks, or the workers' teardowns, were done. */
  timedOut: boolean
}

export function checkCloseOptions(options: unknown): CloseOptions {
  if (options === null || typeof options !== 'object') {
    throw new InvalidTaskError(
      'options',
      `The options of close() must be an object; got ${describe(options)}.`,
    )
  }
  const force = Object.hasOwn(options, 'force') ? (options as CloseOptions).force : undefined
  if (force === undefined || typeof force === 'boolean') return { force }
  throw new InvalidTaskError(
    'force',
    `The option 'force' of close() must be true or false; got ${describe(force)}.`,
  )
}
