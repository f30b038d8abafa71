// Gives an object a field of its own, whatever stands on its prototypes: a plain assignment would run a setter there.
import { ObjectIntrinsic, ownNames, reflectDefine, SetIntrinsic, setHas } from './intrinsics.js'

const objectPrototype: object = ObjectIntrinsic.prototype
const inheritedAtFirst = ownNames(objectPrototype)
const inheritedNames = new SetIntrinsic(inheritedAtFirst)

/** Has nobody given a name to all objects since this module loaded? What was added stands last. */
export function inheritsAsAtFirst(): boolean {
  const names = ownNames(objectPrototype)
  const last = names.length - 1
  return last === inheritedAtFirst.length - 1 && names[last] === inheritedAtFirst[last]
}

/** For a plain object while `inheritsAsAtFirst`. */
export function setField(object: object, key: string, value: unknown): void {
  if (setHas(inheritedNames, key)) defineField(object, key, value)
  else (object as Record<string, unknown>)[key] = value
}

/** For any object; false for a key that it does not give away. */
export function defineField(object: object, key: string, value: unknown): boolean {
  if (key in object) return define(object, key, value)
  ;(object as Record<string, unknown>)[key] = value
  return true
}

/** For an array that has no such element yet. While no prototype has one either, the question costs nothing. */
export function setElement(array: unknown[], index: number, value: unknown): void {
  if (index in array) define(array, index, value)
  else array[index] = value
}

function define(object: object, key: PropertyKey, value: unknown): boolean {
  return reflectDefine(object, key, { value, writable: true, enumerable: true, configurable: true })
}
