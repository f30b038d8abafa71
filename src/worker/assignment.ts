// A task as the executor sees it, whichever road it came by.

import { type SerializedError, serializeError } from '../shared/errors/serialize-error.js'
import { refusalCause, refuseDetached, refusedPath } from '../shared/errors/uncloneable-path.js'
import type { Handler } from '../shared/messages/handler.js'
import type { FailureReason, HostPort, ToHost } from '../shared/messages/messages.js'
import { isMoved, type TransferItem, transferOf, valueSymbol } from '../shared/messages/move.js'

export interface Assignment {
  readonly handlerId: number
  /** `null` when the number says it all. */
  readonly handler: Handler | null
  payload: unknown
  /** Nobody wants its answer any more; whatever it ends with only frees its slot. */
  readonly isCancelled: boolean
  /** Why, as far as this worker was told. */
  readonly cancelReason: unknown
  /** Aborts when this worker is told that the task is cancelled. */
  makeSignal(): AbortSignal
  markLoading(isLoading: boolean): void
  /** What it waits for is not its own doing: its time does not count, until the function is called that is returned. */
  holdTime(): () => void
  succeed(result: unknown): void
  fail(reason: FailureReason, error: SerializedError, path: string): void
}

export interface Addressed {
  readonly taskId: number
  readonly slot: number
  readonly startedAt?: number
  readonly runMs?: number
}

/** Where a task stands in this worker: `ended` when nobody wanted its answer. */
export type AssignmentState = 'running' | 'answered' | 'ended'

/** Why a result could not be sent, for `fail`. */
export interface Unsendable {
  error: SerializedError
  path: string
}

/** Sends a result over the port; what cannot be sent is not, and the reason is returned. */
export function sendResult(port: HostPort, task: Addressed, result: unknown): Unsendable | null {
  let value = result
  let transferList: TransferItem[] | undefined
  try {
    if (isMoved(result)) {
      value = result[valueSymbol]
      transferList = transferOf(result)
      refuseDetached(transferList)
    }
    port.postMessage({ kind: 'done', ...task, result: value } satisfies ToHost, transferList)
    return null
  } catch (failure) {
    return unsendable(failure, value, transferList)
  }
}

export function unsendable(failure: unknown, result: unknown, transferred?: TransferItem[]): Unsendable {
  const cause = refusalCause(failure, result, transferred)
  return { error: serializeError(cause), path: refusedPath(failure, result, 'result', transferred) }
}

export function sendFailure(
  port: HostPort,
  task: Addressed,
  reason: FailureReason,
  error: SerializedError,
  path: string,
): void {
  try {
    port.postMessage({ kind: 'failed', ...task, reason, error, path } satisfies ToHost)
  } catch (failure) {
    // The error is too large to be sent.
    port.postMessage({
      kind: 'failed',
      ...task,
      reason,
      error: serializeError(failure),
      path,
    } satisfies ToHost)
  }
}
