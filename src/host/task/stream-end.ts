// The caller's side of a task whose result is a stream.

import type { TransferItem } from '../../api/call-options.js'
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { StreamMessage } from '../../shared/messages/messages.js'

/** Sends a message to the worker that runs the task. Throws when a part of the message cannot be sent. */
export type PostToTask = (message: StreamMessage, transferList?: readonly TransferItem[]) => void

/** Cancels the task. The caller gets the error. */
export type CancelTask = (error: PoolError) => void

/** Receives the messages of the task. */
export interface StreamEnd {
  onMessage(message: StreamMessage): void
  onAnswer(answer: unknown): void
}

export interface OpenedStream {
  readonly end: StreamEnd
  /** The promise of the call resolves to it now, and the answer of the task goes to `end`. `null`: the promise waits. */
  readonly result: object | null
}

/** Called when the handler has returned a stream. */
export type OpenStream = (post: PostToTask, cancel: CancelTask) => OpenedStream
