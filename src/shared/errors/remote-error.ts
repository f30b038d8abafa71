// An error flattened to cross to the other thread, and revived there as what it was. Structured clone alone loses the
// class, `code` and own fields, and refuses an error that holds a function; this never refuses. The errors that one holds
// lie beside each other and name each other by number, so a circle of causes arrives as a circle and no depth is too deep.
import { types } from '../platform/node-modules.js'
import { classNames, ErrorClasses } from './error-classes.js'
import { inHalves } from './in-halves.js'
import {
  define,
  type Hole,
  type HoleFiller,
  isObject,
  isValue,
  notCloneable,
  type PackedMember,
  PlainCopy,
  unreadable,
} from './plain-copy.js'

/** What a handler threw, in plain data. Only `pack` makes one and only `unpack` reads one. */
export interface PackedThrown {
  thrown: PackedMember
  errors: PackedError[]
  holes: Hole[]
}

interface PackedError {
  classes: string[]
  name: string
  message: string
  stack: string
  fields: [key: string, member: PackedMember, isEnumerable: boolean][]
}

/** So many errors of one graph are packed, the nearest first; the others become text. */
const MOST_ERRORS = 1000
/** So often it is looked which of an error's data may not be sent. */
const MOST_LOOKS = 64
const PACKED_BY_NAME = new Set(['name', 'message', 'stack'])
const builtinClasses = new ErrorClasses()

export function pack(thrown: unknown): PackedThrown {
  const found: Error[] = []
  const numbers = new Map<unknown, number>()
  const data = new PlainCopy(noteError)
  const errors: PackedError[] = []
  const root = data.pack(thrown)
  // Those found while one is packed are packed after it.
  for (let index = 0; index < found.length; index++) errors.push(packError(found[index]!, data))
  data.finish()
  return { thrown: root, errors, holes: data.holes }

  function noteError(value: unknown): HoleFiller | string | null {
    const known = numbers.get(value)
    if (known !== undefined) return { error: known }
    if (!isErrorLike(value)) return null
    if (found.length >= MOST_ERRORS) return `${value.name}: ${value.message}`
    numbers.set(value, found.length)
    return { error: found.push(value) - 1 }
  }
}

/**
 * The same, with texts in the places of what may not be sent.
 * @param maySend is asked of many at once; what it takes to tell is what takes long
 */
export function withoutUnsendable(
  packed: PackedThrown,
  maySend: (data: readonly object[]) => boolean,
): PackedThrown {
  const { thrown, errors, holes } = packed
  const members = [thrown, ...errors.flatMap(({ fields }) => fields.map(([, member]) => member))]
  const values = members.map(member => (isValue(member) ? member.value : null)).filter(isObject)
  const data = [...new Set([...values, ...holes.map(([container]) => container)])]
  const judge = (part: readonly object[]) => {
    if (!maySend(part)) throw new TypeError('One of them may not be sent.')
    return part.map(() => true)
  }
  const verdicts = inHalves<object, boolean>(data, MOST_LOOKS, judge, () => false)
  const unsendable = new Set<unknown>(data.filter((_, index) => !verdicts[index]))
  const sendable = (member: PackedMember) =>
    isValue(member) && unsendable.has(member.value) ? { value: notCloneable(member.value as object) } : member
  return {
    thrown: sendable(thrown),
    errors: errors.map(error => ({
      ...error,
      fields: error.fields.map(([key, member, isEnumerable]) => [key, sendable(member), isEnumerable]),
    })),
    holes: holes.filter(([container]) => !unsendable.has(container)),
  }
}

/** Only what no handler can spoil: for a failure that could not be sent with all it holds. */
export function withoutData({ thrown, errors }: PackedThrown): PackedThrown {
  const root = isValue(thrown) ? { value: '(a value that could not be sent)' } : thrown
  return { thrown: root, errors: errors.map(error => ({ ...error, fields: [] })), holes: [] }
}

function packError(error: Error, data: PlainCopy): PackedError {
  const name = packText(() => error.name, 'Error')
  const message = packText(() => error.message, '')
  const packed: PackedError = {
    classes: packSafely(() => classNames(error), ['Error']),
    name,
    message,
    // Consoles print it for the error, so one that has none would say nothing.
    stack: packText(() => error.stack, message === '' ? name : `${name}: ${message}`),
    fields: [],
  }
  for (const key of packSafely(() => Object.getOwnPropertyNames(error), [])) {
    if (!PACKED_BY_NAME.has(key)) packField(packed, error, key, data)
  }
  return packed
}

/** A field that cannot be read costs that field, not the error. Methods and the like that were hidden stay behind. */
function packField({ fields }: PackedError, error: Error, key: string, data: PlainCopy): void {
  let isEnumerable = false
  try {
    isEnumerable = Object.prototype.propertyIsEnumerable.call(error, key)
    const value = (error as unknown as Record<string, unknown>)[key]
    if (isEnumerable || typeof value !== 'function') fields.push([key, data.pack(value), isEnumerable])
  } catch (failure) {
    fields.push([key, { value: unreadable(failure) }, isEnumerable])
  }
}

/** The text of a member that every error has, whatever was made of it; `otherwise` where there is none. */
function packText(read: () => unknown, otherwise: string): string {
  try {
    const value = read()
    return value === undefined ? otherwise : String(value)
  } catch (failure) {
    return unreadable(failure)
  }
}

function packSafely<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/**
 * Never fails: code of the user's may have had its hands in what the other thread packed.
 * @param classes those known here beside the builtin ones
 */
export function unpack(packed: PackedThrown, classes: ErrorClasses = builtinClasses): unknown {
  try {
    return unpackSound(packed, classes)
  } catch (failure) {
    return new Error('An error of another thread cannot be told: it arrived damaged', { cause: failure })
  }
}

function unpackSound(packed: PackedThrown, classes: ErrorClasses): unknown {
  const errors = packed.errors.map(error => revive(error, classes))
  const fill = (member: PackedMember): unknown => {
    if (isValue(member)) return member.value
    return isError(member) ? errors[member.error] : Symbol.for(member.symbol)
  }
  for (const [container, key, filler] of packed.holes) define(container, key, fill(filler))
  for (const [index, { fields }] of packed.errors.entries()) {
    for (const [key, member, isEnumerable] of fields) define(errors[index]!, key, fill(member), isEnumerable)
  }
  return fill(packed.thrown)
}

function isError(filler: HoleFiller): filler is { error: number } {
  return Object.hasOwn(filler, 'error')
}

function revive({ classes: names, name, message, stack }: PackedError, classes: ErrorClasses): Error {
  const error = classes.create(names, name, message)
  // A getter of its class may need what stayed behind. Before the stack: where the runtime writes that down, it asks for the name.
  if (packSafely<unknown>(() => error.name, null) !== name) define(error, 'name', name, false)
  define(error, 'stack', stack, false)
  return error
}

/** Of any realm: `vm` contexts have their own classes. */
function isErrorLike(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error
}
