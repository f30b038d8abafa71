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
  type SerializedError,
  serializeError,
  UnsendableError,
  unpackMessage,
} from '../../kit.js'

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

export const DEFAULT_MAX_VALUE_BYTES = 1_000_000

/** Deeper values are no JSON for this file, because other programs may fail on them. */
const MAX_JSON_DEPTH = 100

/** This version of the package cannot read the job, its result or its error. Code `ERR_LIDO_JOB_FORMAT`. */
export class JobFormatError extends PoolError {
  /**
   * `true`: a program with another version of lido wrote it, and a host with that version can read it. `false`: no version of lido
   * wrote it.
   */
  readonly isOtherVersion: boolean

  /** @param found the rest of a sentence about the job, such as `has format 9` */
  constructor(found: string, cause?: unknown, isOtherVersion = false) {
    const advice = isOtherVersion
      ? `This version of lido reads format ${FORMAT_VERSION}. Install the same version of lido in all programs that use the queue.`
      : "Add jobs with a RemotePool, or without the option 'lido', and let only hosts of lido run the jobs of a RemotePool."
    super('ERR_LIDO_JOB_FORMAT', `The job ${found}. ${advice}`, cause)
    this.isOtherVersion = isOtherVersion
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
 * Returns a copy that JSON keeps exactly. The job is added later, and the caller may change its value before that. Throws
 * `NotCloneableError` or `ValueTooLargeError`.
 *
 * @param what the name for errors: `'payload'` or `'result'`
 */
export function encodeValue(value: unknown, what: 'payload' | 'result', maxBytes: number): unknown {
  const isExact = isExactJson(value)
  const encoded = isExact ? value : envelopeOf(value, what)
  const text = JSON.stringify(encoded)
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) throw new ValueTooLargeError(`The ${what}`, bytes, maxBytes)
  return isExact && typeof value === 'object' ? JSON.parse(text) : encoded
}

/**
 * Only for a value of a job with `opts.lido`. Throws `JobFormatError` or `ValueTooLargeError`.
 *
 * @param what the name for errors: `'payload'` or `'result'`
 */
export function decodeValue(encoded: unknown, what: 'payload' | 'result', maxBytes: number): unknown {
  if (!isEnvelope(encoded)) return encoded
  const { $lido: format, bytes } = encoded
  checkFormat(format, `has a ${what} of format`)
  // `Buffer.from()` would make as many bytes as the `length` of an object says.
  if (typeof bytes !== 'string') throw unreadable(what)
  if (bytes.length > maxBytes) throw new ValueTooLargeError(`The ${what}`, bytes.length, maxBytes)
  let message: unknown
  try {
    message = unpackMessage(Buffer.from(bytes, 'base64'))
  } catch (failure) {
    throw unreadable(what, failure)
  }
  if (!hasField(message, 'value')) throw unreadable(what)
  return message.value
}

/** Never throws. Parts that cannot leave the process become text. */
export function encodeError(error: unknown): unknown {
  return encodeValue(errorForProcess(serializeError(error)), 'result', Number.POSITIVE_INFINITY)
}

/** Throws `JobFormatError` or `ValueTooLargeError`. */
export function decodeError(encoded: unknown, classes: ErrorClasses, maxBytes: number): unknown {
  const error = decodeValue(encoded, 'result', maxBytes)
  if (!isSerializedError(error)) throw new JobFormatError('has an error that lido did not write')
  return deserializeError(error, classes)
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

/**
 * The error of a failed job. `null`: the job failed on a host without this package, or it stalled. Throws `JobFormatError`.
 */
export function storedError(
  stacktrace: readonly string[] | null,
  classes: ErrorClasses,
): { error: unknown } | null {
  const last = stacktrace?.at(-1)
  const start = last === undefined ? -1 : last.lastIndexOf(ERROR_LINE)
  const text = start < 0 ? '' : last!.slice(start + ERROR_LINE.length)
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

/** `undefined`: another client added the job. Throws `JobFormatError` for the job of a version that this one cannot read. */
export function termsOfJob({ opts }: { opts: object }): JobTerms | undefined {
  if (!hasField(opts, 'lido')) return undefined
  // A copy, because a missing field must not come from the prototype.
  const terms: JobTerms = Object.assign(Object.create(null), opts.lido)
  checkFormat(terms.format, 'has format')
  return terms
}

/** Whether a `RemotePool` added the job. Only then a host encodes its result, its progress and its error. */
export function isOfRemotePool({ opts }: { opts: object }): boolean {
  return Object.hasOwn(opts, 'lido')
}

export function isItemAnswer(given: unknown): given is ItemAnswer {
  return hasField(given, 'value') || hasField(given, 'error')
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
  return new JobFormatError(`has a ${what} that lido did not write`, cause)
}

/** Formats are counted from 1. Any other number comes from a program that is not lido. */
function checkFormat(format: unknown, found: string): void {
  if (format === FORMAT_VERSION) return
  const shown = typeof format === 'number' ? String(format) : `of type ${typeof format}`
  throw new JobFormatError(
    `${found} ${shown}`,
    undefined,
    Number.isSafeInteger(format) && (format as number) > 0,
  )
}

/** Checks all indexes and names: with others, `deserializeError()` would write to objects outside the copies. */
function isSerializedError(given: unknown): given is SerializedError {
  const { copies, links, errors } = Object(given) as { [Name in keyof SerializedError]: unknown }
  if (!Array.isArray(copies) || !Array.isArray(links) || !Array.isArray(errors)) return false
  const isIndex = (index: unknown) => Number.isInteger(index) && Object.hasOwn(copies, index as number)
  const isCopy = (index: unknown) =>
    isIndex(index) && Object(copies[index as number]) === copies[index as number]
  const isText = (text: unknown) => typeof text === 'string'
  const areTexts = (texts: unknown) => Array.isArray(texts) && texts.every(isText)
  return (
    hasField(copies[0], 'thrown') &&
    links.every(link => {
      const [owner, field, target] = Object(link) as unknown[]
      if (!isIndex(owner) || !isText(field) || !(isText(target) || isIndex(target))) return false
      const copy: unknown = copies[owner as number]
      // A text may have replaced the copy.
      return isText(copy) || hasField(copy, field as string)
    }) &&
    errors.every(record => {
      const { index, classes, name, message, stack, hidden } = Object(record) as Record<string, unknown>
      return isCopy(index) && [name, message, stack].every(isText) && areTexts(classes) && areTexts(hidden)
    })
  )
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
