// Asks the runtime whether it takes two objects for the same kind.
import { setFlagsFromString } from 'node:v8'
import { keptShapes } from '../shared/platform/shapes.js'

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean

/** Is there one that stays, and is it of this object's kind? */
export function isShapeKept(object: object): boolean {
  return keptShapes.some(sample => haveSameMap(sample, object))
}
