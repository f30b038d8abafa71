// What an error carries, as plain data that is sure to cross to the other thread. What cannot be sent becomes a text that
// says what it was; what only the reviving can make again is noted as a hole.
import { types } from '../platform/node-modules.js'
import { ancestorsOf, ownClassName } from './error-classes.js'
import { inHalves } from './in-halves.js'

/** What stands in a hole: an error by its number, or a symbol of the registry by its key. */
export type HoleFiller = { error: number } | { symbol: string }
export type PackedMember = { value: unknown } | HoleFiller
/** A place in the data, to be filled when it has arrived. */
export type Hole = [container: object, key: string, filler: HoleFiller]

/** Asked of the member itself: a program may have given all objects such a field. */
export function isValue(member: PackedMember): member is { value: unknown } {
  return Object.hasOwn(member, 'value')
}

const DEEPEST = 100
/** Larger data is not looked through: it is sent as it is, or named. */
const MOST_MEMBERS = 20_000
/** So often it is tried to clone what may hold something that cannot be; what is left then is named. */
const MOST_CLONINGS = 1000

/** What is not looked through, at its place in the copy; its clone is put there when all that wait are cloned together. */
class Opaque {
  readonly original: object
  readonly container: object
  readonly key: string

  constructor(original: object, container: object, key: string) {
    this.original = original
    this.container = container
    this.key = key
  }
}

export class PlainCopy {
  readonly holes: Hole[] = []
  readonly #noteError: (value: unknown) => HoleFiller | string | null
  /** Copies made so far: what is reached twice arrives as one. */
  readonly #copies = new Map<object, object>()
  readonly #opaque: Opaque[] = []
  #members = 0

  /** @param noteError the number of an error, a text for one too many, `null` for what is none */
  constructor(noteError: (value: unknown) => HoleFiller | string | null) {
    this.#noteError = noteError
  }

  /** The data is whole once `finish` was called. */
  pack(value: unknown): PackedMember {
    const member = { value: undefined as unknown }
    return this.#put(value, 0, member, 'value') ?? member
  }

  finish(): void {
    const clones = cloneAll(this.#opaque.map(({ original }) => original))
    for (const [index, { container, key }] of this.#opaque.entries()) define(container, key, clones[index])
  }

  /** Returns what is to stand in a hole there; nothing where the value, or a text that says what it was, was put there. */
  #put(value: unknown, depth: number, container: object, key: string): HoleFiller | null {
    if (typeof value === 'symbol') {
      const registered = Symbol.keyFor(value)
      if (registered !== undefined) return { symbol: registered }
    }
    if (value === null || typeof value !== 'object') {
      define(container, key, plainValue(value))
      return null
    }
    try {
      const noted = this.#noteError(value)
      if (noted !== null && typeof noted !== 'string') return noted
      if (noted !== null) define(container, key, noted)
      else this.#putObject(value, depth, container, key)
    } catch (failure) {
      define(container, key, unreadable(failure))
    }
    return null
  }

  #putObject(value: object, depth: number, container: object, key: string): void {
    const known = this.#copies.get(value)
    if (known !== undefined) return define(container, key, known)
    const isArray = Array.isArray(value)
    if (!isArray && !isPlain(value)) return this.#wait(value, container, key)
    if (depth >= DEEPEST) return define(container, key, tooDeep(value))
    const keys = Object.keys(value)
    const members = this.#members + keys.length
    if (members > MOST_MEMBERS) return this.#wait(value, container, key)
    this.#members = members
    const copy: object = isArray ? new Array(value.length) : {}
    this.#copies.set(value, copy)
    define(container, key, copy)
    for (const name of keys) this.#putMember(value, name, depth + 1, copy)
  }

  /** A member that cannot be read costs that member, not the whole. */
  #putMember(owner: object, key: string, depth: number, copy: object): void {
    let member: unknown
    try {
      member = (owner as Record<string, unknown>)[key]
    } catch (failure) {
      return define(copy, key, unreadable(failure))
    }
    const filler = this.#put(member, depth, copy, key)
    if (filler === null) return
    define(copy, key, undefined)
    this.holes.push([copy, key, filler])
  }

  #wait(original: object, container: object, key: string): void {
    define(container, key, undefined)
    this.#opaque.push(new Opaque(original, container, key))
  }
}

/**
 * Clones go along, not the originals: what is read once more might answer differently. All at once, so that what they share is
 * cloned once and stays one; where that fails, in halves.
 */
function cloneAll(originals: object[]): unknown[] {
  const seen = new Set<object>()
  const clone = (part: readonly object[]) => structuredClone(part).map(copy => shortened(copy, 0, seen))
  return inHalves<object, unknown>(originals, MOST_CLONINGS, clone, notCloneable)
}

/**
 * A clone in which nothing is nested too deeply: a thread with more stack than its reader could write what that cannot read. It
 * is gone through in the order in which it will be written.
 */
function shortened(clone: unknown, depth: number, seen: Set<object>): unknown {
  if (clone === null || typeof clone !== 'object' || seen.has(clone) || ArrayBuffer.isView(clone))
    return clone
  if (depth >= DEEPEST) return tooDeep(clone)
  seen.add(clone)
  // The names of a long list of numbers are more work than the list.
  if (Array.isArray(clone) && !Object.values(clone).some(isObject)) return clone
  const inside = (member: unknown) => shortened(member, depth + 1, seen)
  if (types.isMap(clone)) {
    const entries = [...clone]
    clone.clear()
    for (const [key, value] of entries) clone.set(inside(key), inside(value))
  } else if (types.isSet(clone)) {
    const members = [...clone]
    clone.clear()
    for (const member of members) clone.add(inside(member))
  } else {
    const keys = types.isNativeError(clone) ? ['cause'] : Object.keys(clone)
    const fields = clone as Record<string, unknown>
    for (const key of keys) {
      const member = fields[key]
      const short = inside(member)
      if (short !== member) define(clone, key, short, !types.isNativeError(clone))
    }
  }
  return clone
}

export function notCloneable(value: object): string {
  return `[${describeObject(value)}, not cloneable]`
}

function tooDeep(value: object): string {
  return `[${describeObject(value)}, nested too deeply]`
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'function') return functionText(value)
  return typeof value === 'symbol' ? value.toString() : value
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Of any realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  if (prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && ownClassName(prototype) === 'Object'
}

function functionText(named: unknown): string {
  try {
    const { name } = named as { name: unknown }
    return `[function ${typeof name === 'string' && name !== '' ? name : '(anonymous)'}]`
  } catch {
    return '[function]'
  }
}

function describeObject(value: object): string {
  try {
    for (const parent of ancestorsOf(value)) {
      const name = ownClassName(parent)
      if (name !== undefined) return name
    }
    return 'Object'
  } catch {
    return 'Object'
  }
}

export function define(target: object, key: string, value: unknown, enumerable = true): void {
  Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true })
}

export function unreadable(failure: unknown): string {
  return `(could not be read: ${plainText(failure)})`
}

/** The words of whatever was thrown: a proxy may not even say what it is. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message)
  } catch {}
  return plainText(thrown)
}

/** Whatever it is: an object may have no `toString` that can be called. */
function plainText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return `[${describeObject(value as object)}]`
  }
}
