// What a job carries of the context of its caller: the stores of `carry()`, and the trace. Jobs of other clients have only the trace, where
// BullMQ's own telemetry writes it. The values come from the queue, so each wrong one is ignored.
import { type Carrier, captureCarried, runCarried } from '../../kit.js'
import { decodeValue, encodeValue, isOfRemotePool } from './job-values.js'

/** Encoded values by the names of their stores: `job.opts.lido.carrier`. */
export type EncodedCarrier = Record<string, unknown>

const MOST_STORES = 64
const MOST_NAME_CHARACTERS = 200
const MOST_TRACE_CHARACTERS = 16_384
/** The name that `lido/opentelemetry` registers. Its value is an object of headers, as in BullMQ's telemetry. */
const TRACE = 'opentelemetry'

/**
 * Captures the stores of the caller. Call it in the async context of the caller. `undefined`: it carries nothing. Throws
 * `NotCloneableError` and `ValueTooLargeError`, which name the store.
 */
export function encodedCarrier(maxValueBytes: number): EncodedCarrier | undefined {
  const values = captureCarried()
  if (values === null) return undefined
  const encoded = Object.entries(values).map(([name, value]) => [
    name,
    encodeValue(value, `carried store '${name}'`, maxValueBytes),
  ])
  return Object.fromEntries(encoded)
}

/** `null`: the job carries nothing. Never throws. */
export function carrierOf(job: { readonly opts: object }, maxValueBytes: number): Carrier | null {
  const { opts } = job
  const values: Carrier = Object.create(null)
  if (isOfRemotePool(job)) addStores(ownField(ownField(opts, 'lido'), 'carrier'), values, maxValueBytes)
  if (!Object.hasOwn(values, TRACE)) addTrace(ownField(ownField(opts, 'telemetry'), 'metadata'), values)
  return Object.keys(values).length === 0 ? null : values
}

/** Calls the function in the context that the job carries. */
export function inContextOf<T>(carrier: Carrier | null, call: () => T): T {
  return carrier === null ? call() : runCarried(carrier, call)
}

function addStores(given: unknown, values: Carrier, maxValueBytes: number): void {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return
  const names = Object.keys(given)
  if (names.length > MOST_STORES) return
  for (const name of names) {
    if (name === '__proto__' || name.length > MOST_NAME_CHARACTERS) continue
    try {
      values[name] = decodeValue(ownField(given, name), 'carried store', maxValueBytes)
    } catch {
      // The handler runs without a value that no version of lido wrote.
    }
  }
}

function addTrace(metadata: unknown, values: Carrier): void {
  if (typeof metadata !== 'string' || metadata.length > MOST_TRACE_CHARACTERS) return
  try {
    const headers: unknown = JSON.parse(metadata)
    if (headers !== null && typeof headers === 'object') values[TRACE] = headers
  } catch {
    // No trace.
  }
}

function ownField(given: unknown, name: string): unknown {
  if (given === null || typeof given !== 'object' || !Object.hasOwn(given, name)) return undefined
  return (given as Record<string, unknown>)[name]
}
