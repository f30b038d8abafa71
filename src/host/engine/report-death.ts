// Reports an exception that ended a worker if neither a caller nor an `error` listener can receive it.
import { WorkerExitError } from '../../shared/errors/pool-errors.js'
import { inspect } from '../../shared/platform/node-modules.js'
import type { Death, Worker } from '../workers/worker.js'

/** Writes to stderr. In a process Node has already written the exception, so the report only names the worker. */
export function reportDeath(label: string, { id, view }: Worker, { wasReady, error }: Death): void {
  // `process.exit()` is no exception. A failed start rejects the next call.
  if (!wasReady || error instanceof WorkerExitError) return
  const isWrittenByNode = view.backend === 'process' && error instanceof Error
  const exception = isWrittenByNode ? '' : `${inspect(error)}\n`
  process.stderr.write(
    `${label} worker ${id} ended because of an uncaught exception while it had no task. ` +
      `Add a listener for the pool's 'error' event to handle it.\n${exception}`,
  )
}
