// What an error carries, as plain data that is sure to cross to the other thread. What cannot be sent becomes a text that
// says what it was; what only the reviving can make again is noted as a hole.
import { ownClassName } from './error-classes.js'

/** What stands in a hole: an error by its number, or a symbol of the registry by its key. */
export type HoleFiller = { error: number } | { symbol: string }
export type PackedMember = { value: unknown } | HoleFiller
/** A place in the data, to be filled when it has arrived. */
export type Hole = [container: object, key: string, filler: HoleFiller]

const DEEPEST = 100
/** Larger data is not looked through: it is sent as it is, or named. */
const MOST_MEMBERS = 20_000

export class PlainCopy {
  readonly holes: Hole[] = []
  readonly #noteError: (value: unknown) => HoleFiller | string | null
  /** Copies made so far: what is reached twice arrives as one. */
  readonly #copies = new Map<object, unknown>()
  #members = 0

  /** @param noteError the number of an error, a text for one too many, `null` for what is none */
  constructor(noteError: (value: unknown) => HoleFiller | string | null) {
    this.#noteError = noteError
  }

  pack(value: unknown, depth = 0): PackedMember {
    if (typeof value === 'function') return { value: functionText(value) }
    if (typeof value === 'symbol') return packSymbol(value)
    if (value === null || typeof value !== 'object') return { value }
    try {
      const noted = this.#noteError(value)
      if (noted !== null) return typeof noted === 'string' ? { value: noted } : noted
      return { value: this.#copy(value, depth) }
    } catch (failure) {
      return { value: unreadable(failure) }
    }
  }

  #copy(value: object, depth: number): unknown {
    const known = this.#copies.get(value)
    if (known !== undefined) return known
    const isArray = Array.isArray(value)
    if (!isArray && !isPlain(value)) return this.#remember(value, clone(value))
    if (depth >= DEEPEST) return `[${describeObject(value)}, nested too deeply]`
    const keys = Object.keys(value)
    this.#members += keys.length
    if (this.#members > MOST_MEMBERS) return this.#remember(value, clone(value))
    const copy: object = isArray ? new Array(value.length) : {}
    this.#copies.set(value, copy)
    for (const key of keys) {
      const member = this.#packAt(value, key, depth + 1)
      if ('value' in member) define(copy, key, member.value)
      else {
        define(copy, key, undefined)
        this.holes.push([copy, key, member])
      }
    }
    return copy
  }

  /** A member that cannot be read costs that member, not the whole. */
  #packAt(container: object, key: string, depth: number): PackedMember {
    let member: unknown
    try {
      member = (container as Record<string, unknown>)[key]
    } catch (failure) {
      return { value: unreadable(failure) }
    }
    return this.pack(member, depth)
  }

  #remember(value: object, copy: unknown): unknown {
    this.#copies.set(value, copy)
    return copy
  }
}

/** The clone goes along, not the original: what is read once more might answer differently. */
function clone(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return `[${describeObject(value)}, not cloneable]`
  }
}

function packSymbol(symbol: symbol): PackedMember {
  const key = Symbol.keyFor(symbol)
  return key === undefined ? { value: symbol.toString() } : { symbol: key }
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
    for (let parent = Object.getPrototypeOf(value); parent !== null; parent = Object.getPrototypeOf(parent)) {
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

export function plainText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
