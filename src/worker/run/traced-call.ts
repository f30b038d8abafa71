// A call of a handler that subscribers of the channel `lido.handler` follow.
import type { HandlerMessage } from '../../api/channels.js'
import type { HandlerOrigin } from '../../shared/messages/messages.js'
import { TraceChannel } from '../../shared/platform/channels.js'
import type { WorkerTask } from '../lane/worker-task.js'
import type { Measurement } from './meter.js'

export const handlerChannel = new TraceChannel<HandlerMessage>('lido.handler')

/** Learns how the call of a handler goes. */
export interface CallWatch {
  /** The handler returned a promise. */
  onPending(): void
  /** @param value the result, or what the handler threw */
  end(hasFailed: boolean, value: unknown): void
}

export class TracedCall implements CallWatch {
  readonly #message: HandlerMessage
  /** `null`: the call is not measured. */
  readonly #measurement: Measurement | null
  /** A function `run` of a carried store called the handler. */
  #hasStarted = false
  #isPending = false

  constructor(
    { taskId, handler }: WorkerTask,
    origin: HandlerOrigin,
    threadId: number,
    measurement: Measurement | null,
  ) {
    const { pool, workerId } = origin
    const { filename, name } = handler
    this.#message = { pool, taskId, filename, name, workerId, threadId, result: undefined, error: undefined }
    this.#measurement = measurement
  }

  /** A second call of the handler publishes nothing. */
  start<T>(call: () => T): T {
    if (this.#hasStarted) return call()
    this.#hasStarted = true
    return handlerChannel.start(this.#message, call)
  }

  onPending(): void {
    this.#measurement?.onPending()
    if (!this.#hasStarted) return
    this.#isPending = true
    handlerChannel.end(this.#message)
  }

  end(hasFailed: boolean, value: unknown): void {
    this.#measurement?.end()
    if (!this.#hasStarted) return
    const message = this.#message
    if (hasFailed) message.error = value
    else message.result = value
    if (this.#isPending) {
      handlerChannel.settle(message, hasFailed)
      return handlerChannel.asyncEnd(message)
    }
    if (hasFailed) handlerChannel.fail(message)
    handlerChannel.end(message)
  }
}
