// Sends answers as messages through the port.

import type { TransferItem } from '../../api/call-options.js'
import { type SerializedError, serializeError } from '../../shared/errors/serialize-error.js'
import { refusalCause, refuseDetached, refusedPath } from '../../shared/errors/uncloneable-path.js'
import type { FailureReason, HostPort, RunTime, ToHost } from '../../shared/messages/messages.js'
import { type Outgoing, outgoing } from '../../shared/messages/outgoing.js'
import { isStream } from '../run/streams.js'

/** The task of an answer, and its run time. */
export interface AnswerHead extends RunTime {
  readonly taskId: number
  readonly ticket: number
}

/** The reason why a result cannot be sent, for `fail`. */
export interface Unsendable {
  error: SerializedError
  path: string
}

/** Sends a result and returns `null`. If the result cannot be sent, sends nothing and returns the reason. */
export function sendResult(port: HostPort, head: AnswerHead, result: unknown): Unsendable | null {
  let sent: Outgoing = { value: result, transferList: [] }
  try {
    sent = outgoing(result)
    refuseDetached(sent.transferList)
    port.postMessage({ kind: 'done', ...head, result: sent.value } satisfies ToHost, sent.transferList)
    return null
  } catch (failure) {
    return unsendable(failure, sent.value, sent.transferList)
  }
}

export function unsendable(
  failure: unknown,
  result: unknown,
  transferred?: readonly TransferItem[],
): Unsendable {
  const cause = isStream(result)
    ? new TypeError('The handler returned a stream. Call it with stream() in place of run().')
    : refusalCause(failure, result, transferred)
  return { error: serializeError(cause), path: refusedPath(failure, result, 'result', transferred) }
}

export function sendFailure(
  port: HostPort,
  head: AnswerHead,
  reason: FailureReason,
  error: SerializedError,
  path: string,
): void {
  try {
    port.postMessage({ kind: 'failed', ...head, reason, error, path } satisfies ToHost)
  } catch (failure) {
    // The error is too large to be sent.
    const cause = serializeError(failure)
    port.postMessage({ kind: 'failed', ...head, reason, error: cause, path } satisfies ToHost)
  }
}
