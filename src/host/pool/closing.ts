// The end of a pool: what a caller may say of it, and what is kept while it is under way.
import type { Timer } from '../../shared/base/clock.js'
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

/** A close under way. */
export class Closing {
  readonly done: Promise<CloseReport>
  resolve!: (report: CloseReport) => void
  limit: Timer | null = null
  isShuttingDown = false
  timedOut = false

  constructor() {
    this.done = new Promise(resolve => {
      this.resolve = resolve
    })
  }
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
