// The context of a span as headers, as one service sends it to another one: W3C `traceparent`, `tracestate` and `baggage`, or the headers
// of the propagator that the program registered.
import { type Context, isSpanContextValid, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'

/** Headers of propagators are short. A longer value comes from a program that is not one. */
const MOST_CHARACTERS = 8192
const MOST_HEADERS = 32
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export type TraceHeaders = Record<string, string>

/** `undefined`: the context has nothing to send. */
export function headersOf(active: Context): TraceHeaders | undefined {
  const headers: TraceHeaders = {}
  propagation.inject(active, headers)
  if (headers.traceparent === undefined) addTraceparent(active, headers)
  for (const _ in headers) return headers
  return undefined
}

/** A worker may have no propagator, or another one than the host. */
function addTraceparent(active: Context, headers: TraceHeaders): void {
  const span = trace.getSpanContext(active)
  if (span === undefined || !isSpanContextValid(span)) return
  const { traceId, spanId, traceFlags } = span
  headers.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The value may come from another machine, so anything but short texts is ignored. `null`: it has no headers. */
export function contextFrom(value: unknown): Context | null {
  if (value === null || typeof value !== 'object') return null
  const headers: TraceHeaders = {}
  let count = 0
  for (const name of Object.keys(value)) {
    const header: unknown = (value as Record<string, unknown>)[name]
    if (typeof header !== 'string' || header.length > MOST_CHARACTERS || name === '__proto__') continue
    if (++count > MOST_HEADERS) return null
    headers[name] = header
  }
  if (count === 0) return null
  const extracted = propagation.extract(ROOT_CONTEXT, headers)
  return trace.getSpanContext(extracted) === undefined ? withTraceparent(extracted, headers) : extracted
}

function withTraceparent(extracted: Context, { traceparent = '' }: TraceHeaders): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (flags === undefined) return extracted
  const parent = {
    traceId: traceId!,
    spanId: spanId!,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  }
  return isSpanContextValid(parent) ? trace.setSpanContext(extracted, parent) : extracted
}
