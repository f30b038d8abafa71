// The time limits of a closing host. Its server may be unreachable.
import type { Worker } from 'bullmq'
import { realClock, within } from '../../kit.js'
import { GIVEN_BACK } from './outcome.js'

/** How long BullMQ may take to write the last results and to disconnect. */
const DISCONNECT_AFTER_MS = 5000
/** How long the other connections may take after the worker's did not end. */
const UNREACHABLE_AFTER_MS = 500

/**
 * Waits for the jobs of the worker. After `closeTimeout` they get the signal to go back. Never rejects.
 * @param hasJobs false: there is nothing to wait for but the server
 * @returns how long the other parts may take to close
 */
export async function closeWorker(worker: Worker, closeTimeout: number, hasJobs: boolean): Promise<number> {
  const timer = realClock.after(closeTimeout, () => worker.cancelAllJobs(GIVEN_BACK), true)
  const limitMs = (hasJobs ? closeTimeout : 0) + DISCONNECT_AFTER_MS
  const closed = worker.close().then(
    () => DISCONNECT_AFTER_MS,
    () => DISCONNECT_AFTER_MS,
  )
  const restMs = await within(realClock, limitMs, closed, () => UNREACHABLE_AFTER_MS)
  timer.cancel()
  return restMs
}
