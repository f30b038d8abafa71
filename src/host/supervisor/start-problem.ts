// What the runtime says when it gives no worker, as an error about the option where it is one.
import { OwnFileError } from '../../shared/errors/own-file-error.js'
import { InvalidOptionError, type PoolError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import type { Handler } from '../../shared/protocol/messages.js'

export function startProblem(failure: unknown, handler: Handler | null, workerId = 1): PoolError {
  if (!(failure instanceof OwnFileError)) {
    const { code, name, message } = failure as { code?: string; name?: string; message?: string }
    if (code === 'ERR_WORKER_INVALID_EXEC_ARGV') {
      const option = message?.includes('NODE_OPTIONS') ? 'env' : 'execArgv'
      return new InvalidOptionError(
        option,
        `The option '${option}' holds flags a worker cannot have: ${message}.`,
        failure,
      )
    }
    if (name === 'DataCloneError') {
      return new InvalidOptionError('workerData', `The option 'workerData' (or 'env'): ${message}`, failure)
    }
  }
  return new WorkerStartError(workerId, handler ?? { filename: '', name: '' }, 'thread', failure)
}
