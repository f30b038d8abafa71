// Random values. Each value is built from a plan: plain data that fast-check creates, replays and shrinks. The same plan gives the
// same value on every thread. The values have cycles, shared parts, every type of structured clone, and types that it refuses.
import fc from 'fast-check'

// biome-ignore format: a table
const primitives = [
  undefined, null, true, false, 0, -0, 1, -1, 127, 128, 255, 256, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 32, 0.1,
  Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, 1e308,
  0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n, 12345678901234567890123456789012345n,
  '', 'a', '\0', '\xff', '\u0100', '\ud800', 'x\udc00', '😀', 'é'.repeat(40), 'x'.repeat(31), 'x'.repeat(32),
  'y'.repeat(128), 'y'.repeat(129), '€'.repeat(130), 'z'.repeat(700),
]
// biome-ignore format: a table
const keys = [
  'a', 'b', 'c', 'id', 'name', 'constructor', 'toString', '__proto__', 'hasOwnProperty', 'length', '0', '1', '10',
  '4294967294', '4294967295', '-1', '01', '', 'a b', 'é', '€', '\ud800', 'then', 'toJSON', 'valueOf',
]
const shapes = [['a', 'b'], ['b', 'a'], ['id', 'name', 'a', 'b', 'c'], ['name'], ['é', 'a-b'], ['a', 'c']]
const regExps = [/a/, /(?:)/, /\//giu, /[/\]]+/dgimsuy, /é€\u{1F600}/u, /[\p{L}--[a-z]]/v, /^$/m]
// biome-ignore format: a table
const views = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
  Float64Array, BigInt64Array, BigUint64Array, DataView,
]
if (typeof Float16Array !== 'undefined') views.push(Float16Array)

class Instance {
  a = 1
}

/** The codec declines each of these values. Structured clone refuses some of them. */
const strangers = [
  () => () => {},
  () => Symbol('s'),
  () => Object(Symbol('s')),
  () => new Proxy({ a: 1, b: 2 }, {}),
  () => new Proxy([1], {}),
  () => new Instance(),
  () => Object.create({ a: 1 }),
  () => Object.setPrototypeOf(new Map([[1, 2]]), Object.prototype),
  () => Object.assign(Object.setPrototypeOf(new Map([[1, 2]]), Object.prototype), { a: 1, b: 2 }),
  () => Object.assign(Object.setPrototypeOf(new Set([1]), Object.prototype), { a: 1, b: 2 }),
  () => Object.assign(Object.setPrototypeOf(new Date(0), Object.prototype), { a: 1, b: 2 }),
  () => Object.assign(Object.setPrototypeOf(/a/, Object.prototype), { name: 1 }),
  () => Object.assign(Object.setPrototypeOf(Object(1), Object.prototype), { name: 1 }),
  () => Object.assign(Object.setPrototypeOf(new Error('e'), Object.prototype), { name: 1 }),
  () =>
    Object.assign(Object.setPrototypeOf(new Date(0), Object.prototype), { [Symbol.toStringTag]: 'Object' }),
  () =>
    Object.assign(Object.setPrototypeOf(new Date(0), Object.prototype), {
      a: 1,
      b: 2,
      [Symbol.toStringTag]: 'Object',
    }),
  () => Object.setPrototypeOf(new Map([[1, 2]]), null),
  () => Object.setPrototypeOf(Promise.resolve(1), Object.prototype),
  () => Object.setPrototypeOf(new WeakMap(), Object.prototype),
  () => Object.setPrototypeOf(new ArrayBuffer(8), Object.prototype),
  () => Object.setPrototypeOf(Object(1n), null),
  () => Object.setPrototypeOf(new Uint8Array(2), Object.prototype),
  () => Object.setPrototypeOf([1, 2], Object.prototype),
  () => Object.setPrototypeOf([1, 2], null),
  () => Object.setPrototypeOf({ a: 1 }, Array.prototype),
  () => Object.create(Map.prototype),
  () => Object.create(Date.prototype),
  () => Object.create(Uint8Array.prototype),
  () => Object.create(Number.prototype),
  () => new (class extends Array {})(3),
  () => new (class extends Map {})([[1, 2]]),
  () => new (class extends Uint8Array {})(3),
  () => Promise.resolve(1),
  () => new WeakMap(),
  () => new WeakRef({}),
  () => new Error('e'),
  () => new TypeError('e', { cause: 1 }),
  () => [].values(),
  () => new Map().entries(),
  () => (function* () {})(),
  () =>
    (function () {
      // biome-ignore lint/complexity/noArguments: an arguments object is one of the values
      return arguments
    })(1, 2),
  () => new SharedArrayBuffer(8),
  () => new Uint8Array(new SharedArrayBuffer(8)),
  () => new ArrayBuffer(8, { maxByteLength: 16 }),
  () => new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 })),
  () => detached(new ArrayBuffer(8)),
  () => detachedView(Uint8Array),
  () => detachedView(DataView),
  () => new URL('http://example.com'),
  () => new Blob(['a']),
  () => globalThis,
  () => throwing({}),
  () => throwing([]),
]
if (JSON.rawJSON !== undefined) strangers.push(() => JSON.rawJSON('1'))

function detached(buffer) {
  structuredClone(buffer, { transfer: [buffer] })
  return buffer
}

function detachedView(View) {
  const view = new View(new ArrayBuffer(8))
  detached(view.buffer)
  return view
}

function throwing(object) {
  const get = () => {
    throw new Error('a getter of the user')
  }
  return Object.defineProperty(object, '0', { get, enumerable: true })
}

export const strangerCount = strangers.length
export const makeStranger = index => strangers[index]()
export const describeStranger = index => String(strangers[index])

const index = fc.nat({ max: 10_000 })
export const plans = fc.letrec(tie => {
  const node = tie('node')
  const nodes = fc.array(node, { maxLength: 5 })
  const several = fc.array(node, { minLength: 2, maxLength: 7 })
  const fields = fc.array(fc.tuple(index, node), { maxLength: 6 })
  const leaf = fc.tuple(fc.constant('primitive'), index)
  return {
    root: fc.oneof(
      { arbitrary: node, weight: 5 },
      { arbitrary: fc.tuple(fc.constant('array'), several), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('shaped'), index, several), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('map'), several), weight: 1 },
    ),
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      { arbitrary: leaf, weight: 12 },
      { arbitrary: fc.tuple(fc.constant('number'), fc.oneof(fc.integer(), fc.double())), weight: 6 },
      { arbitrary: fc.tuple(fc.constant('string'), fc.string({ maxLength: 40 })), weight: 6 },
      { arbitrary: fc.tuple(fc.constant('string'), fc.string({ unit: 'binary', maxLength: 20 })), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('bigint'), fc.bigInt()), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('shaped'), index, nodes), weight: 8 },
      { arbitrary: fc.tuple(fc.constant('object'), fields), weight: 4 },
      { arbitrary: fc.tuple(fc.constant('bare'), fields), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('getters'), fields), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('vanishing'), fields, index), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('shrinking'), nodes, index), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('hidden'), fields), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('array'), nodes), weight: 6 },
      { arbitrary: fc.tuple(fc.constant('numbers'), fc.array(fc.integer(), { maxLength: 40 })), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('doubles'), fc.array(fc.double(), { maxLength: 20 })), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('sparse'), index, fields), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('map'), nodes), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('set'), nodes), weight: 2 },
      { arbitrary: fc.tuple(fc.constant('date'), fc.double()), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('regexp'), index), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('boxed'), leaf), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('buffer'), fc.nat({ max: 70 })), weight: 1 },
      { arbitrary: fc.tuple(fc.constant('view'), index, index, index), weight: 3 },
      { arbitrary: fc.tuple(fc.constant('same'), index), weight: 8 },
      { arbitrary: fc.tuple(fc.constant('stranger'), index), weight: 1 },
    ),
  }
}).root

/** Builds the value of a plan. All randomness is in the plan, so two calls return equal values. */
export function build(plan) {
  /** The objects of the value in the order of their creation. A later part of the plan may use one of them again. */
  const objects = []
  const buffers = [0, 64, 129, 200]

  function bufferAt(place) {
    if (typeof buffers[place] === 'number') buffers[place] = filledBuffer(buffers[place])
    return buffers[place]
  }

  function keep(object) {
    objects.push(object)
    return object
  }

  function define(object, key, node) {
    const value = make(node)
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  }

  function fill(object, fields) {
    for (const [key, node] of fields) define(object, keys[key % keys.length], node)
    return object
  }

  function make([kind, first, second, third]) {
    switch (kind) {
      case 'primitive':
        return primitives[first % primitives.length]
      case 'number':
      case 'string':
      case 'bigint':
        return first
      case 'shaped': {
        const object = keep({})
        const names = shapes[first % shapes.length]
        names.forEach((name, at) => {
          object[name] = second.length === 0 ? at : make(second[at % second.length])
        })
        return object
      }
      case 'object':
        return fill(keep({}), first)
      case 'bare':
        return fill(keep(Object.create(null)), first)
      case 'getters': {
        const object = keep({})
        for (const [key, node] of first) {
          const value = make(node)
          const get = () => value
          Object.defineProperty(object, keys[key % keys.length], {
            get,
            enumerable: true,
            configurable: true,
          })
        }
        return object
      }
      case 'vanishing':
        return vanishing(fill(keep({}), first), second)
      case 'hidden': {
        const object = fill(keep({}), first)
        Object.defineProperty(object, 'hidden', { value: () => {}, enumerable: false })
        object[Symbol('never seen')] = () => {}
        return first.length % 2 === 0 ? object : Object.freeze(object)
      }
      case 'array': {
        const array = keep([])
        for (const node of first) array.push(make(node))
        return array
      }
      case 'shrinking': {
        const array = keep(first.map(make))
        array.splice(second % 3, 0, shortening(array, second))
        return array
      }
      case 'numbers':
      case 'doubles':
        return keep([...first])
      case 'sparse': {
        const array = keep([])
        array.length = [0, 1, 5, 17, 1000, 50_000_000, 4_000_000_000][first % 7]
        for (const [key, node] of second) {
          const name = keys[key % keys.length]
          if (name !== 'length') define(array, name, node)
        }
        return array
      }
      case 'map': {
        const map = keep(new Map())
        for (let at = 0; at < first.length; at += 2)
          map.set(make(first[at]), make(first.at(at + 1) ?? ['primitive', 0]))
        return map
      }
      case 'set': {
        const set = keep(new Set())
        for (const node of first) set.add(make(node))
        return set
      }
      case 'date':
        return keep(new Date(first))
      case 'regexp': {
        const { source, flags } = regExps[first % regExps.length]
        const regExp = keep(new RegExp(source, flags))
        regExp.lastIndex = first
        return regExp
      }
      case 'boxed': {
        const value = make(first)
        return value === null || value === undefined ? value : keep(Object(value))
      }
      case 'buffer':
        return keep(filledBuffer(first))
      case 'view':
        return keep(makeView(views[first % views.length], bufferAt(second % buffers.length), third))
      case 'same':
        return objects.length === 0 ? null : objects[first % objects.length]
      case 'stranger':
        return strangers[first % strangers.length]()
      default:
        throw new Error(`unknown kind of plan: ${kind}`)
    }
  }

  return make(plan)
}

/** Gives the first key of the object a getter that changes other keys. */
function vanishing(object, choice) {
  const names = Object.keys(object)
  const victim = names.at(-1)
  const get = () => {
    if (choice % 3 !== 0) delete object[victim]
    if (choice % 3 !== 1) object.later = 1
    return choice
  }
  if (names.length > 1) Object.defineProperty(object, names[0], { get, enumerable: true, configurable: true })
  return object
}

/** An object whose getter changes the array that contains the object. */
function shortening(array, choice) {
  return {
    get a() {
      if (choice % 4 === 0) array.length = choice % 5
      else if (choice % 4 === 1) delete array[choice % 7]
      else if (choice % 4 === 2) array.push('late')
      else array[choice % 5] = 'changed'
      return choice
    },
  }
}

function makeView(View, buffer, choice) {
  const size = View.BYTES_PER_ELEMENT ?? 1
  const room = Math.floor(buffer.byteLength / size)
  const start = choice % (room + 1)
  const length = (choice >> 3) % (room - start + 1)
  if (View === Uint8Array && choice % 2 === 1) return Buffer.from(buffer, start, length)
  return new View(buffer, start * size, length)
}

function filledBuffer(length) {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at++) bytes[at] = at * 7
  return bytes.buffer
}

/** Returns the structured clone of a value, or the error of the refusal. */
export function cloneOf(value) {
  try {
    return { clone: structuredClone(value) }
  } catch (refusal) {
    return { refusal }
  }
}
