// Converts messages between processes to bytes, with the serialiser of `node:v8`. Shared memory, ports and handles do
// not work in another process. This file refuses a message with such a part, and the error names the path of the part.
import { replaceUnsendable, type SerializedError } from '../errors/serialize-error.js'
import {
  bufferOf,
  memberPath,
  tooLarge,
  totalBufferBytes,
  UnsendableError,
  uncloneablePath,
} from '../errors/uncloneable-path.js'
import { getBuiltinModule, hasSerializer, structuredClone, types } from '../platform/node-modules.js'
import type { TransferItem } from './move.js'
import { HEAD_BYTES, MAX_MESSAGE_BYTES, VALUE_FRAME, writeHead } from './pipe-frames.js'

/** Missing when Node may not generate code. */
const WasmModule = (globalThis as { WebAssembly?: { Module: new () => object } }).WebAssembly?.Module

const ONLY_FOR_THREADS = 'is memory that only threads of one process can share'

/** Says which part of a value cannot be written. */
export class Refusal extends Error {
  readonly member: object

  constructor(member: object, why: string) {
    super(`${nameOf(member)} ${why}`)
    this.name = 'DataCloneError'
    this.member = member
  }
}

interface Tools {
  /** Returns the bytes of the message after an empty head. */
  write(message: object): Buffer
  read(bytes: Uint8Array): unknown
}

/** Created with the first message, so that programs without worker processes do not load `node:v8`. */
let tools: Tools | undefined

function makeTools(): Tools {
  return hasSerializer() ? classTools() : functionTools()
}

function classTools(): Tools {
  const { Deserializer, Serializer } = getBuiltinModule('node:v8')

  class ValueWriter extends Serializer {
    /** The serialiser calls this for an object with a part outside the heap. */
    _writeHostObject(member: object): void {
      if (member !== process.env) throw new Refusal(member, 'cannot leave its process')
      // Structured clone copies the environment as a plain object.
      this.writeValue({ ...member })
    }

    _getSharedArrayBufferId(member: object): never {
      throw new Refusal(member, ONLY_FOR_THREADS)
    }
  }

  class ValueReader extends Deserializer {
    _readHostObject(): unknown {
      return this.readValue()
    }
  }

  return {
    write(message) {
      refuseNodeObjects(message)
      const writer = new ValueWriter()
      writer.writeRawBytes(Buffer.alloc(HEAD_BYTES))
      writer.writeHeader()
      writer.writeValue(message)
      return writer.releaseBuffer()
    },
    read(bytes) {
      const reader = new ValueReader(bytes)
      reader.readHeader()
      return reader.readValue()
    },
  }
}

/** For Bun. The functions alone would copy shared memory without an error. */
function functionTools(): Tools {
  const { deserialize, serialize } = getBuiltinModule('node:v8')
  return {
    write(message) {
      refuseNodeObjects(message, undefined, member => refuseSharedMemory(bufferOf(member), ONLY_FOR_THREADS))
      return Buffer.concat([Buffer.alloc(HEAD_BYTES), serialize(message)])
    },
    read: deserialize,
  }
}

/**
 * Node's own classes define with this symbol how they are cloned. The serialiser ignores it from Node 21 on, and writes a WebAssembly module
 * without an error in every version.
 */
function cloneSymbol(): symbol | undefined {
  return Object.getOwnPropertySymbols(Blob.prototype).find(
    symbol => symbol.description === 'messaging_clone_symbol',
  )
}

/**
 * Returns a frame with the message. Copies array buffers in `transferList`, then detaches them like a transfer. Refuses
 * other transferables. When it throws `UnsendableError`, no buffer is detached.
 */
export function packMessage(message: object, transferList: readonly TransferItem[] = []): Buffer {
  tools ??= makeTools()
  try {
    for (const item of transferList) {
      if (!types.isArrayBuffer(item)) throw new Refusal(item, 'cannot be transferred to another process')
    }
    const frame = tools.write(message)
    const length = frame.length - HEAD_BYTES
    if (length > MAX_MESSAGE_BYTES) throw tooLarge(length, MAX_MESSAGE_BYTES)
    writeHead(frame, VALUE_FRAME, length)
    // structuredClone refuses duplicate, detached and undetachable buffers before it detaches the first one.
    if (transferList.length > 0) structuredClone(null, { transfer: transferList as never })
    return frame
  } catch (failure) {
    // The error of some versions of Node does not name the size.
    const isTooLarge = (failure as NodeJS.ErrnoException | null)?.code === 'ERR_BUFFER_TOO_LARGE'
    const cause = isTooLarge ? tooLarge(totalBufferBytes(message), MAX_MESSAGE_BYTES) : failure
    throw new UnsendableError(pathIn(message, cause, transferList), cause)
  }
}

/** Throws when the bytes cannot be read, for example because they are nested too deeply. */
export function unpackMessage(bytes: Uint8Array): unknown {
  tools ??= makeTools()
  return tools.read(bytes)
}

/** Replaces each part that another process cannot read by a text. */
export function errorForProcess(error: SerializedError): SerializedError {
  return canCross(error) ? error : replaceUnsendable(error, canCross)
}

/** Writes the data and reads it again, because the serialiser writes some objects that no process can read. */
function canCross(data: object): boolean {
  try {
    unpackMessage(packMessage(data).subarray(HEAD_BYTES))
    return true
  } catch {
    return false
  }
}

/** The path of the refused value, such as `payload.items[3]`. The caller does not know the message around it. */
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

/**
 * Objects of Node's own classes would arrive as empty objects.
 * @param refuseMore throws for other parts that cannot be sent
 */
export function refuseNodeObjects(
  root: unknown,
  mark = cloneSymbol(),
  refuseMore?: (member: object) => void,
): void {
  const seen = new Set<object>()
  const left: unknown[] = [root]
  while (left.length > 0) {
    const member = left.pop()
    if (member === null || typeof member !== 'object' || seen.has(member)) continue
    seen.add(member)
    refuseMore?.(member)
    if (types.isProxy(member) || ArrayBuffer.isView(member)) continue
    if (mark !== undefined && mark in member) throw new Refusal(member, 'cannot leave its process')
    if (isModule(member)) throw new Refusal(member, 'cannot leave its process')
    if (types.isMap(member)) {
      // A class may override the iterator.
      for (const [key, value] of Map.prototype.entries.call(member)) left.push(key, value)
    } else if (types.isSet(member)) {
      for (const value of Set.prototype.values.call(member)) left.push(value)
    }
    // The cause is the only part of an error that is sent and can hold objects.
    else if (types.isNativeError(member)) left.push(Object.getOwnPropertyDescriptor(member, 'cause')?.value)
    else if (isBare(member)) continue
    else if (isRefusedByNode(member)) throw new Refusal(member, 'cannot be cloned')
    else for (const value of Object.values(member)) left.push(value)
  }
}

export function refuseSharedMemory(memory: unknown, why: string): void {
  if (types.isSharedArrayBuffer(memory)) throw new Refusal(memory, why)
}

/** The serialiser writes a WebAssembly module as an empty object, without an error. */
function isModule(member: object): boolean {
  return WasmModule !== undefined && member instanceof WasmModule
}

/** The fields of these objects are not sent. */
function isBare(member: object): boolean {
  return (
    types.isAnyArrayBuffer(member) ||
    types.isDate(member) ||
    types.isRegExp(member) ||
    types.isBoxedPrimitive(member)
  )
}

/** For each prototype: whether it belongs to a class of Node whose objects cannot be cloned. */
const refused = new WeakMap<object, boolean>()

/**
 * Newer versions of Node mark uncloneable objects with a private symbol. So this function clones one object of each
 * class as a test. It does not keep the result when the object's own members are the reason of the failure.
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
    // The test would call the getters of the object.
    if (members.some(({ get }) => get !== undefined)) return false
    isRefused = !isCloneable(member)
    if (isRefused && !isCloneable(members.map(({ value }) => value))) return false
  }
  refused.set(prototype, isRefused)
  return isRefused
}

/** True for a global class with a tag, such as `URL` and `Headers`, and for classes derived from it. */
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
