// The spans of the host: `lido.run NAME` from the call until its promise settles, and `lido.wait NAME` for the time in the queue.

import { threadId } from 'node:worker_threads'
import { type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { isPoolError, type TaskMessage } from '../../index.js'
import { realClock } from '../../kit.js'
import * as attributes from './attributes.js'
import { headersOf, type TraceHeaders } from './trace-headers.js'

export interface SpanSettings {
  readonly handlerSpans: boolean
  readonly waitSpan: boolean
  readonly minRunMs: number
}

interface OpenSpan {
  readonly span: Span
  /** The context of the caller, with the span. */
  readonly context: Context
  /** Milliseconds since the epoch, for the span of the wait. */
  readonly startedAt: number
}

export class TaskSpans {
  tracer: Tracer
  settings: SpanSettings
  readonly #open = new WeakMap<TaskMessage, OpenSpan>()

  constructor(tracer: Tracer, settings: SpanSettings) {
    this.tracer = tracer
    this.settings = settings
  }

  /** Runs in the context of the caller. */
  onStart(message: TaskMessage): void {
    const active = context.active()
    const startedAt = this.settings.waitSpan ? realClock.epochNow() : 0
    const about = { ...attributes.ofTask(message), [attributes.THREAD_ID]: threadId }
    const span = this.tracer.startSpan(
      `lido.run ${message.name}`,
      { kind: SpanKind.INTERNAL, attributes: about },
      active,
    )
    this.#open.set(message, { span, context: trace.setSpan(active, span), startedAt })
  }

  /** What the task carries to its worker. */
  headersOf(message: TaskMessage): TraceHeaders | undefined {
    const open = this.#open.get(message)
    return open === undefined ? undefined : headersOf(open.context)
  }

  onSettled(message: TaskMessage): void {
    const open = this.#open.get(message)
    if (open === undefined) return
    this.#open.delete(message)
    const { span } = open
    if (span.isRecording()) this.#describe(span, message, open)
    span.end()
  }

  #describe(span: Span, message: TaskMessage, { context: parent, startedAt }: OpenSpan): void {
    const { name, outcome, attempt, waitMs, workerId, error } = message
    span.setAttribute(attributes.TASK_ATTEMPT, attempt)
    if (outcome !== undefined) span.setAttribute(attributes.TASK_OUTCOME, outcome)
    if (workerId !== undefined) span.setAttribute(attributes.WORKER_ID, workerId)
    if (waitMs !== undefined) {
      span.setAttribute(attributes.TASK_WAIT_TIME, waitMs / 1000)
      if (this.settings.waitSpan && startedAt > 0) {
        const { tracer } = this
        tracer
          .startSpan(`lido.wait ${name}`, { kind: SpanKind.INTERNAL, startTime: startedAt }, parent)
          .end(startedAt + waitMs)
      }
    }
    if (outcome === 'fulfilled') return
    // The span of the handler records what the handler threw.
    const isRecorded = !this.settings.handlerSpans || isPoolError(error)
    const isFailure = outcome === 'rejected' || !attributes.isCancellation(error)
    attributes.markFailed(span, error, isFailure, isRecorded)
  }
}
