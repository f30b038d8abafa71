// What the language was when this module loaded. A program that patches a builtin later changes neither what the codec
// takes a value for nor what it makes of bytes.
import { inspect, types } from '../platform/node-modules.js'

/** `method` as a function whose first argument is `this`; nothing is looked up when it is called. */
type Uncurried<This, Args extends unknown[], Result> = (self: This, ...args: Args) => Result

const { bind, call } = Function.prototype
const uncurry: (method: unknown) => any = bind.bind(call as never) as never
const { getOwnPropertyDescriptor, getOwnPropertyDescriptors, getPrototypeOf, setPrototypeOf } = Object

function getter(prototype: object, key: PropertyKey): (self: unknown) => any {
  const read = getOwnPropertyDescriptor(prototype, key)?.get
  return read === undefined ? () => undefined : uncurry(read)
}

export const { isArray } = Array
export const { isView } = ArrayBuffer
export const { asIntN } = BigInt
export const { keys: ownKeys, values: ownValues, getOwnPropertyNames: ownNames } = Object
export const { defineProperty: reflectDefine } = Reflect
export const prototypeOf: (value: object) => object | null = getPrototypeOf
export const { floor, max, min } = Math
export const { toStringTag } = Symbol
export const {
  isAnyArrayBuffer,
  isArrayBuffer,
  isBigIntObject,
  isBooleanObject,
  isBoxedPrimitive,
  isDataView,
  isDate,
  isExternal,
  isGeneratorObject,
  isMap,
  isMapIterator,
  isNumberObject,
  isPromise,
  isProxy,
  isRegExp,
  isSet,
  isSetIterator,
  isStringObject,
  isWeakMap,
  isWeakSet,
} = types
/** Newer than Node 20. */
export const isRawJson: (value: unknown) => boolean =
  (JSON as { isRawJSON?: (value: unknown) => boolean }).isRawJSON ?? (() => false)

/** What the codec may meet on its way besides plain objects, each with the one prototype that it accepts. */
export const {
  Array: ArrayIntrinsic,
  ArrayBuffer: ArrayBufferIntrinsic,
  BigInt: BigIntIntrinsic,
  Boolean: BooleanIntrinsic,
  Buffer: BufferIntrinsic,
  DataView: DataViewIntrinsic,
  Map: MapIntrinsic,
  Number: NumberIntrinsic,
  Object: ObjectIntrinsic,
  RegExp: RegExpIntrinsic,
  Set: SetIntrinsic,
  String: StringIntrinsic,
  Uint8Array: Uint8ArrayIntrinsic,
} = globalThis
export const DateIntrinsic = Date
/** The longest array that the runtime keeps as a row; a longer one is a table with few entries. */
export const LONGEST_ROW = 32 * 1024 * 1024

export const hasOwn: Uncurried<object, [PropertyKey], boolean> = uncurry(Object.prototype.hasOwnProperty)
export const classOf: Uncurried<unknown, [], string> = uncurry(Object.prototype.toString)
export const indexOf: Uncurried<readonly unknown[], [unknown, number], number> = uncurry(
  Array.prototype.indexOf,
)

/**
 * Does an array have enumerable fields besides its elements? The language tells only by naming all of its elements; the
 * runtime's own printer looks at the fields alone, and says of the elements how many it left out.
 */
const fieldsOnly = {
  maxArrayLength: 0,
  depth: 0,
  customInspect: false,
  showProxy: false,
  breakLength: Infinity,
}
const print = inspect
/** Another printer, or another way of printing, makes the answer no, and the encoder slower: never wrong. */
export function hasNoNamedFields(array: readonly unknown[]): boolean {
  return print(array, fieldsOnly) === `[ ... ${array.length} more items ]`
}

export const mapGet: Uncurried<Map<any, any>, [unknown], any> = uncurry(Map.prototype.get)
export const mapSet: Uncurried<Map<any, any>, [unknown, unknown], unknown> = uncurry(Map.prototype.set)
export const mapForEach: Uncurried<Map<any, any>, [(value: unknown, key: unknown) => void], void> = uncurry(
  Map.prototype.forEach,
)
export const mapSize = getter(Map.prototype, 'size') as (map: unknown) => number
export const setSize = getter(Set.prototype, 'size') as (set: unknown) => number
export const setHas: Uncurried<Set<any>, [unknown], boolean> = uncurry(Set.prototype.has)
export const setAdd: Uncurried<Set<any>, [unknown], unknown> = uncurry(Set.prototype.add)
export const setForEach: Uncurried<Set<any>, [(value: unknown) => void], void> = uncurry(
  Set.prototype.forEach,
)

export const matches: Uncurried<RegExp, [string], unknown> = uncurry(RegExp.prototype.exec)
export const regExpSource = getter(RegExp.prototype, 'source') as (value: unknown) => string
/** Each flag by its own slot: the getter `flags` would ask the object, which may say anything. */
export const regExpFlags: readonly [letter: string, isSet: (value: unknown) => boolean][] = [
  ['d', getter(RegExp.prototype, 'hasIndices')],
  ['g', getter(RegExp.prototype, 'global')],
  ['i', getter(RegExp.prototype, 'ignoreCase')],
  ['m', getter(RegExp.prototype, 'multiline')],
  ['s', getter(RegExp.prototype, 'dotAll')],
  ['u', getter(RegExp.prototype, 'unicode')],
  ['v', getter(RegExp.prototype, 'unicodeSets')],
  ['y', getter(RegExp.prototype, 'sticky')],
]

export const dateTime: Uncurried<unknown, [], number> = uncurry(Date.prototype.getTime)
export const numberValue: Uncurried<unknown, [], number> = uncurry(Number.prototype.valueOf)
export const stringValue: Uncurried<unknown, [], string> = uncurry(String.prototype.valueOf)
export const booleanValue: Uncurried<unknown, [], boolean> = uncurry(Boolean.prototype.valueOf)
export const bigIntValue: Uncurried<unknown, [], bigint> = uncurry(BigInt.prototype.valueOf)
export const bigIntText: Uncurried<bigint, [number], string> = uncurry(BigInt.prototype.toString)
export const charCodeAt: Uncurried<string, [number], number> = uncurry(String.prototype.charCodeAt)
export const substring: Uncurried<string, [number, number], string> = uncurry(String.prototype.substring)

/**
 * A view whose methods are these, whatever happens to the prototype of all others. Called as methods, they become a
 * single instruction; by way of `call` they do not.
 */
const ownMethods = Object.freeze(
  Object.create(null, getOwnPropertyDescriptors(DataView.prototype)) as DataView<ArrayBufferLike>,
)
export function viewNumbers(memory: ArrayBufferLike): DataView<ArrayBufferLike> {
  return setPrototypeOf(new DataViewIntrinsic(memory), ownMethods)
}

const TypedArray = getPrototypeOf(Uint8Array) as { prototype: object }
export const typedArrayName = getter(TypedArray.prototype, Symbol.toStringTag) as (
  value: unknown,
) => string | undefined
export const typedArrayBuffer = getter(TypedArray.prototype, 'buffer') as (value: unknown) => ArrayBufferLike
export const typedArrayOffset = getter(TypedArray.prototype, 'byteOffset') as (value: unknown) => number
export const typedArrayLength = getter(TypedArray.prototype, 'length') as (value: unknown) => number
export const typedArraySet: Uncurried<Uint8Array, [Uint8Array, number?], void> = uncurry(
  Uint8Array.prototype.set,
)
export const dataViewBuffer = getter(DataView.prototype, 'buffer') as (value: unknown) => ArrayBufferLike
export const dataViewOffset = getter(DataView.prototype, 'byteOffset') as (value: unknown) => number
export const dataViewLength = getter(DataView.prototype, 'byteLength') as (value: unknown) => number
export const bufferLength = getter(ArrayBuffer.prototype, 'byteLength') as (value: unknown) => number
export const bufferIsResizable = getter(ArrayBuffer.prototype, 'resizable') as (value: unknown) => boolean

/** Under the names that their tags give them; a name of another runtime is simply absent. */
export const typedArrays: readonly [name: string, constructor: ViewConstructor][] = [
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
].map(name => [name, (globalThis as Record<string, any>)[name]])

export interface ViewConstructor {
  readonly prototype: object
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBuffer, byteOffset: number, length: number): ArrayBufferView
}

type BufferText = [from: number, to: number]
export const latin1Slice: Uncurried<Buffer, BufferText, string> = uncurry(
  (Buffer.prototype as any).latin1Slice,
)
export const ucs2Slice: Uncurried<Buffer, BufferText, string> = uncurry((Buffer.prototype as any).ucs2Slice)
export const latin1Write: Uncurried<Buffer, [string, number, number], number> = uncurry(
  (Buffer.prototype as any).latin1Write,
)
export const ucs2Write: Uncurried<Buffer, [string, number, number], number> = uncurry(
  (Buffer.prototype as any).ucs2Write,
)
export const viewBytes: typeof Buffer.from = Buffer.from.bind(Buffer) as never

/**
 * From so many bytes on Buffer's `fill` is the quicker copy: V8's own, which Buffer's `copy` is too on some Nodes, goes to and
 * from shared memory word by word and takes twice as long, but starts sooner.
 */
export const LONG_COPY = 16_384
/** The range must be as long as the source: a shorter one would be repeated. It asks its target for `length`. */
export const copyLong: Uncurried<Buffer, [Uint8Array, number, number], Buffer> = uncurry(
  Buffer.prototype.fill as never,
)
/** Not filled with zeros, unless Node is told to, and no piece of a larger one. */
export const blankBytes: typeof Buffer.allocUnsafeSlow = Buffer.allocUnsafeSlow.bind(Buffer)
