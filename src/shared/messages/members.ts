// Visits the parts of a value that structured clone copies.
import { types } from '../platform/node-modules.js'

/** The members that a copy of the object has: fields, elements, keys and values. None for buffers, dates and the like. */
export function membersOf(owner: object): unknown[] {
  return types.isProxy(owner) || isBare(owner) ? [] : partsOf(owner)
}

/** The same for an object that is no proxy, and not bare. */
export function partsOf(owner: object): unknown[] {
  // A class may override the iterator.
  if (types.isMap(owner)) return [...Map.prototype.entries.call(owner)].flat(1)
  if (types.isSet(owner)) return [...Set.prototype.values.call(owner)]
  // The cause is the only part of an error that is sent and can hold objects.
  if (types.isNativeError(owner)) return [Object.getOwnPropertyDescriptor(owner, 'cause')?.value]
  return Object.values(owner)
}

/** The fields of these objects are not sent. */
export function isBare(owner: object): boolean {
  return (
    ArrayBuffer.isView(owner) ||
    types.isAnyArrayBuffer(owner) ||
    types.isDate(owner) ||
    types.isRegExp(owner) ||
    types.isBoxedPrimitive(owner)
  )
}
