// Values that cross to another process, written by the runtime's own structured clone. Shared memory, ports and handles mean
// nothing in another process, so they are refused, and the error names them.
import type { Serializer } from 'node:v8'
import { replaceUnsendable, type SerializedError } from '../errors/serialize-error.js'
import {
  memberPath,
  tooLarge,
  totalBufferBytes,
  UnsendableError,
  uncloneablePath,
} from '../errors/uncloneable-path.js'
import type { TransferItem } from '../messages/move.js'
import { getBuiltinModule, types } from '../platform/node-modules.js'
import { HEAD_BYTES, LARGEST_VALUE_BYTES, VALUE, writeHead } from './frames.js'

/** Members are what these say, whatever a subclass tells of itself. */
const { forEach: mapForEach } = Map.prototype
const { forEach: setForEach } = Set.prototype

/** There is none where the runtime may make no code. */
const WasmModule = (globalThis as { WebAssembly?: { Module: new () => object } }).WebAssembly?.Module

class Refusal extends Error {
  readonly member: object

  constructor(member: object, why: string) {
    super(`${nameOf(member)} ${why}`)
    this.name = 'DataCloneError'
    this.member = member
  }
}

/** Made when a process is there to talk to: what it takes costs a program without one its start. */
function makeTools() {
  const { Deserializer, Serializer } = getBuiltinModule('node:v8')

  class ValueWriter extends Serializer {
    /** Called by the serialiser for what has a part outside of the heap. */
    _writeHostObject(member: object): void {
      if (member !== process.env) throw new Refusal(member, 'cannot leave its process')
      // The one of which structured clone makes a plain copy.
      this.writeValue({ ...member })
    }

    _getSharedArrayBufferId(member: object): never {
      throw new Refusal(member, 'is memory that only threads of one process can share')
    }
  }

  class ValueReader extends Deserializer {
    _readHostObject(): unknown {
      return this.readValue()
    }
  }

  return { ValueReader, ValueWriter, cloneMark: isSeenBy(ValueWriter) ? undefined : cloneSymbol() }
}

let tools: ReturnType<typeof makeTools> | undefined

/** Does the serialiser itself notice the objects of Node that are cloned in a way of their own? */
function isSeenBy(Writer: typeof Serializer): boolean {
  try {
    new Writer().writeValue(new Blob([]))
    return false
  } catch {
    return true
  }
}

/** Under which Node's own classes say how they are cloned; the serialiser knows nothing of it from Node 21 on. */
function cloneSymbol(): symbol | undefined {
  return Object.getOwnPropertySymbols(Blob.prototype).find(
    symbol => symbol.description === 'messaging_clone_symbol',
  )
}

/**
 * A frame with the message. Array buffers in `transferList` are copied and then detached here, as if they had gone; other
 * transferables are refused. Throws `UnsendableError`, and then nothing is detached.
 */
export function packMessage(message: object, transferList: readonly TransferItem[] = []): Buffer {
  tools ??= makeTools()
  const { ValueWriter, cloneMark } = tools
  try {
    for (const item of transferList) {
      if (!types.isArrayBuffer(item)) throw new Refusal(item, 'cannot be transferred to another process')
    }
    if (cloneMark !== undefined) refuseNodeObjects(message, cloneMark)
    const writer = new ValueWriter()
    writer.writeRawBytes(Buffer.alloc(HEAD_BYTES))
    writer.writeHeader()
    writer.writeValue(message)
    const frame = writer.releaseBuffer()
    const length = frame.length - HEAD_BYTES
    if (length > LARGEST_VALUE_BYTES) throw tooLarge(length, LARGEST_VALUE_BYTES)
    writeHead(frame, VALUE, length)
    // Doubled, detached and undetachable buffers are refused here, before the first is detached.
    if (transferList.length > 0) structuredClone(null, { transfer: transferList as never })
    return frame
  } catch (failure) {
    // Some versions of Node fail without naming the size.
    const isTooLarge = (failure as NodeJS.ErrnoException | null)?.code === 'ERR_BUFFER_TOO_LARGE'
    const cause = isTooLarge ? tooLarge(totalBufferBytes(message), LARGEST_VALUE_BYTES) : failure
    throw new UnsendableError(pathIn(message, cause, transferList), cause)
  }
}

/** Throws on what cannot be read, as on what is nested too deeply. */
export function unpackMessage(bytes: Buffer): unknown {
  tools ??= makeTools()
  const reader = new tools.ValueReader(bytes)
  reader.readHeader()
  return reader.readValue()
}

/** The same with a text in place of each part that another process cannot read. */
export function errorForProcess(error: SerializedError): SerializedError {
  return canCross(error) ? error : replaceUnsendable(error, canCross)
}

/** Tries it, since the serialiser writes some objects without complaint that no process can read. */
function canCross(data: object): boolean {
  try {
    unpackMessage(packMessage(data).subarray(HEAD_BYTES))
    return true
  } catch {
    return false
  }
}

/** `payload.items[3]`: the caller knows the members of a message, not the message. */
function pathIn(message: object, failure: unknown, transferList: readonly TransferItem[]): string {
  const path =
    failure instanceof Refusal ? memberPath(message, failure.member, '') : uncloneablePath(message, '')
  if (path !== '') return path.slice(1)
  const place = transferList.findIndex((item, index) =>
    failure instanceof Refusal ? item === failure.member : transferList.indexOf(item) < index,
  )
  if (place >= 0) return `transferList[${place}]`
  return ['payload', 'result', 'workerData'].find(name => name in message) ?? 'message'
}

/** They would arrive as empty objects. */
function refuseNodeObjects(root: object, mark: symbol): void {
  const seen = new Set<object>()
  const left: unknown[] = [root]
  while (left.length > 0) {
    const member = left.pop()
    if (member === null || typeof member !== 'object' || seen.has(member)) continue
    seen.add(member)
    if (types.isProxy(member) || ArrayBuffer.isView(member)) continue
    if (mark in member) throw new Refusal(member, 'cannot leave its process')
    if (isModule(member)) throw new Refusal(member, 'cannot leave its process')
    if (types.isMap(member)) {
      mapForEach.call(member, (value, key) => left.push(key, value))
    } else if (types.isSet(member)) setForEach.call(member, value => left.push(value))
    // Of an error nothing else is sent that may hold something.
    else if (types.isNativeError(member)) left.push(Object.getOwnPropertyDescriptor(member, 'cause')?.value)
    else if (isBare(member)) continue
    else if (isRefusedByNode(member)) throw new Refusal(member, 'cannot be cloned')
    else for (const value of Object.values(member)) left.push(value)
  }
}

/** The serialiser writes nothing of it, and does not say so. */
function isModule(member: object): boolean {
  return WasmModule !== undefined && member instanceof WasmModule
}

/** Its fields stay behind. */
function isBare(member: object): boolean {
  return (
    types.isAnyArrayBuffer(member) ||
    types.isDate(member) ||
    types.isRegExp(member) ||
    types.isBoxedPrimitive(member)
  )
}

/** By prototype: whether it is that of a class of Node's of which no object is cloned. */
const refused = new WeakMap<object, boolean>()

/**
 * Newer versions of Node mark such objects where nobody else can see it: one of each class is tried. One with members tells
 * nothing of its class where they cannot be cloned by themselves.
 */
function isRefusedByNode(member: object): boolean {
  const prototype = Object.getPrototypeOf(member) as object | null
  if (prototype === null || prototype === Object.prototype || prototype === Array.prototype) return false
  const known = refused.get(prototype)
  if (known !== undefined) return known
  let isRefused = false
  if (isOfNode(prototype)) {
    const members = Object.values(Object.getOwnPropertyDescriptors(member)).filter(
      ({ enumerable }) => enumerable,
    )
    // To try it would be to call them.
    if (members.some(({ get }) => get !== undefined)) return false
    isRefused = !isCloneable(member)
    if (isRefused && !isCloneable(members.map(({ value }) => value))) return false
  }
  refused.set(prototype, isRefused)
  return isRefused
}

/** Of a global class, or one derived from it, as `URL` and `Headers`; those of the language are no mystery to the writer of values. */
function isOfNode(prototype: object): boolean {
  for (let at: any = prototype; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const tag: unknown = Object.getOwnPropertyDescriptor(at, Symbol.toStringTag)?.value
    if (typeof tag !== 'string') continue
    const Class: unknown = (globalThis as Record<string, unknown>)[tag]
    if (typeof Class === 'function' && Class.prototype === at) return true
  }
  return false
}

function isCloneable(member: object): boolean {
  try {
    structuredClone(member)
    return true
  } catch {
    return false
  }
}

function nameOf(member: object): string {
  const name: unknown = member?.constructor?.name
  return typeof name === 'string' && name !== '' ? name : Object.prototype.toString.call(member)
}
