// What a call does with the messages of its running task. The lane delivers them and knows nothing else about them.
import type { TransferItem } from '../../api/call-options.js'
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { BodyToCaller, BodyToTask } from '../../shared/messages/task-body.js'

/** Calls its argument at once. What the function starts is part of the call that the task waits for. */
export type Within = <T>(call: () => T) => T

/** A running task, for the receiver of its messages. Has no effect once the task has settled or has left its worker. */
export interface TaskChannel {
  /** Throws when a part of the message cannot be sent. */
  post(body: BodyToTask, transferList?: readonly TransferItem[]): void
  /** Cancels the task. The caller gets the error. */
  cancel(error: PoolError): void
  /** The promise of the call resolves to the value now, and the answer of the task goes to `onAnswer`. */
  resolveEarly(value: unknown, onAnswer: (answer: unknown) => void): void
  /**
   * The task waits for the work. Meanwhile it lends its slot to the tasks that the work submits.
   * @param work must not reject
   */
  wait<T>(work: (within: Within) => Promise<T>): Promise<T>
}

/** Gets the messages of one run of a task. */
export type Receiver = (body: BodyToCaller) => void

/** Called with the first message of each run of the task. */
export type Exchange = (channel: TaskChannel) => Receiver
