// Runs the calls that a new worker makes before its first task: the broadcasts with `alsoNew`.
import { type SerializedError, serializeError } from '../../shared/errors/serialize-error.js'
import type { FailureReason, StartCall } from '../../shared/messages/messages.js'
import type { TaskAnswers } from '../lane/worker-task.js'
import { WorkerTask } from '../lane/worker-task.js'
import { AbortSignals } from './abort-signals.js'
import { workerClock } from './clock.js'
import type { Executor } from './executor.js'
import type { LogSender } from './log-sender.js'
import { withinLimit } from './module-loader.js'

/** Why a call failed. */
export interface StartCallFailure {
  reason: FailureReason
  error: SerializedError
}

/** The task of such a call has no ticket and no caller: nobody can cancel it, and nobody gets its result. */
class StartAnswers implements TaskAnswers {
  readonly abortSignals = new AbortSignals()
  readonly logs: LogSender
  readonly #settle: (failure: StartCallFailure | null) => void

  constructor(logs: LogSender, settle: (failure: StartCallFailure | null) => void) {
    this.logs = logs
    this.#settle = settle
  }

  isCancelled(): boolean {
    return false
  }

  markLoading(): void {}

  pauseTime(): () => void {
    return () => {}
  }

  report(): void {}

  linkOf(): never {
    throw new Error(
      'A broadcast that runs at the start of a worker has no caller, so it cannot call functions.',
    )
  }

  succeed(): void {
    this.#settle(null)
  }

  fail(_task: WorkerTask, reason: FailureReason, error: SerializedError): void {
    this.#settle({ reason, error })
  }
}

/**
 * Runs one call. Resolves to `null`, or to the failure of the call.
 * @param limitMs 0: no limit
 */
export async function runStartCall(
  { handlerId, handler, payload }: StartCall,
  executor: Executor,
  logs: LogSender,
  limitMs: number,
): Promise<StartCallFailure | null> {
  const run = () =>
    new Promise<StartCallFailure | null>(resolve => {
      const answers = new StartAnswers(logs, resolve)
      executor.run(new WorkerTask(0, 0, handlerId, handler, payload, workerClock.now(), true, answers))
    })
  try {
    return await (limitMs === 0 ? run() : withinLimit(run, limitMs, `The broadcast of '${handler.name}'`))
  } catch (failure) {
    return { reason: 'thrown', error: serializeError(failure) }
  }
}
