// Runs tasks: from an assignment to its answer, with the handler's file loaded before and what it printed sent ahead. An
// answer is always given.
import { serializeError } from '../shared/errors/serialize-error.js'
import type { Handler } from '../shared/messages/handler.js'
import type { Assignment } from './assignment.js'
import { contextStorage } from './context-storage.js'
import { type HandlerFunction, hasFailedAgain } from './handler-loader.js'
import type { Limits } from './limits.js'
import type { Measurement, Meter } from './meter.js'
import { callInContext } from './running-context.js'

export interface ExecutorHooks {
  /** The function, or `null` when its file has none of that name. Rejects with what the file threw. */
  load(handler: Handler): Promise<HandlerFunction | null>
  /** A file failed again after it was tried again. */
  onStale(): void
  /** The worker ends; what was done is still answered. */
  onEnd(): void
  /** A promise when something that was printed is still to be written, nothing otherwise. */
  flush(): Promise<unknown> | undefined
}

export class Executor {
  /** `null`: there are none to look after. */
  limits: Limits | null = null
  /** `null`: nothing is measured. */
  meter: Meter | null = null
  readonly #hooks: ExecutorHooks
  readonly #handlers = new Map<number, HandlerFunction>()
  /** Answers that wait for what was printed before them; a thread that ends meanwhile still gives them. */
  readonly #unsent = new Set<() => void>()

  constructor(hooks: ExecutorHooks) {
    this.#hooks = hooks
  }

  /** The worker ends: what was done is answered. */
  end(): void {
    this.#hooks.onEnd()
    for (const answer of this.#unsent) answer()
  }

  run(task: Assignment): void {
    if (this.limits !== null) this.limits.onBegin()
    const handler = this.#handlers.get(task.handlerId)
    // The first task of a handler includes work that happens once, so it is not measured.
    if (handler === undefined) void this.#loadAndCall(task, task.handler!)
    else this.#call(task, handler, this.meter === null ? null : this.meter.start(task.handlerId))
  }

  /** A file may block or end this thread, so its task is begun when its loading begins. */
  async #loadAndCall(task: Assignment, wanted: Handler): Promise<void> {
    let handler: HandlerFunction | null
    task.markLoading(true)
    try {
      handler = await this.#hooks.load(wanted)
      task.markLoading(false)
      // All that waited for the same file have it before one of them runs, and may end this thread.
      await null
    } catch (failure) {
      task.markLoading(false)
      task.fail('load', serializeError(failure), '')
      if (hasFailedAgain(wanted)) this.#hooks.onStale()
      return
    }
    if (handler === null) return task.fail('missing', serializeError(undefined), '')
    this.#handlers.set(task.handlerId, handler)
    this.meter?.add(task.handlerId, wanted)
    // Cancelled while its file was loading: it need not begin.
    if (task.isCancelled) return task.succeed(undefined)
    this.#call(task, handler, null)
  }

  #call(task: Assignment, handler: HandlerFunction, measurement: Measurement | null): void {
    let result: unknown
    let isPending: boolean
    try {
      const storage = contextStorage.current
      result = storage === null ? handler(task.payload) : callInContext(storage, task, handler)
      isPending = isThenable(result)
    } catch (thrown) {
      measurement?.end()
      return this.#afterFlush(task, () => task.fail('thrown', serializeError(thrown), ''))
    }
    if (isPending) {
      measurement?.onPending()
      void this.#await(task, result, measurement)
    } else {
      measurement?.end()
      const flushed = this.#hooks.flush()
      if (flushed === undefined) task.succeed(result)
      else this.#after(flushed, task, () => task.succeed(result))
    }
  }

  /** Not by `promise.then`: it may have one of its own, which throws. */
  async #await(task: Assignment, promise: unknown, measurement: Measurement | null): Promise<void> {
    let result: unknown
    try {
      result = await promise
    } catch (thrown) {
      measurement?.end()
      return this.#afterFlush(task, () => task.fail('thrown', serializeError(thrown), ''))
    }
    measurement?.end()
    this.#afterFlush(task, () => task.succeed(result))
  }

  #afterFlush(task: Assignment, answer: () => void): void {
    const flushed = this.#hooks.flush()
    if (flushed === undefined) answer()
    else this.#after(flushed, task, answer)
  }

  /** A host that is busy, and so does not take in what was printed, may not blame the task for that. */
  #after(flushed: Promise<unknown>, task: Assignment, answer: () => void): void {
    const resumeTime = task.holdTime()
    const once = () => {
      if (!this.#unsent.delete(once)) return
      resumeTime()
      answer()
    }
    this.#unsent.add(once)
    void flushed.then(once)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as PromiseLike<unknown>).then === 'function'
}
