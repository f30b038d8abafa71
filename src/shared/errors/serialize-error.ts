// A thrown value as plain data that can cross to another thread or process, and the value made from that data there.
// Structured clone alone loses an error's class, `code` and own fields, and refuses an error that holds a function.
// `serializeError` never throws: a part that cannot be sent is replaced by a text that describes it.
//
// The objects lie in one flat list and refer to each other by index. So circles stay circles, and no depth is too deep.
import { types } from '../platform/node-modules.js'

/** A thrown value in plain data. Made by `serializeError`, read by `deserializeError`. */
export interface SerializedError {
  thrown: Member
  entries: Entry[]
}

/** A primitive value, or the index of an entry in an array of one item. */
type Member = Primitive | [index: number]
type Primitive = string | number | bigint | boolean | null | undefined

type Entry = ErrorEntry | ContainerEntry | CloneEntry | SymbolEntry

interface Fields {
  keys: string[]
  values: Member[]
}

interface ErrorEntry extends Fields {
  type: 'error'
  /** The names of its class and of the ancestors, nearest first. The last one is a builtin class. */
  classes: string[]
  name: string
  message: string
  stack: string
  /** The keys that are not enumerable, such as `cause`. */
  hidden: string[]
}

/** A plain object or an array. */
interface ContainerEntry extends Fields {
  type: 'container'
  /** The length of the array; `null` for an object. */
  length: number | null
}

/** The structured clone of another object (a `Date`, a `Map`, an object of a class), or a text that describes it. */
interface CloneEntry {
  type: 'clone'
  value: unknown
}

/** A symbol of the global registry. */
interface SymbolEntry {
  type: 'symbol'
  key: string
}

/** At most so many errors cross with one thrown value, the nearest first. The others become text. */
const MAX_ERRORS = 1000
/** A clone is nested no deeper, so that a thread with a smaller stack can read it. */
const MAX_CLONE_DEPTH = 100
/** These have members of their own in an `ErrorEntry`. */
const COMMON_KEYS = ['name', 'message', 'stack']

export function serializeError(thrown: unknown): SerializedError {
  const found: (object | symbol)[] = []
  const indexes = new Map<object | symbol, number>()
  const entries: Entry[] = []
  let errorCount = 0
  const root = toMember(thrown)
  // Making an entry adds the objects that it refers to.
  for (let index = 0; index < found.length; index++) entries.push(toEntry(found[index]!))
  return { thrown: root, entries }

  function toMember(value: unknown): Member {
    if (typeof value === 'function') return `[function ${value.name || '(anonymous)'}]`
    if (typeof value === 'symbol' && Symbol.keyFor(value) === undefined) return value.toString()
    if (typeof value !== 'symbol' && !isObject(value)) return value as Primitive
    const known = indexes.get(value)
    if (known !== undefined) return [known]
    indexes.set(value, found.length)
    return [found.push(value) - 1]
  }

  function toEntry(value: object | symbol): Entry {
    if (typeof value === 'symbol') return { type: 'symbol', key: Symbol.keyFor(value)! }
    try {
      if (isError(value)) {
        return ++errorCount > MAX_ERRORS ? { type: 'clone', value: String(value) } : toErrorEntry(value)
      }
      if (!Array.isArray(value) && !isPlainObject(value)) return { type: 'clone', value: cloneOrText(value) }
      const keys = Object.keys(value)
      const values = keys.map(key => toMember(readField(value, key)))
      return { type: 'container', length: Array.isArray(value) ? value.length : null, keys, values }
    } catch (failure) {
      return { type: 'clone', value: unreadable(failure) }
    }
  }

  function toErrorEntry(error: Error): ErrorEntry {
    const name = readText(() => error.name, 'Error')
    const message = readText(() => error.message, '')
    // Consoles print only the stack.
    const stack = readText(() => error.stack, message === '' ? name : `${name}: ${message}`)
    const keys: string[] = []
    const values: Member[] = []
    const hidden: string[] = []
    for (const key of Object.getOwnPropertyNames(error)) {
      if (COMMON_KEYS.includes(key)) continue
      const value = readField(error, key)
      const isHidden = !Object.prototype.propertyIsEnumerable.call(error, key)
      // A hidden method is no data.
      if (isHidden && typeof value === 'function') continue
      if (isHidden) hidden.push(key)
      keys.push(key)
      values.push(toMember(value))
    }
    return { type: 'error', classes: classNames(error), name, message, stack, keys, values, hidden }
  }
}

/** @param classes the classes of errors that are known here besides the builtin ones */
export function deserializeError({ thrown, entries }: SerializedError, classes = builtinClasses): unknown {
  const values = entries.map(entry => createValue(entry, classes))
  const fromMember = (member: Member | undefined) => (Array.isArray(member) ? values[member[0]] : member)
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'clone' || entry.type === 'symbol') continue
    const hidden = entry.type === 'error' ? entry.hidden : []
    for (const [place, key] of entry.keys.entries()) {
      define(values[index] as object, key, fromMember(entry.values[place]), !hidden.includes(key))
    }
  }
  return fromMember(thrown)
}

/** The same with a text in place of each clone that `canSend` refuses. */
export function replaceUnsendable(
  error: SerializedError,
  canSend: (clone: object) => boolean,
): SerializedError {
  const entries = error.entries.map(entry => {
    if (entry.type !== 'clone' || !isObject(entry.value) || canSend(entry.value)) return entry
    return { ...entry, value: notCloneable(entry.value) }
  })
  return { ...error, entries }
}

/** The message of an error, or the text of another thrown value. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown.message)
  try {
    return String(thrown)
  } catch {
    return `[${classNameOf(thrown as object)}]`
  }
}

function createValue(entry: Entry, classes: ErrorClasses): unknown {
  switch (entry.type) {
    case 'error':
      return createError(entry, classes)
    case 'container':
      return entry.length === null ? {} : new Array(entry.length)
    case 'clone':
      return entry.value
    case 'symbol':
      return Symbol.for(entry.key)
  }
}

function createError({ classes: names, name, message, stack }: ErrorEntry, classes: ErrorClasses): Error {
  const error = classes.create(names, name, message)
  // A getter of its class may need a private field, which was not sent.
  if (readText(() => error.name, '') !== name) define(error, 'name', name, false)
  define(error, 'stack', stack, false)
  return error
}

export type ErrorClass = abstract new (...args: never[]) => Error

const builtins = new Map<string, ErrorClass>()
for (const name of [
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  'AggregateError',
  'SuppressedError',
  'DOMException',
]) {
  const builtin = (globalThis as unknown as Record<string, ErrorClass | undefined>)[name]
  // Node 20 and 22 have no `SuppressedError`.
  if (builtin !== undefined) builtins.set(name, builtin)
}

/** The classes of errors that are known here: the builtin ones, and those of the pool's option `errorClasses`. */
export class ErrorClasses {
  readonly #registered: ReadonlyMap<string, ErrorClass>

  constructor(registered: Iterable<ErrorClass> = []) {
    this.#registered = new Map([...registered].map(errorClass => [errorClass.name, errorClass]))
  }

  /** An error of the first class that is known. It runs the builtin constructor only, none of the user's. */
  create(names: readonly string[], name: string, message: string): Error {
    const known = names.map(candidate => this.#registered.get(candidate) ?? builtins.get(candidate))
    const target = known.find(errorClass => errorClass !== undefined) ?? Error
    const base = builtinBaseOf(target)
    return Reflect.construct(base, constructorArguments(base, name, message) as never[], target)
  }
}

const builtinClasses = new ErrorClasses()

/** Why a class cannot be registered; `null` when it can. */
export function problemWithClass(given: unknown): string | null {
  if (typeof given !== 'function' || !(given.prototype instanceof Error))
    return 'is no class that extends Error'
  if (given.name === '') return 'has no name'
  return builtins.has(given.name) ? `has the name of a class that is known already, '${given.name}'` : null
}

function builtinBaseOf(errorClass: ErrorClass): ErrorClass {
  const all = [...builtins.values()]
  for (let base: unknown = errorClass.prototype; base !== null; base = Object.getPrototypeOf(base)) {
    const builtin = all.find(({ prototype }) => prototype === base)
    if (builtin !== undefined) return builtin
  }
  return Error
}

function constructorArguments(base: ErrorClass, name: string, message: string): unknown[] {
  switch (base) {
    case builtins.get('DOMException'):
      return [message, name]
    case builtins.get('AggregateError'):
      return [[], message]
    case builtins.get('SuppressedError'):
      return [undefined, undefined, message]
    default:
      return [message]
  }
}

function classNames(error: Error): string[] {
  const names: string[] = []
  for (let at: Error | null = Object.getPrototypeOf(error); at !== null; at = Object.getPrototypeOf(at)) {
    const name: unknown = at.constructor?.name
    if (typeof name !== 'string') continue
    if (name !== names.at(-1)) names.push(name)
    if (builtins.has(name)) return names
  }
  return [...names, 'Error']
}

/** Also an error of another realm: a `vm` context has classes of its own. */
function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error
}

/** Also an object of another realm. */
function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A getter that throws costs only its field. */
function readField(owner: object, key: string): unknown {
  try {
    return (owner as Record<string, unknown>)[key]
  } catch (failure) {
    return unreadable(failure)
  }
}

function readText(read: () => unknown, fallback: string): string {
  try {
    const value = read()
    return value === undefined ? fallback : String(value)
  } catch (failure) {
    return unreadable(failure)
  }
}

function cloneOrText(value: object): unknown {
  try {
    const clone = structuredClone(value)
    return isNestedTooDeeply(clone) ? `[${classNameOf(value)}, nested too deeply]` : clone
  } catch {
    return notCloneable(value)
  }
}

/** Visits the members in the order in which they will be written. */
function isNestedTooDeeply(value: unknown, depth = 0, seen = new Set<object>()): boolean {
  if (!isObject(value) || seen.has(value) || ArrayBuffer.isView(value)) return false
  if (depth > MAX_CLONE_DEPTH) return true
  seen.add(value)
  return membersOf(value).some(member => isNestedTooDeeply(member, depth + 1, seen))
}

function membersOf(clone: object): unknown[] {
  if (types.isMap(clone)) return [...clone].flat()
  if (types.isSet(clone)) return [...clone]
  return types.isNativeError(clone) ? [clone.cause] : Object.values(clone)
}

function notCloneable(value: object): string {
  return `[${classNameOf(value)}, not cloneable]`
}

function unreadable(failure: unknown): string {
  const text = failure instanceof Error ? `${failure.name}: ${failure.message}` : messageOf(failure)
  return `(could not be read: ${text})`
}

function classNameOf(value: object): string {
  const name: unknown = value.constructor?.name
  return typeof name === 'string' && name !== '' ? name : 'Object'
}

/** Own fields only: a key such as `__proto__` must not change the prototype. */
function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true })
}
