// Decides what the queue does with a job whose task was refused or failed.
import { isPoolError, type PoolError, TaskCancelledError, WorkerStartError } from '../../index.js'
import { CANCELLED_BY_CALLER } from './control.js'

/** The reason of the signals of jobs that a closing host gives back. */
export const GIVEN_BACK = 'lido:given-back'

/**
 * `retry`: the attempt failed, and BullMQ retries as the options of the job say. `fail`: another attempt would fail as well.
 * `give back`: the job waits again, and no attempt is counted. After `delayMs`, so that a host does not fetch it at once.
 */
export type JobOutcome = { do: 'retry' } | { do: 'fail' } | { do: 'give back'; delayMs: number }

/** Long enough for a full pool to end some tasks, and for another host to take the job of a closed pool. */
const FULL_DELAY_MS = 100
const CLOSED_DELAY_MS = 1000

/** The codes of errors that every attempt would meet again. */
const permanentCodes = new Set([
  'ERR_LIDO_NOT_CLONEABLE',
  'ERR_LIDO_INVALID_TASK',
  'ERR_LIDO_INVALID_OPTION',
  'ERR_LIDO_JOB_FORMAT',
  'ERR_LIDO_VALUE_TOO_LARGE',
])

export function outcomeOf(error: unknown, signal: AbortSignal | undefined): JobOutcome {
  if (signal?.aborted && error instanceof TaskCancelledError) {
    if (signal.reason === GIVEN_BACK) return { do: 'give back', delayMs: 0 }
    return { do: signal.reason === CANCELLED_BY_CALLER ? 'fail' : 'retry' }
  }
  if (!isPoolError(error)) return { do: 'retry' }
  if (error.code === 'ERR_LIDO_QUEUE_FULL') return { do: 'give back', delayMs: FULL_DELAY_MS }
  if (error.code === 'ERR_LIDO_POOL_CLOSED') return { do: 'give back', delayMs: CLOSED_DELAY_MS }
  return { do: isPermanent(error) ? 'fail' : 'retry' }
}

function isPermanent(error: PoolError): boolean {
  if (error instanceof WorkerStartError) return error.stage === 'handler'
  if (error.code === 'ERR_LIDO_TASK_TIMEOUT')
    return (error as PoolError & { limit: string }).limit === 'deadline'
  return permanentCodes.has(error.code)
}
