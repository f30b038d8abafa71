// Runs tasks and answers them. An answer is always given: what cannot be sent is answered with the reason.
import type { MessagePort } from 'node:worker_threads'
import type { SharedWords } from '../shared/base/atomics.js'
import { claim } from '../shared/channel/claims.js'
import { findUncloneable } from '../shared/errors/clone-path.js'
import { type PackedThrown, pack } from '../shared/errors/remote-error.js'
import type { FailureReason, Handler, ToHost, ToWorker } from '../shared/protocol/messages.js'
import { isMoved, type TransferItem, transferOf, valueSymbol } from '../shared/protocol/move.js'
import { type HandlerFunction, loadHandler } from './handler-loader.js'
import { flushStdio } from './stdio-flush.js'

type RunMessage = Extract<ToWorker, { kind: 'run' }>

export class Executor {
  readonly #port: MessagePort
  readonly #claims: SharedWords
  readonly #handlers = new Map<number, HandlerFunction>()
  readonly #running = new Set<number>()

  constructor(port: MessagePort, claims: SharedWords) {
    this.#port = port
    this.#claims = claims
  }

  /** The tasks begun and not answered. */
  get running(): number[] {
    return [...this.#running]
  }

  run(message: RunMessage): void {
    const handler = this.#handlers.get(message.handlerId)
    if (handler !== undefined) this.#begin(message, handler)
    else void this.#loadAndBegin(message, message.handler!)
  }

  async #loadAndBegin(message: RunMessage, wanted: Handler): Promise<void> {
    let handler: HandlerFunction | null
    try {
      handler = await loadHandler(wanted)
    } catch (failure) {
      if (this.#claim(message)) this.#fail(message, 'load', pack(failure))
      return
    }
    if (handler !== null) {
      this.#handlers.set(message.handlerId, handler)
      this.#begin(message, handler)
    } else if (this.#claim(message)) this.#fail(message, 'missing', pack(undefined))
  }

  #begin(message: RunMessage, handler: HandlerFunction): void {
    if (!this.#claim(message)) return
    let result: unknown
    try {
      result = handler(message.payload)
    } catch (thrown) {
      this.#afterFlush(() => this.#fail(message, 'thrown', pack(thrown)))
      return
    }
    if (isThenable(result)) {
      result.then(
        value => this.#afterFlush(() => this.#succeed(message, value)),
        thrown => this.#afterFlush(() => this.#fail(message, 'thrown', pack(thrown))),
      )
    } else this.#afterFlush(() => this.#succeed(message, result))
  }

  #claim(message: RunMessage): boolean {
    if (!claim(this.#claims, message.slot, message.taskId)) return false
    this.#running.add(message.taskId)
    return true
  }

  #afterFlush(answer: () => void): void {
    const flushed = flushStdio()
    if (flushed === undefined) answer()
    else void flushed.then(answer)
  }

  #succeed(message: RunMessage, result: unknown): void {
    const { taskId, slot } = message
    this.#running.delete(taskId)
    try {
      if (isMoved(result))
        this.#answer({ kind: 'done', taskId, slot, result: result[valueSymbol] }, transferOf(result))
      else this.#answer({ kind: 'done', taskId, slot, result })
    } catch (failure) {
      this.#fail(message, 'result', pack(failure), findUncloneable(result, 'result'))
    }
  }

  #fail({ taskId, slot }: RunMessage, reason: FailureReason, error: PackedThrown, path = ''): void {
    this.#running.delete(taskId)
    try {
      this.#answer({ kind: 'failed', taskId, slot, reason, error, path })
    } catch (failure) {
      const text = `(an error that could not be sent: ${String(failure)})`
      this.#answer({ kind: 'failed', taskId, slot, reason, error: { kind: 'text', text }, path })
    }
  }

  #answer(message: ToHost, transferList?: TransferItem[]): void {
    if (transferList === undefined) this.#port.postMessage(message)
    else this.#port.postMessage(message, transferList)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as PromiseLike<unknown>).then === 'function'
}
