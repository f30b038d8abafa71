// Runs tasks and answers them. An answer is always given: what cannot be sent is answered with the reason.
import type { MessagePort } from 'node:worker_threads'
import type { SharedWords } from '../shared/base/atomics.js'
import { claim, markLoading } from '../shared/channel/claims.js'
import { findUncloneable } from '../shared/errors/clone-path.js'
import { type PackedThrown, pack } from '../shared/errors/remote-error.js'
import type { FailureReason, Handler, ToHost, ToWorker } from '../shared/protocol/messages.js'
import { isMoved, type TransferItem, transferOf, valueSymbol } from '../shared/protocol/move.js'
import { type HandlerFunction, hasFailedAgain, loadHandler } from './handler-loader.js'
import { flushStdio } from './stdio-flush.js'

type RunMessage = Extract<ToWorker, { kind: 'run' }>

export class Executor {
  readonly #port: MessagePort
  readonly #claims: SharedWords
  readonly #onIdle: () => void
  readonly #handlers = new Map<number, HandlerFunction>()
  readonly #running = new Set<number>()
  /** Answers that wait for what was printed before them; a thread that ends meanwhile still gives them. */
  readonly #unsent = new Set<() => void>()

  /** @param onIdle called when the last task it held is answered */
  constructor(port: MessagePort, claims: SharedWords, onIdle: () => void) {
    this.#port = port
    this.#claims = claims
    this.#onIdle = onIdle
    process.on('exit', () => {
      for (const answer of this.#unsent) answer()
    })
  }

  /** The tasks begun and not answered. */
  get running(): number[] {
    return [...this.#running]
  }

  run(message: RunMessage): void {
    if (!this.#claim(message)) return
    const handler = this.#handlers.get(message.handlerId)
    if (handler !== undefined) this.#call(message, handler)
    else void this.#loadAndCall(message, message.handler!)
  }

  /** A file may block or end this thread, so its task is begun when its loading begins. */
  async #loadAndCall(message: RunMessage, wanted: Handler): Promise<void> {
    let handler: HandlerFunction | null
    markLoading(this.#claims, message.slot, true)
    try {
      handler = await loadHandler(wanted)
    } catch (failure) {
      markLoading(this.#claims, message.slot, false)
      this.#fail(message, 'load', pack(failure))
      if (hasFailedAgain(wanted)) this.#answer({ kind: 'stale' })
      return
    }
    markLoading(this.#claims, message.slot, false)
    if (handler === null) return this.#fail(message, 'missing', pack(undefined))
    this.#handlers.set(message.handlerId, handler)
    this.#call(message, handler)
  }

  #call(message: RunMessage, handler: HandlerFunction): void {
    let result: unknown
    let promise: Promise<unknown> | null
    try {
      result = handler(message.payload)
      promise = isThenable(result) ? Promise.resolve(result) : null
    } catch (thrown) {
      this.#afterFlush(() => this.#fail(message, 'thrown', pack(thrown)))
      return
    }
    if (promise === null) this.#afterFlush(() => this.#succeed(message, result))
    else {
      promise.then(
        value => this.#afterFlush(() => this.#succeed(message, value)),
        thrown => this.#afterFlush(() => this.#fail(message, 'thrown', pack(thrown))),
      )
    }
  }

  #claim(message: RunMessage): boolean {
    if (!claim(this.#claims, message.slot, message.taskId)) return false
    this.#running.add(message.taskId)
    return true
  }

  #afterFlush(answer: () => void): void {
    const flushed = flushStdio()
    if (flushed === undefined) return answer()
    const once = () => {
      if (this.#unsent.delete(once)) answer()
    }
    this.#unsent.add(once)
    void flushed.then(once)
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
    if (this.#running.size === 0) this.#onIdle()
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as PromiseLike<unknown>).then === 'function'
}
