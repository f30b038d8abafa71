// The spans of a worker: `lido.handler NAME` around the function of the user, below the span of the call that the task carried along.

import { isMainThread } from 'node:worker_threads'
import { type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import type { HandlerMessage } from '../../index.js'
import { realClock } from '../../kit.js'
import * as attributes from './attributes.js'
import { HandlerContext, type SpanSource } from './handler-context.js'
import type { SpanSettings } from './task-spans.js'
import { contextFrom } from './trace-headers.js'

export class HandlerSpans {
  tracer: Tracer
  settings: SpanSettings
  readonly #calls = new WeakMap<HandlerMessage, HandlerCall>()
  /** The call whose handler is about to start. */
  #entering: HandlerCall | null = null

  constructor(tracer: Tracer, settings: SpanSettings) {
    this.tracer = tracer
    this.settings = settings
  }

  /**
   * Calls the handler in the context that its task carried.
   * @param headers may come from another machine
   */
  run<Result>(headers: unknown, callback: () => Result): Result {
    const parent = contextFrom(headers)
    if (parent === null) return callback()
    if (!this.settings.handlerSpans) return context.with(parent, callback)
    const call = new HandlerCall(parent, this.tracer, this.settings.minRunMs)
    return context.with(new HandlerContext(parent, call), () => {
      this.#entering = call
      try {
        const returned = callback()
        call.hasReturnedNothing = returned === undefined
        return returned
      } finally {
        this.#entering = null
      }
    })
  }

  /** A call without carried headers has no span, because its caller has none. */
  onStart(message: HandlerMessage): void {
    const call = this.#entering
    if (call === null) return
    this.#entering = null
    this.#calls.set(message, call)
    call.start(message)
  }

  onError(message: HandlerMessage): void {
    this.#calls.get(message)?.fail(message.error)
  }

  /** The handler has returned. Its promise may be pending. */
  onEnd(message: HandlerMessage): void {
    const call = this.#calls.get(message)
    if (call === undefined) return
    const isSettled = call.hasReturnedNothing || call.hasFailed || message.result !== undefined
    if (isSettled) this.onSettled(message)
  }

  onSettled(message: HandlerMessage): void {
    this.#calls.get(message)?.end()
    this.#calls.delete(message)
  }
}

class HandlerCall implements SpanSource {
  hasReturnedNothing = false
  hasFailed = false
  readonly #parent: Context
  readonly #tracer: Tracer
  readonly #minRunMs: number
  #message: HandlerMessage | null = null
  #span: Span | null = null
  /** By `performance.now()`. */
  #startedAt = 0
  #isLate = false
  #hasEnded = false

  constructor(parent: Context, tracer: Tracer, minRunMs: number) {
    this.#parent = parent
    this.#tracer = tracer
    this.#minRunMs = minRunMs
  }

  /** The span of the handler; the span of the caller where the handler has none. */
  get current(): Span | undefined {
    if (this.#span === null && this.#message !== null && !this.#hasEnded) this.#open()
    return this.#span ?? trace.getSpan(this.#parent)
  }

  start(message: HandlerMessage): void {
    this.#message = message
    if (this.#minRunMs === 0) return this.#open()
    this.#isLate = true
    this.#startedAt = realClock.now()
  }

  fail(error: unknown): void {
    this.hasFailed = true
    if (this.#span === null) this.#open()
    const span = this.#span!
    if (span.isRecording()) attributes.markFailed(span, error, !attributes.isCancellation(error), true)
  }

  end(): void {
    const now = this.#isLate ? realClock.now() : 0
    if (this.#span === null && now - this.#startedAt >= this.#minRunMs) this.#open()
    this.#hasEnded = true
    // A span with a given start needs a given end, because the clock of its default has only whole milliseconds.
    if (this.#isLate) this.#span?.end(now)
    else this.#span?.end()
  }

  #open(): void {
    const message = this.#message!
    const { name, pool, threadId, workerId } = message
    const about = {
      ...attributes.ofTask(message),
      [attributes.WORKER_ID]: workerId,
      ...(threadId >= 0 && { [attributes.THREAD_ID]: threadId }),
      // The pool names its threads so. The main thread of a process has no name.
      ...(!isMainThread && { [attributes.THREAD_NAME]: pool.label }),
    }
    const start = this.#isLate ? { startTime: this.#startedAt } : {}
    const options = { kind: SpanKind.INTERNAL, attributes: about, ...start }
    this.#span = this.#tracer.startSpan(`lido.handler ${name}`, options, this.#parent)
  }
}
