// Compares two values as graphs. Shared objects, own properties, prototypes, holes, order and bytes must be equal. Returns a text
// with the path of the first difference, or `undefined`.
import { types } from 'node:util'

const flags = ['writable', 'enumerable', 'configurable', 'get', 'set']

export function differenceOf(one, other) {
  const pairs = new Map()
  const taken = new Set()

  function visit(a, b, path) {
    if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') {
      return Object.is(a, b) ? undefined : `${path}: ${show(a)} against ${show(b)}`
    }
    if (pairs.has(a))
      return pairs.get(a) === b
        ? undefined
        : `${path}: the first value has this object at a second path, where the second value has another object`
    if (taken.has(b)) return `${path}: the first value has two objects, the second value has one`
    pairs.set(a, b)
    taken.add(b)
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return `${path}: prototypes`
    const kind = kindOf(a)
    if (kind !== kindOf(b)) return `${path}: ${kind} against ${kindOf(b)}`
    if (Object.isExtensible(a) !== Object.isExtensible(b)) return `${path}: extensible`
    return visitInside(kind, a, b, path) ?? (kind === 'view' ? undefined : visitProperties(a, b, path))
  }

  function visitInside(kind, a, b, path) {
    switch (kind) {
      case 'Map':
        return visitList([...a].flat(), [...b].flat(), `${path}.entries`)
      case 'Set':
        return visitList([...a], [...b], `${path}.members`)
      case 'Date':
        return visit(a.getTime(), b.getTime(), `${path}.time`)
      case 'RegExp':
        return visitList([a.source, a.flags], [b.source, b.flags], path)
      case 'boxed':
        return visit(a.valueOf(), b.valueOf(), `${path}.valueOf`)
      case 'ArrayBuffer':
        if (a.resizable !== b.resizable) return `${path}: resizable`
        return Buffer.from(a).equals(Buffer.from(b)) ? undefined : `${path}: bytes`
      case 'view':
        if (a.byteOffset !== b.byteOffset || a.byteLength !== b.byteLength) return `${path}: range`
        return visit(a.buffer, b.buffer, `${path}.buffer`)
      default:
        return undefined
    }
  }

  function visitList(as, bs, path) {
    if (as.length !== bs.length) return `${path}: ${as.length} against ${bs.length}`
    for (let index = 0; index < as.length; index++) {
      const found = visit(as[index], bs[index], `${path}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }

  function visitProperties(a, b, path) {
    const keys = Reflect.ownKeys(a)
    const found = visitList(keys, Reflect.ownKeys(b), `${path}.keys`)
    if (found !== undefined) return found
    for (const key of keys) {
      const field = Object.getOwnPropertyDescriptor(a, key)
      const otherField = Object.getOwnPropertyDescriptor(b, key)
      const at = `${path}.${String(key)}`
      for (const flag of flags) if (field[flag] !== otherField[flag]) return `${at}: ${flag}`
      const inside = visit(field.value, otherField.value, at)
      if (inside !== undefined) return inside
    }
    return undefined
  }

  return visit(one, other, '$')
}

function kindOf(object) {
  if (Array.isArray(object)) return 'Array'
  if (types.isMap(object)) return 'Map'
  if (types.isSet(object)) return 'Set'
  if (types.isDate(object)) return 'Date'
  if (types.isRegExp(object)) return 'RegExp'
  if (types.isBoxedPrimitive(object)) return 'boxed'
  if (types.isArrayBuffer(object)) return 'ArrayBuffer'
  if (ArrayBuffer.isView(object)) return 'view'
  return 'plain'
}

function show(value) {
  return typeof value === 'bigint' ? `${value}n` : Object.is(value, -0) ? '-0' : String(value)
}
