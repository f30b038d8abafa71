// Converts a thrown value to plain data that can cross to another thread or process, and back.
// Structured clone alone loses an error's class, `code` and own fields, and refuses an error that contains a function.
// `serializeError` never throws. It replaces a part that cannot be sent by a text that describes the part.
//
// The copies of the objects are in one flat list, and links between them are numbers. So circular references work, and
// any depth works.
import type { ErrorClass } from '../../api/pool-options.js'
import { structuredClone, types } from '../platform/node-modules.js'

/** A thrown value in plain data. Made by `serializeError`, read by `deserializeError`. */
export interface SerializedError {
  /**
   * Copies of the objects, nearest first. A copy of an error, a plain object or an array has its primitive fields.
   * `links` has the other fields. Any other object is a structured clone, or a text that describes it. The first copy
   * has one field: the thrown value.
   */
  copies: unknown[]
  /** The fields whose value is another copy. */
  links: Link[]
  /** Which copies are errors. */
  errors: ErrorRecord[]
}

/** A field of a copy whose value is another copy (a number), or a registered symbol (its key). */
type Link = [owner: number, field: string, target: number | string]

/** The facts that turn a copy into an error. */
interface ErrorRecord {
  index: number
  /** The names of its class and of the ancestors, nearest first. The last one is a builtin class. */
  classes: string[]
  name: string
  message: string
  stack: string
  /** The fields that are not enumerable, such as `cause`. */
  hidden: string[]
}

type Fields = Record<string, unknown>

/** The most errors that cross with one thrown value. Other errors become text. */
const MAX_ERRORS = 1000
/** Limits the depth of clones, so that a thread with a smaller stack can read them. */
const MAX_CLONE_DEPTH = 100

/** Turns a thrown value into plain data, for another thread or process. */
export function serializeError(thrown: unknown): SerializedError {
  const copies: unknown[] = []
  const links: Link[] = []
  const errors: ErrorRecord[] = []
  /** In the order of their copies. */
  const found: object[] = [{ thrown }]
  const indexes = new Map<object, number>()
  // Copying an object finds the objects that it refers to.
  for (let index = 0; index < found.length; index++) copies.push(copyOrText(found[index]!, index))
  return { copies, links, errors }

  function copyOrText(value: object, index: number): unknown {
    try {
      if (isError(value)) return errors.length < MAX_ERRORS ? copyOfError(value, index) : String(value)
      if (!Array.isArray(value) && !isPlainObject(value)) return cloneOrText(value)
      const copy = Array.isArray(value) ? new Array(value.length) : {}
      for (const key of Object.keys(value)) setField(copy, index, key, readField(value, key))
      return copy
    } catch (failure) {
      return unreadable(failure)
    }
  }

  function copyOfError(error: Error, index: number): object {
    const name = readText(() => error.name, 'Error')
    const message = readText(() => error.message, '')
    // Consoles print only the stack.
    const stack = readText(() => error.stack, message === '' ? name : `${name}: ${message}`)
    const hidden: string[] = []
    const copy = {}
    for (const key of Object.getOwnPropertyNames(error)) {
      if (key === 'name' || key === 'message' || key === 'stack') continue
      const value = readField(error, key)
      const isHidden = !Object.prototype.propertyIsEnumerable.call(error, key)
      // A method that is not enumerable is not data.
      if (isHidden && typeof value === 'function') continue
      if (isHidden) hidden.push(key)
      setField(copy, index, key, value)
    }
    errors.push({ index, classes: classNames(error), name, message, stack, hidden })
    return copy
  }

  /** Also defines a linked field, so that the fields keep their order. */
  function setField(copy: object, index: number, key: string, value: unknown): void {
    define(copy, key, isObject(value) ? undefined : primitiveOrText(value))
    if (isObject(value)) links.push([index, key, indexOf(value)])
    const symbolKey = typeof value === 'symbol' ? Symbol.keyFor(value) : undefined
    if (symbolKey !== undefined) links.push([index, key, symbolKey])
  }

  function indexOf(value: object): number {
    const known = indexes.get(value)
    if (known !== undefined) return known
    indexes.set(value, found.length)
    return found.push(value) - 1
  }
}

/**
 * Never throws, even if the memory of a worker was damaged.
 * @param classes the builtin error classes, and the classes that the pool registered
 */
export function deserializeError(packed: SerializedError, classes = builtinClasses): unknown {
  try {
    return unpack(packed, classes)
  } catch (cause) {
    return new Error('The error of the worker could not be read. Its data is damaged.', { cause })
  }
}

function unpack({ copies, links, errors }: SerializedError, classes: ErrorClasses): unknown {
  const values = [...copies]
  for (const record of errors) {
    values[record.index] = createError(record, copies[record.index] as Fields, classes)
  }
  for (const [owner, field, target] of links) {
    const fields = values[owner]
    // A text may have replaced the copy. The field exists already, so this sets even `__proto__` as an own field.
    if (isObject(fields)) {
      ;(fields as Fields)[field] = typeof target === 'string' ? Symbol.for(target) : values[target]
    }
  }
  return (values[0] as Fields).thrown
}

/** Replaces each clone that `canSend` refuses by a text. Copies of primitive fields can always be sent. */
export function replaceUnsendable(
  error: SerializedError,
  canSend: (copy: object) => boolean,
): SerializedError {
  const copies = error.copies.map(copy => (!isObject(copy) || canSend(copy) ? copy : notCloneable(copy)))
  return { ...error, copies }
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

function createError(record: ErrorRecord, fields: Fields, classes: ErrorClasses): Error {
  const { name, message, stack } = record
  const hidden = new Set(record.hidden)
  const error = classes.create(record.classes, name, message)
  // A getter of its class may need a private field, which was not sent.
  if (readText(() => error.name, '') !== name) define(error, 'name', name, false)
  define(error, 'stack', stack, false)
  for (const key of Object.keys(fields)) define(error, key, fields[key], !hidden.has(key))
  return error
}

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

/** Programs have classes of the same names, so these have a prefix. */
const wasmNames = new Map<unknown, string>()
const { WebAssembly: wasm } = globalThis as { WebAssembly?: Record<string, ErrorClass | undefined> }
for (const name of ['CompileError', 'LinkError', 'RuntimeError']) {
  const errorClass = wasm?.[name]
  if (errorClass === undefined) continue
  wasmNames.set(errorClass, `WebAssembly.${name}`)
  builtins.set(`WebAssembly.${name}`, errorClass)
}

/** The builtin error classes, and those of the pool's option `errorClasses`. */
export class ErrorClasses {
  readonly #registered: ReadonlyMap<string, ErrorClass>

  constructor(registered: Iterable<ErrorClass> = []) {
    this.#registered = new Map([...registered].map(errorClass => [errorClass.name, errorClass]))
  }

  /** Creates an error of the first known class. Runs only the builtin constructor, not the user's. */
  create(names: readonly string[], name: string, message: string): Error {
    const known = names.map(candidate => this.#registered.get(candidate) ?? builtins.get(candidate))
    const target = known.find(errorClass => errorClass !== undefined) ?? Error
    const base = builtinBaseOf(target)
    return Reflect.construct(base, constructorArguments(base, name, message) as never[], target)
  }
}

const builtinClasses = new ErrorClasses()

/** The reason why a class cannot be registered; `null` when it can. */
export function problemWithClass(given: unknown): string | null {
  if (typeof given !== 'function' || !(given.prototype instanceof Error)) return 'does not extend Error'
  if (given.name === '') return 'has no name'
  return builtins.has(given.name) ? `has the name of the builtin class '${given.name}'` : null
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
    const name: unknown = wasmNames.get(at.constructor) ?? at.constructor?.name
    if (typeof name !== 'string') continue
    if (name !== names.at(-1)) names.push(name)
    if (builtins.has(name)) return names
  }
  return [...names, 'Error']
}

/** Also true for an error of another realm, such as a `vm` context, which has its own classes. */
function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error
}

/** Also true for an object of another realm. */
function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** If a getter throws, only its field becomes a text. */
function readField(owner: object, key: string): unknown {
  try {
    return (owner as Fields)[key]
  } catch (failure) {
    return unreadable(failure)
  }
}

function primitiveOrText(value: unknown): unknown {
  if (typeof value === 'function') return `[function ${value.name || '(anonymous)'}]`
  return typeof value === 'symbol' ? value.toString() : value
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

/** Visits the members in the order in which the serialiser writes them. */
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

/** Defines an own field, so that a key such as `__proto__` does not change the prototype. */
function define(target: object, key: string, value: unknown, enumerable = true): void {
  Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true })
}
