// Finds objects whose copy would be empty or incomplete: their state is in private fields, or in Node itself.
import { getBuiltinModule, structuredClone, types } from '../platform/node-modules.js'
import { isBare } from './members.js'

/** What to send in place of objects of these global classes. */
const remedies: Readonly<Record<string, string>> = {
  URL: 'Send its href.',
  URLSearchParams: 'Send its text, from toString().',
  Headers: 'Send Object.fromEntries(headers).',
  FormData: 'Send Object.fromEntries(form).',
  AbortSignal: "Give it to the option 'signal' of the call. The handler then has context.signal.",
  AbortController: "Give its signal to the option 'signal' of the call. The handler then has context.signal.",
  Request: 'Send its url, its method and its body, from arrayBuffer().',
  Response: 'Send its status and its body, from arrayBuffer().',
  DOMException: 'Send its name and its message.',
}

/** For each prototype: what to do, or `null` when all state of its objects may be in their own fields. */
const known = new WeakMap<object, string | null>()

/** The prototype of objects without a class, also in another context of `node:vm`. */
function isRoot(prototype: object | null): boolean {
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The prototypes of an object's class and of its ancestors. */
function* prototypesFrom(prototype: object): Generator<object> {
  for (let at = prototype; !isRoot(at); at = Object.getPrototypeOf(at)) yield at
}

/**
 * What to send in place of an object whose copy would lose state. `null` for an object that can be copied as it is.
 * @param member not a buffer, a view, a date or the like
 */
export function hiddenStateOf(member: object): string | null {
  const prototype = Object.getPrototypeOf(member) as object
  if (isRoot(prototype) || prototype === Array.prototype) return null
  if (prototype === Map.prototype || prototype === Set.prototype || types.isNativeError(member)) return null
  let remedy = known.get(prototype)
  if (remedy === undefined) {
    remedy = remedyFor(prototype, member)
    known.set(prototype, remedy)
  }
  if (remedy === null && !isBareShell(member, prototype)) return null
  if (becomesItself(member)) return null
  return remedy ?? remedyOfClass(prototype)
}

function remedyFor(prototype: object, member: object): string | null {
  const isCollection = types.isMap(member) || types.isSet(member) || Array.isArray(member)
  const name = isCollection ? null : globalClassOf(prototype)
  // Of another object with listeners, only its listeners are lost, as with an `EventEmitter`.
  const isOtherTarget = name === 'EventTarget' && prototype !== EventTarget.prototype
  if (name !== null && !isOtherTarget) return remedies[name] ?? remedyOfClass(prototype)
  return hasPrivateFields(prototype) ? remedyOfClass(prototype) : null
}

function remedyOfClass(prototype: object): string {
  return 'toJSON' in prototype
    ? 'Send the result of its toJSON().'
    : 'Send its values as a plain object, and create the object again on the other side.'
}

/** The name of the global class with a tag, such as `URL` and `Headers`, that objects with this prototype belong to. */
export function globalClassOf(prototype: object): string | null {
  for (const at of prototypesFrom(prototype)) {
    const tag: unknown = Object.getOwnPropertyDescriptor(at, Symbol.toStringTag)?.value
    if (typeof tag !== 'string') continue
    const Class: unknown = (globalThis as Record<string, unknown>)[tag]
    if (typeof Class === 'function' && Class.prototype === at) return tag
  }
  return null
}

/** The object has no field that is copied, but symbols, hidden fields or getters. */
function isBareShell(member: object, prototype: object): boolean {
  if (Object.keys(member).length > 0 || types.isMap(member) || types.isSet(member)) return false
  if (Array.isArray(member)) return false
  return Reflect.ownKeys(member).length > 0 || hasGetter(prototype)
}

function hasGetter(prototype: object): boolean {
  for (const at of prototypesFrom(prototype)) {
    const fields = Object.values(Object.getOwnPropertyDescriptors(at)) as PropertyDescriptor[]
    if (fields.some(({ get }) => get !== undefined)) return true
  }
  return false
}

/** The copy has the class of the object, or the copy fails with a reason of its own: then nothing is lost in silence. */
function becomesItself(member: object): boolean {
  if (isOnlyForThreads(member)) return true
  const name = globalClassOf(Object.getPrototypeOf(member))
  if (name !== null && Object.hasOwn(remedies, name)) return false
  try {
    structuredClone(member)
    return false
  } catch {
    return true
  }
}

/** For each prototype: whether structured clone copies its objects as objects of their class. */
const kept = new WeakMap<object, boolean>()

/**
 * True for a `Blob`, a key, a WebAssembly module and the like: structured clone copies them with their state, but no serialiser that
 * a program can use does. Clones one object of each class to find out.
 */
export function isOnlyForThreads(member: object): boolean {
  const prototype = Object.getPrototypeOf(member) as object
  if (isRoot(prototype) || isBare(member) || types.isNativeError(member)) return false
  if (Array.isArray(member) || types.isMap(member) || types.isSet(member)) return false
  let isKept = kept.get(prototype)
  if (isKept !== undefined) return isKept
  try {
    isKept = !isRoot(Object.getPrototypeOf(structuredClone(member)))
  } catch {
    // Perhaps because of its members. Another object of the class may be cloneable.
    return false
  }
  kept.set(prototype, isKept)
  return isKept
}

const PRIVATE_NAME = /#[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/gu
const LONGEST_SOURCE = 2 ** 18

/** The source of the class declares private fields. Reads the source of each class once. */
function hasPrivateFields(prototype: object): boolean {
  for (const at of prototypesFrom(prototype)) {
    const Class: unknown = Object.getOwnPropertyDescriptor(at, 'constructor')?.value
    if (typeof Class !== 'function') continue
    const source = Function.prototype.toString.call(Class)
    if (source.length <= LONGEST_SOURCE && source.startsWith('class') && declaresField(source)) return true
  }
  return false
}

function declaresField(source: string): boolean {
  return [...new Set(source.match(PRIVATE_NAME))].some(name => isField(source, name) && isName(source, name))
}

/** The text looks like `#name`, `#name;` or `#name = value` at the start of a class element. A method has a parenthesis. */
function isField(source: string, name: string): boolean {
  const place = `(?<![.\\w$]\\s*|\\b(?:static|get|set|async)\\s+|\\*\\s*)${name.replaceAll('$', '\\$')}(?![\\p{ID_Continue}$])`
  return new RegExp(`${place}\\s*(?:=(?![=>])|;|\\}|\\n|//|/\\*)`, 'u').test(source)
}

/**
 * False when the text is only in a string, a comment or a regular expression. No private name may be `#constructor`, so the class
 * then no longer compiles.
 */
function isName(source: string, name: string): boolean {
  return compiles(source) && !compiles(source.replaceAll(name, '#constructor'))
}

function compiles(source: string): boolean {
  try {
    ;new (getBuiltinModule('node:vm').Script)(`(${source}\n)`)
    return true
  } catch {
    return false
  }
}
