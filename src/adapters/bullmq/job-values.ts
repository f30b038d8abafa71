// Payloads, results and errors as the JSON of a job. A value that JSON keeps exactly stays as it is, so that other clients can read
// it. Any other value becomes an envelope with the bytes of Node's own serialiser, which is what worker processes use too.
//
// Other programs write to the queue as well, and their data may come from a web request. So only the values of a job that has
// `opts.lido` are decoded, and this file checks each of them before it decodes.
import { NotCloneableError, PoolError } from '../../index.js'
import {
  deserializeError,
  type ErrorClasses,
  errorForProcess,
  HEAD_BYTES,
  packMessage,
  serializeError,
  UnsendableError,
  unpackMessage,
} from '../../kit.js'
import { isErrorRecord } from './error-record.js'
import { checkValueBytes, ValueBytesError } from './value-bytes.js'

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
  /** What the caller's context carries. See carrier.ts. */
  carrier?: Record<string, unknown>
}

/** The answer for one item of a job of `map()`. An error is what `encodeError` made. */
export type ItemAnswer = { value: unknown } | ItemFailure

interface ItemFailure {
  error: unknown
  /** Another attempt would fail as well. */
  isFinal: boolean
}

interface Envelope {
  $lido: number
  /** Base64. */
  bytes: string
}

const EMPTY_ENVELOPE_BYTES = JSON.stringify({ $lido: FORMAT_VERSION, bytes: '' } satisfies Envelope).length

export const DEFAULT_MAX_VALUE_BYTES = 1_000_000

/** Most items of one job. */
export const MOST_ITEMS = 10_000
/** Programs fail to call a function with about ten times as many. */
const MOST_ARGUMENTS = 10_000

/** Deeper values are no JSON for this file, because other programs may fail on them. */
const MAX_JSON_DEPTH = 100

/** This version of the package cannot read the job, its result or its error. Code `ERR_LIDO_JOB_FORMAT`. */
export class JobFormatError extends PoolError {
  /**
   * `true`: a program with another version of lido wrote it, and a host with that version can read it. `false`: no version of lido
   * reads it.
   */
  readonly isOtherVersion: boolean

  /**
   * @param found the rest of a sentence about the job, such as `has format 9`
   * @param more `advice`: what to do, one or more sentences
   */
  constructor(found: string, more: { cause?: unknown; isOtherVersion?: boolean; advice?: string } = {}) {
    const { cause, isOtherVersion = false, advice = isOtherVersion ? OTHER_VERSION : NOT_WRITTEN } = more
    super('ERR_LIDO_JOB_FORMAT', `The job ${found}. ${advice}`, cause)
    this.isOtherVersion = isOtherVersion
  }
}

const OTHER_VERSION = `This version of lido reads format ${FORMAT_VERSION}. Install the same version of lido in all programs that use the queue.`
const NOT_WRITTEN =
  "Add jobs with a RemotePool, or without the option 'lido', and let only hosts of lido run the jobs of a RemotePool."
const TOO_MUCH =
  'Split the value, or send numbers as typed arrays, or send what JSON can express. Or raise maxValueBytes.'

/** A payload or a result is larger than `maxValueBytes`. Code `ERR_LIDO_VALUE_TOO_LARGE`. */
export class ValueTooLargeError extends PoolError {
  /** The size of the value in the queue. */
  readonly bytes: number
  /** The option `maxValueBytes`. */
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

/** For errors: the name of a value. */
export type ValueName = 'payload' | 'result' | `carried store${string}`

/**
 * Returns what JSON keeps exactly. Of a payload it is a copy: the job is added later, and the caller may change the payload before that.
 * Throws `NotCloneableError`, `ValueTooLargeError`, or `JobFormatError` for a value that no program would read.
 *
 * @param what the name for errors
 */
export function encodeValue(value: unknown, what: ValueName, maxBytes: number): unknown {
  const text = exactJson(value)
  if (text === null) return envelopeOf(value, what, maxBytes)
  checkSize(Buffer.byteLength(text), what, maxBytes)
  // The result of a task is a copy already.
  return typeof value === 'object' && what !== 'result' ? JSON.parse(text) : value
}

/**
 * Only for a value of a job with `opts.lido`. Throws `JobFormatError` or `ValueTooLargeError`.
 *
 * @param what the name for errors
 */
export function decodeValue(encoded: unknown, what: ValueName, maxBytes: number): unknown {
  if (!isEnvelope(encoded)) return encoded
  const { $lido: format, bytes: text } = encoded
  checkFormat(format, `has a ${what} of format`)
  // `Buffer.from()` would make as many bytes as the `length` of an object says.
  if (typeof text !== 'string') throw unreadable(what)
  checkSize(text.length, what, maxBytes)
  let message: unknown
  try {
    const bytes = Buffer.from(text, 'base64')
    checkValueBytes(bytes, maxBytes)
    message = unpackMessage(bytes)
  } catch (failure) {
    throw unreadable(what, failure)
  }
  if (!hasField(message, 'value')) throw unreadable(what)
  return message.value
}

/** Never throws. Parts that cannot leave the process become text. */
export function encodeError(error: unknown): unknown {
  const unlimited = Number.POSITIVE_INFINITY
  try {
    return encodeValue(errorForProcess(serializeError(error)), 'result', unlimited)
  } catch {
    // A field holds what no program would read, such as a resizable buffer of many GiB.
    const { name, message, stack } = error as Error
    return encodeValue(
      serializeError(Object.assign(new Error(message), { name, stack })),
      'result',
      unlimited,
    )
  }
}

/** Throws `JobFormatError` or `ValueTooLargeError`. */
export function decodeError(encoded: unknown, classes: ErrorClasses, maxBytes: number): unknown {
  const error = decodeValue(encoded, 'result', maxBytes)
  if (!isErrorRecord(error)) throw new JobFormatError('has an error that lido did not write')
  return deserializeError(error, classes)
}

/** Begins the last line of a stack that carries its error. BullMQ stores only the message and the stack of an error. */
const ERROR_LINE = '\n    [lido:error] '
/** Larger errors lose their fields, so that the queue does not grow by every failure. */
const MAX_ERROR_LENGTH = 50_000

/** Returns the error that BullMQ is to store: its stack carries the whole error for the caller. */
export function storableError(error: unknown): Error {
  const text = JSON.stringify(encodeError(error))
  const found = error instanceof Error ? error : new Error(String(error))
  if (text.length > MAX_ERROR_LENGTH) return found
  const stack = { value: `${found.stack}${ERROR_LINE}${text}`, configurable: true, writable: true }
  // Not the error itself: the events of the host show it.
  return Object.create(found, { stack })
}

/**
 * The error of a failed job. `null`: the job failed on a host without this package, or it stalled. Throws `JobFormatError`.
 */
export function storedError(
  stacktrace: readonly string[] | null,
  classes: ErrorClasses,
): { error: unknown } | null {
  const last: unknown = Array.isArray(stacktrace) ? stacktrace.at(-1) : undefined
  const start = typeof last === 'string' ? last.lastIndexOf(ERROR_LINE) : -1
  const text = start < 0 ? '' : (last as string).slice(start + ERROR_LINE.length)
  // The message of an error may contain such a line, too. Then lines of the stack follow.
  if (text === '' || text.includes('\n') || text.length > MAX_ERROR_LENGTH) return null
  let encoded: unknown
  try {
    encoded = JSON.parse(text)
  } catch {
    return null
  }
  return { error: decodeError(encoded, classes, MAX_ERROR_LENGTH) }
}

/** The latest date in JavaScript, in milliseconds since 1970. */
const LAST_DATE_MS = 8.64e15
/** What each field of the terms may be. */
const termChecks: { [Name in Exclude<keyof JobTerms, 'format' | 'carrier'>]-?: (given: unknown) => boolean } =
  {
    args: given => given === true,
    items: given => given === true,
    timeout: given => typeof given === 'number' && given > 0 && Number.isFinite(given),
    deadline: given => typeof given === 'number' && Math.abs(given) <= LAST_DATE_MS,
  }

/** `undefined`: another client added the job. Throws `JobFormatError` for a job that this version cannot read. */
export function termsOfJob({ opts }: { opts: object }): JobTerms | undefined {
  if (!hasField(opts, 'lido')) return undefined
  const given: unknown = opts.lido
  // A copy of the known fields. A missing field must not come from the prototype.
  const terms = Object.assign(Object.create(null), { format: FORMAT_VERSION }) as JobTerms
  checkFormat(hasField(given, 'format') ? given.format : undefined, 'has format')
  for (const [name, isValid] of Object.entries(termChecks)) {
    if (!hasField(given, name)) continue
    if (!isValid(given[name])) throw new JobFormatError(`has a wrong value of the option lido.${name}`)
    Object.assign(terms, { [name]: given[name] })
  }
  if (terms.args && terms.items) throw new JobFormatError('has both lido.args and lido.items')
  return terms
}

/** The payloads of a job with the term `items`. Throws `JobFormatError`. */
export function itemsOf(data: unknown): unknown[] {
  return checkedArray(data, 'items', MOST_ITEMS)
}

/** The arguments in the decoded payload of a job with the term `args`. Throws `JobFormatError`. */
export function argumentsOf(payload: unknown): unknown[] {
  return checkedArray(payload, 'arguments', MOST_ARGUMENTS)
}

function checkedArray(given: unknown, what: string, most: number): unknown[] {
  if (!Array.isArray(given)) throw new JobFormatError(`has no array of ${what}`)
  if (given.length > most) throw new JobFormatError(`has ${given.length} ${what}, and may have ${most}`)
  return given
}

/** Whether a `RemotePool` added the job. Only then a host encodes its result, its progress and its error. */
export function isOfRemotePool({ opts }: { opts: object }): boolean {
  return Object.hasOwn(opts, 'lido')
}

export function isItemAnswer(given: unknown): given is ItemAnswer {
  if (hasField(given, 'value')) return !Object.hasOwn(given, 'error')
  return hasField(given, 'error') && hasField(given, 'isFinal') && typeof given.isFinal === 'boolean'
}

export function isItemFailure(answer: ItemAnswer): answer is ItemFailure {
  return hasField(answer, 'error')
}

/** True for an object with the marks of an envelope, which is not checked further. */
function isEnvelope(encoded: unknown): encoded is { $lido: unknown; bytes?: unknown } {
  return hasField(encoded, '$lido')
}

function hasField<Name extends string>(given: unknown, name: Name): given is Record<Name, unknown> {
  return given !== null && typeof given === 'object' && Object.hasOwn(given, name)
}

function unreadable(what: string, cause?: unknown): JobFormatError {
  const isTooMuch = cause instanceof ValueBytesError && cause.isTooMuch
  return isTooMuch
    ? new JobFormatError(`has a ${what} that would take too long to read`, { cause, advice: TOO_MUCH })
    : new JobFormatError(`has a ${what} that lido did not write`, { cause })
}

/** Formats are counted from 1. Any other number comes from a program that is not lido. */
function checkFormat(format: unknown, found: string): void {
  if (format === FORMAT_VERSION) return
  const shown = typeof format === 'number' ? String(format) : `of type ${typeof format}`
  const isOtherVersion = Number.isSafeInteger(format) && (format as number) > 0
  throw new JobFormatError(`${found} ${shown}`, { isOtherVersion })
}

function checkSize(bytes: number, what: string, maxBytes: number): void {
  if (bytes > maxBytes) throw new ValueTooLargeError(`The ${what}`, bytes, maxBytes)
}

function envelopeOf(value: unknown, what: ValueName, maxBytes: number): Envelope {
  let bytes: Buffer
  try {
    bytes = packMessage({ value }).subarray(HEAD_BYTES)
  } catch (failure) {
    if (!(failure instanceof UnsendableError)) throw failure
    throw new NotCloneableError(failure.path.replace(/^value/, what), failure.cause)
  }
  checkSize(EMPTY_ENVELOPE_BYTES + Math.ceil(bytes.length / 3) * 4, what, maxBytes)
  // The other side refuses what this check refuses.
  try {
    checkValueBytes(bytes, maxBytes)
  } catch (failure) {
    throw unreadable(what, failure)
  }
  return { $lido: FORMAT_VERSION, bytes: bytes.toString('base64') }
}

/** A NUL, or half of a character of two UTF-16 units, in JSON. An even number of backslashes before it stands for backslashes. */
const UNSAFE_TEXT = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** The JSON of a value that keeps it exactly. `null`: JSON changes the value, or PostgreSQL refuses its JSON. */
function exactJson(value: unknown): string | null {
  // `null` is lost as a whole payload.
  if (value === null || isEnvelope(value) || !isExact(value, new Set(), 0)) return null
  const text = JSON.stringify(value)
  // PostgreSQL refuses both. A search in the JSON is faster than one in each string of the value.
  return text.includes('\\u') && UNSAFE_TEXT.test(text) ? null : text
}

/** Whether JSON keeps all but the texts. */
function isExact(value: unknown, seen: Set<object>, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
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
  if ('toJSON' in value) return false
  // Checked before the keys: those of a typed array are all its indexes.
  const prototype = Object.getPrototypeOf(value)
  const isArray = Array.isArray(value)
  if (!isArray && prototype !== Object.prototype && prototype !== null) return false
  const keys = Object.keys(value)
  if (isArray && keys.length !== value.length) return false
  for (const member of isArray ? value : Object.values(value)) {
    if (!isExact(member, seen, depth + 1)) return false
  }
  return true
}
