// What a caller may say of the end of a pool, and is told of it.
import { ownOptions, refuseFor } from './call-options.js'

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
  const { force } = ownOptions<CloseOptions>('close()', options, ['force'])
  if (force === undefined || typeof force === 'boolean') return { force }
  return refuseFor('close()', 'force', force, 'true or false')
}
