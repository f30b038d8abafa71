// Functions made for one shape: its keys stand in the code as names, which is several times faster than asking for each
// in a loop. Where the program forbids code from strings, and for keys that are no plain names, there is none.
import type { Decoder } from './decoder.js'
import type { Encoder } from './encoder.js'
import { matches, ObjectIntrinsic, prototypeOf, toStringTag } from './intrinsics.js'
import { hasSlots } from './slots.js'

/** Writes the shape's number and the values, if the object has its fields from itself alone and says so nowhere else. */
export type WriteShaped = (object: object, out: Encoder) => boolean
export interface ReadObject {
  /** The object, made when all its values are there. */
  whole(from: Decoder): object
  /** The object with all its keys, before its values are there. */
  blank(): Record<string, unknown>
}

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,99}$/
const FunctionIntrinsic = Function
const mayGenerate = canGenerate()

function canGenerate(): boolean {
  try {
    return new FunctionIntrinsic('return true')() === true
  } catch {
    return false
  }
}

function areNames(keys: readonly string[]): boolean {
  if (!mayGenerate) return false
  for (const key of keys) if (key === '__proto__' || matches(PLAIN_NAME, key) === null) return false
  return true
}

/**
 * The questions that every object is asked stand in this code too, not in a function that all shapes share: the runtime
 * remembers the answer for each place in the code. The tag is asked for twice: the first time shows the runtime what the object
 * looks like, so that it knows the prototype without a call; a proxy that stands there instead may change the object meanwhile.
 */
export function generateWriter(number: number, keys: readonly string[]): WriteShaped | undefined {
  if (!areNames(keys)) return undefined
  let steps = ''
  for (const key of keys) {
    steps += `value = object.${key}
if (typeof value === 'string') out.string(value)
else if (typeof value === 'number') out.number(value)
else if (value === undefined) out.absent(object, '${key}')
else out.write(value)
`
  }
  const body = `'use strict'
return (object, out) => {
if (toStringTag in object || prototypeOf(object) !== objectPrototype || toStringTag in object || hasSlots(object)) return false
out.shape(${number})
let value
${steps}return true
}`
  const make = new FunctionIntrinsic('prototypeOf', 'objectPrototype', 'toStringTag', 'hasSlots', body)
  return make(prototypeOf, ObjectIntrinsic.prototype, toStringTag, hasSlots) as WriteShaped
}

export function generateReader(keys: readonly string[]): ReadObject | undefined {
  if (!areNames(keys)) return undefined
  let values = ''
  let blanks = ''
  for (const key of keys) {
    values += `${key}: from.read(), `
    blanks += `${key}: undefined, `
  }
  return {
    whole: new FunctionIntrinsic('from', `'use strict'\nreturn { ${values} }`) as ReadObject['whole'],
    blank: new FunctionIntrinsic(`'use strict'\nreturn { ${blanks} }`) as ReadObject['blank'],
  }
}
