// Payloads, results and errors as the JSON of a job. A value that JSON keeps exactly stays as it is, so that other clients can read
// it. Any other value becomes an envelope with the bytes of Node's own serialiser, which is what worker processes use too.
import { NotCloneableError, PoolError } from '../../index.js'
import {
  deserializeError,
  type ErrorClasses,
  type SerializedError,
  serializeError,
} from '../../shared/errors/serialize-error.js'
import { UnsendableError } from '../../shared/errors/uncloneable-path.js'
import { HEAD_BYTES } from '../../shared/messages/pipe-frames.js'
import { errorForProcess, packMessage, unpackMessage } from '../../shared/messages/process-values.js'

/** Counts up when a program of an older version could not read what this one writes. */
export const FORMAT_VERSION = 1

/** Added to the options of each job that a `RemotePool` adds: `job.opts.lido`. */
export interface JobTerms {
  format: number
  /** The data is an array with the arguments of the function. */
  args?: true
  /** The data is an array of payloads, and the result an array of `ItemAnswer`. */
  items?: true
  /** As the options of `run()`. */
  timeout?: number
  deadline?: number
}

/** The answer for one item of a job of `map()`. An error is what `encodeError` made. */
export type ItemAnswer =
  | { value: unknown }
  /** `isFinal`: another attempt would fail as well. */
  | { error: unknown; isFinal: boolean }

interface Envelope {
  $lido: number
  /** Base64. */
  bytes: string
}

export const DEFAULT_MAX_VALUE_BYTES = 1_000_000

/** Deeper values are no JSON for this file, because other programs may fail on them. */
const MAX_JSON_DEPTH = 100

/** A job was written by a version of this package that this one cannot read. Code `ERR_LIDO_JOB_FORMAT`. */
export class JobFormatError extends PoolError {
  constructor(found: unknown) {
    super(
      'ERR_LIDO_JOB_FORMAT',
      `The job has format ${String(found)}, and this version of lido reads format ${FORMAT_VERSION}. Install the same version of lido in all programs that use the queue.`,
    )
  }
}

/** A payload or a result is larger than `maxValueBytes`. Code `ERR_LIDO_VALUE_TOO_LARGE`. */
export class ValueTooLargeError extends PoolError {
  readonly bytes: number
  readonly limit: number

  constructor(what: string, bytes: number, limit: number) {
    super(
      'ERR_LIDO_VALUE_TOO_LARGE',
      `${what} takes ${bytes} bytes in the queue, more than maxValueBytes (${limit}). Put it where all machines can read it, such as a file store, and pass its address. Or raise maxValueBytes.`,
    )
    this.bytes = bytes
    this.limit = limit
  }
}

/**
 * Returns a value that JSON keeps exactly. Throws `NotCloneableError` or `ValueTooLargeError`.
 *
 * @param what the name for errors: `'payload'` or `'result'`
 */
export function encodeValue(value: unknown, what: 'payload' | 'result', maxBytes: number): unknown {
  const encoded = isExactJson(value) ? value : envelopeOf(value, what)
  const bytes = Buffer.byteLength(JSON.stringify(encoded))
  if (bytes > maxBytes) throw new ValueTooLargeError(`The ${what}`, bytes, maxBytes)
  return encoded
}

/** Throws `JobFormatError`. */
export function decodeValue(encoded: unknown): unknown {
  if (!isEnvelope(encoded)) return encoded
  if (encoded.$lido !== FORMAT_VERSION) throw new JobFormatError(encoded.$lido)
  const { value } = unpackMessage(Buffer.from(encoded.bytes, 'base64')) as { value: unknown }
  return value
}

/** Never throws. Parts that cannot leave the process become text. */
export function encodeError(error: unknown): unknown {
  return encodeValue(errorForProcess(serializeError(error)), 'result', Number.POSITIVE_INFINITY)
}

export function decodeError(encoded: unknown, classes: ErrorClasses): unknown {
  return deserializeError(decodeValue(encoded) as SerializedError, classes)
}

/** Begins the last line of a stack that carries its error. BullMQ stores only the message and the stack of an error. */
const ERROR_LINE = '\n    [lido:error] '
/** Larger errors lose their fields, so that the queue does not grow by every failure. */
const MAX_ERROR_LENGTH = 50_000

/** Returns the error that BullMQ is to store: its stack carries the whole error for the caller. */
export function storableError(error: unknown): Error {
  const text = JSON.stringify(encodeError(error))
  const stored = error instanceof Error ? error : new Error(String(error))
  if (text.length <= MAX_ERROR_LENGTH) {
    const stack = `${stored.stack}${ERROR_LINE}${text}`
    Object.defineProperty(stored, 'stack', { value: stack, configurable: true, writable: true })
  }
  return stored
}

/** The error of a failed job. `null`: the job failed on a host without this package, or it stalled. */
export function storedError(
  stacktrace: readonly string[] | null,
  classes: ErrorClasses,
): { error: unknown } | null {
  const last = stacktrace?.at(-1)
  const start = last === undefined ? -1 : last.lastIndexOf(ERROR_LINE)
  if (start < 0) return null
  return { error: decodeError(JSON.parse(last!.slice(start + ERROR_LINE.length)), classes) }
}

/** Throws `JobFormatError` for the job of a version that this one cannot read. `undefined`: another client added the job. */
export function termsOfJob(opts: object): JobTerms | undefined {
  const { lido: terms } = opts as { lido?: JobTerms }
  if (terms !== undefined && terms.format !== FORMAT_VERSION) throw new JobFormatError(terms.format)
  return terms
}

function isEnvelope(encoded: unknown): encoded is Envelope {
  return encoded !== null && typeof encoded === 'object' && Object.hasOwn(encoded, '$lido')
}

function envelopeOf(value: unknown, what: 'payload' | 'result'): Envelope {
  try {
    const bytes = packMessage({ value }).subarray(HEAD_BYTES)
    return { $lido: FORMAT_VERSION, bytes: bytes.toString('base64') }
  } catch (failure) {
    if (!(failure instanceof UnsendableError)) throw failure
    throw new NotCloneableError(failure.path.replace(/^value/, what), failure.cause)
  }
}

/** False for a value that comes out of JSON in another form, or that PostgreSQL refuses. `null` is lost as a whole payload. */
function isExactJson(value: unknown): boolean {
  return value !== null && !isEnvelope(value) && isExact(value, new Set(), 0)
}

function isExact(value: unknown, seen: Set<object>, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      // PostgreSQL's JSON refuses both.
      return (value as unknown as { isWellFormed(): boolean }).isWellFormed() && !value.includes('\0')
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'boolean':
      return true
    case 'object':
      return value === null || isExactObject(value, seen, depth)
    default:
      return false
  }
}

function isExactObject(value: object, seen: Set<object>, depth: number): boolean {
  // A copy by JSON would make two objects of one.
  if (seen.has(value) || depth > MAX_JSON_DEPTH) return false
  seen.add(value)
  const keys = Object.keys(value)
  if (Array.isArray(value)) {
    if (keys.length !== value.length || 'toJSON' in value) return false
    return value.every(member => isExact(member, seen, depth + 1))
  }
  const prototype = Object.getPrototypeOf(value)
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false
  return keys.every(key => isExact(key, seen, depth) && isExact((value as never)[key], seen, depth + 1))
}
