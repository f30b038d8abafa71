// Copies plain data, because the program may change an object as soon as the pool has it. This is faster than a structured clone.
import { types } from '../../shared/platform/node-modules.js'

/** The value is no plain data. */
export const UNFIT: unique symbol = Symbol('no plain data')

const MOST_DEPTH = 8
/** The own keys of longer arrays take long to check. */
const MOST_ELEMENTS = 64

/**
 * A copy of a primitive, a plain object, an array or a date. `UNFIT` for other values, for deep and for circular ones, and for an object that
 * occurs twice: its copies would be two objects.
 */
export function snapshotOf(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return isUnsendable(value) ? UNFIT : value
  try {
    return copyOf(value, null, 0)
  } catch {
    // A getter has thrown. The call of the item's own task explains it.
    return UNFIT
  }
}

function isUnsendable(value: unknown): boolean {
  return typeof value === 'function' || typeof value === 'symbol'
}

function copyOf(value: object, seen: Set<object> | null, depth: number): object | typeof UNFIT {
  // This check comes first, so that no trap of a proxy runs. A structured clone refuses proxies.
  if (types.isProxy(value)) return UNFIT
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Date.prototype) return new Date((value as Date).getTime())
  const isArray = Array.isArray(value)
  if (prototype !== (isArray ? Array.prototype : Object.prototype) || depth === MOST_DEPTH) return UNFIT
  if (isArray && (value.length > MOST_ELEMENTS || Object.keys(value).length !== value.length)) return UNFIT
  const copy = (isArray ? [...value] : { ...value }) as Record<string, unknown>
  for (const key in copy) {
    const member = copy[key]
    if (member === null || typeof member !== 'object') {
      if (isUnsendable(member)) return UNFIT
      continue
    }
    if (key === '__proto__') return UNFIT
    seen ??= new Set()
    if (seen.has(member)) return UNFIT
    seen.add(member)
    const inner = copyOf(member, seen, depth + 1)
    if (inner === UNFIT) return UNFIT
    copy[key] = inner
  }
  return copy
}
