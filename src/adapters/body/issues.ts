// What a validator has to say, as plain data: it must cross to where the request is answered, and be no other where nothing
// crosses. Libraries put their machinery beside it: functions, and objects of their classes, which tell by getters.
import { types } from 'node:util'

/** What lies deeper is left out: the input may be among the issues, as deep as it came. */
const DEEPEST = 100
const toldByGetters = ['message', 'path', 'code']

/** Functions, and what else cannot be sent, are left out; a symbol becomes a text. What is met twice is one in the copy too. */
export function plainIssues(value: unknown, copies = new Map<object, unknown>(), depth = 0): unknown {
  if (typeof value === 'symbol') return value.toString()
  if (typeof value === 'function') return undefined
  if (value === null || typeof value !== 'object') return value
  if (copies.has(value)) return copies.get(value)
  if (depth === DEEPEST) return undefined
  if (isBuiltIn(value)) return cloneOf(value)
  const plain = (part: unknown) => plainIssues(part, copies, depth + 1)
  const said = jsonOf(value)
  if (said === null || typeof said !== 'object') return plain(said)
  const copy: object = Array.isArray(said) ? [] : {}
  copies.set(value, copy)
  if (Array.isArray(said)) Object.assign(copy, Array.from(said, plain))
  else {
    for (const key of new Set([...Object.keys(said), ...toldByGetters])) {
      const part = plain((said as Record<string, unknown>)[key] ?? (value as Record<string, unknown>)[key])
      // Not assigned: a key of the input may be `__proto__`.
      if (part !== undefined)
        Object.defineProperty(copy, key, {
          value: part,
          writable: true,
          enumerable: true,
          configurable: true,
        })
    }
  }
  return copy
}

/** What an object says of itself to `JSON.stringify()`. */
function jsonOf(value: object): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? Reflect.apply(toJSON, value, ['']) : value
}

function isBuiltIn(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isMap(value) ||
    types.isSet(value)
  )
}

function cloneOf(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return undefined
  }
}
