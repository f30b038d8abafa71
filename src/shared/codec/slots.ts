// Is an object more than its fields? Its prototype does not tell: anyone can give any object any prototype.
import {
  classOf,
  isAnyArrayBuffer,
  isBoxedPrimitive,
  isExternal,
  isGeneratorObject,
  isMap,
  isMapIterator,
  isPromise,
  isRawJson,
  isSet,
  isSetIterator,
  isWeakMap,
  isWeakSet,
} from './intrinsics.js'

/**
 * Asked of every object that has no tag of its own and is no view: its class tells of arrays, dates, errors, regular expressions,
 * arguments and boxes, and what structured clone copies besides has no class but a question for it.
 */
export function hasSlots(object: object): boolean {
  return classOf(object) !== '[object Object]' || isMap(object) || isSet(object)
}

/** Asked of objects that are not of the shape that was expected: each question costs as much as writing a field. */
export function hasRareSlots(object: object): boolean {
  return (
    isPromise(object) ||
    isWeakMap(object) ||
    isWeakSet(object) ||
    isAnyArrayBuffer(object) ||
    isBoxedPrimitive(object) ||
    isGeneratorObject(object) ||
    isMapIterator(object) ||
    isSetIterator(object) ||
    isExternal(object) ||
    isRawJson(object)
  )
}
