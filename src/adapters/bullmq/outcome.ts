// Decides what the queue does with a job whose task was refused or failed.
import { isPoolError, type PoolError, TaskCancelledError, type WorkerStartError } from '../../index.js'
import { CANCELLED_BY_CALLER } from './control.js'
import type { GiveBackReason } from './give-back.js'
import type { JobFormatError } from './job-values.js'

/** The reason of the signals of jobs that a closing host gives back. */
export const GIVEN_BACK = 'lido:given-back'

/** The host gives a job back that it has not started. */
export class NotStartedError extends Error {
  readonly reason: 'overload' | 'closing' | 'prefetched' | 'too early'
  readonly delayMs: number

  constructor(reason: NotStartedError['reason'], delayMs = 0) {
    super(`The host did not start the job: ${reason}.`)
    this.reason = reason
    this.delayMs = delayMs
  }
}

/**
 * - `retry`: the attempt failed, and BullMQ retries as the options of the job say.
 * - `fail`: another attempt would fail as well.
 * - `give back`: the job waits again, and no attempt is counted. After `delayMs`, so that a host does not fetch it at once.
 * - `refuse`: this host cannot run the job, and another host may. As `give back`, with a growing delay and a time limit.
 */
export type JobOutcome =
  | { do: 'retry' }
  | { do: 'fail' }
  | { do: 'give back'; reason: GiveBackReason; delayMs: number }
  | { do: 'refuse'; reason: GiveBackReason }

/** Long enough for a full pool to end some tasks. */
const FULL_DELAY_MS = 100

/** The codes of errors that every attempt would meet again. */
const permanentCodes = new Set([
  'ERR_LIDO_NOT_CLONEABLE',
  'ERR_LIDO_INVALID_TASK',
  'ERR_LIDO_INVALID_OPTION',
  'ERR_LIDO_JOB_FORMAT',
  'ERR_LIDO_VALUE_TOO_LARGE',
])

export function outcomeOf(error: unknown, signal: AbortSignal | undefined): JobOutcome {
  if (error instanceof NotStartedError)
    return { do: 'give back', reason: error.reason, delayMs: error.delayMs }
  if (signal?.aborted && error instanceof TaskCancelledError) {
    if (signal.reason === GIVEN_BACK) return { do: 'give back', reason: 'closing', delayMs: 0 }
    return { do: signal.reason === CANCELLED_BY_CALLER ? 'fail' : 'retry' }
  }
  if (!isPoolError(error)) return { do: 'retry' }
  if (error.code === 'ERR_LIDO_QUEUE_FULL') return { do: 'give back', reason: 'full', delayMs: FULL_DELAY_MS }
  const reason = whyRefused(error)
  if (reason !== null) return { do: 'refuse', reason }
  return { do: isPermanent(error) ? 'fail' : 'retry' }
}

/** A deploy may change what hosts can run, so a job waits for the right host. `null`: this host can run the job. */
function whyRefused(error: PoolError): GiveBackReason | null {
  switch (error.code) {
    case 'ERR_LIDO_WORKER_START':
      return (error as WorkerStartError).stage === 'handler' ? 'no handler' : 'host fault'
    case 'ERR_LIDO_RESTART_LIMIT':
      return 'host fault'
    case 'ERR_LIDO_POOL_CLOSED':
      return 'closing'
    case 'ERR_LIDO_JOB_FORMAT':
      return (error as JobFormatError).isOtherVersion ? 'format' : null
    default:
      return null
  }
}

function isPermanent(error: PoolError): boolean {
  if (error.code === 'ERR_LIDO_TASK_TIMEOUT')
    return (error as PoolError & { limit: string }).limit === 'deadline'
  return permanentCodes.has(error.code)
}
