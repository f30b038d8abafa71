// Generates functions for one shape, with its keys as names in the code. They are several times faster than a loop over
// the keys (benchmark rows P2, {a,b}, and P3, 6-field object). If the program forbids code from strings, the encoder
// and the decoder keep using their loops.
import { hasInternalSlots } from './builtins.js'
import type { Reader } from './reader.js'
import type { Writer } from './writer.js'

/** Writes the shape's number and the values. Returns false and writes nothing when the object is not a plain object. */
export type WriteObject = (object: object, out: Writer) => boolean

export interface ReadObject {
  /** Reads the values and creates the object. */
  read(from: Reader): object
  /** Creates the object with all its keys. The caller reads the values later. */
  blank(): Record<string, unknown>
}

const canGenerate = tryToGenerate()

function tryToGenerate(): boolean {
  try {
    return new Function('return true')() === true
  } catch {
    return false
  }
}

/**
 * The checks are in the generated code, because V8 optimises each place in the code for the objects that it has seen
 * there. `in` comes first, because V8 then knows the prototype without a call.
 */
export function generateWriter(number: number, keys: readonly string[]): WriteObject | undefined {
  if (!canGenerate) return undefined
  let steps = ''
  for (const key of keys) {
    const name = JSON.stringify(key)
    steps += `value = object[${name}]
if (typeof value === 'string') out.string(value)
else if (typeof value === 'number') out.number(value)
else if (value === undefined) out.absent(object, ${name})
else out.write(value)
`
  }
  const body = `'use strict'
const { getPrototypeOf, prototype } = Object
const { toStringTag } = Symbol
return (object, out) => {
if (toStringTag in object || getPrototypeOf(object) !== prototype || hasInternalSlots(object)) return false
out.shape(${number})
let value
${steps}return true
}`
  return new Function('hasInternalSlots', body)(hasInternalSlots) as WriteObject
}

/** `keys` never contains `__proto__`, because the shape table refuses it. */
export function generateReader(keys: readonly string[]): ReadObject | undefined {
  if (!canGenerate) return undefined
  const names = keys.map(key => JSON.stringify(key))
  const read = names.map(name => `${name}: from.read()`).join(', ')
  const blank = names.map(name => `${name}: undefined`).join(', ')
  return {
    read: new Function('from', `'use strict'\nreturn { ${read} }`) as ReadObject['read'],
    blank: new Function(`'use strict'\nreturn { ${blank} }`) as ReadObject['blank'],
  }
}
