// Converts messages between processes to bytes, with the serialiser of `node:v8`. Shared memory, ports and handles do
// not work in another process. This file refuses a message with such a part, and the error names the path of the part. The other side
// reads the bytes by `unpackMessage()`.

import type { TransferItem } from '../../api/call-options.js'
import { replaceUnsendable, type SerializedError } from '../errors/serialize-error.js'
import {
  bufferOf,
  memberPath,
  tooLarge,
  totalBufferBytes,
  UnsendableError,
  UnsendableMember,
  uncloneablePath,
} from '../errors/uncloneable-path.js'
import { getBuiltinModule, hasSerializer, structuredClone, types } from '../platform/node-modules.js'
import { globalClassOf, isOnlyForThreads } from './hidden-state.js'
import { outgoing } from './outgoing.js'
import { HEAD_BYTES, MAX_MESSAGE_BYTES, VALUE_FRAME, writeHead } from './pipe-frames.js'
import { unpackMessage } from './unpack-message.js'

const ONLY_FOR_THREADS = 'is memory that only threads of one process can share'

interface Tools {
  /** Throws `UnsendableMember` for a part that the serialiser would write without an error. */
  check(member: object): void
  /** Returns the bytes of the message after an empty head. */
  write(message: object): Buffer
}

/** Created with the first message, so that programs without worker processes do not load `node:v8`. */
let tools: Tools | undefined

function makeTools(): Tools {
  return hasSerializer() ? classTools() : functionTools()
}

function classTools(): Tools {
  const { Serializer } = getBuiltinModule('node:v8')

  class ValueWriter extends Serializer {
    /** The serialiser calls this for an object with a part outside the heap. */
    _writeHostObject(member: object): void {
      if (member !== process.env) throw new UnsendableMember(member, 'cannot leave its process')
      // Structured clone copies the environment as a plain object.
      this.writeValue({ ...member })
    }

    _getSharedArrayBufferId(member: object): never {
      throw new UnsendableMember(member, ONLY_FOR_THREADS)
    }
  }

  return {
    check: refuseNodeObject,
    write(message) {
      const writer = new ValueWriter()
      writer.writeRawBytes(Buffer.alloc(HEAD_BYTES))
      writer.writeHeader()
      writer.writeValue(message)
      return writer.releaseBuffer()
    },
  }
}

/** For Bun. The functions alone would copy shared memory without an error. */
function functionTools(): Tools {
  const { serialize } = getBuiltinModule('node:v8')
  return {
    check(member) {
      refuseNodeObject(member)
      refuseSharedMemory(bufferOf(member), ONLY_FOR_THREADS)
    },
    write(message) {
      return Buffer.concat([Buffer.alloc(HEAD_BYTES), serialize(message)])
    },
  }
}

/**
 * Returns a frame with the message. Copies array buffers that `move()` marks or that are in `transferList`, then detaches them like a
 * transfer. Refuses other transferables. When it throws `UnsendableError`, no buffer is detached.
 */
export function packMessage(message: object, given: readonly TransferItem[] = []): Buffer {
  tools ??= makeTools()
  let transferList = given
  try {
    const sent = outgoing(message, given, tools.check)
    transferList = sent.transferList
    for (const item of transferList) {
      if (!types.isArrayBuffer(item))
        throw new UnsendableMember(item, 'cannot be transferred to another process')
    }
    const frame = tools.write(sent.value as object)
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
    failure instanceof UnsendableMember
      ? memberPath(message, failure.member, '')
      : uncloneablePath(message, '')
  if (path !== '') return path.slice(1).replace(/^body\./, '')
  const place = transferList.findIndex((item, index) =>
    failure instanceof UnsendableMember ? item === failure.member : transferList.indexOf(item) < index,
  )
  if (place >= 0) return `transferList[${place}]`
  return ['payload', 'result', 'workerData'].find(name => name in message) ?? 'message'
}

/** The serialiser would write such an object as an empty object. Throws `UnsendableMember`. */
export function refuseNodeObject(member: object): void {
  if (isOnlyForThreads(member)) throw new UnsendableMember(member, 'cannot leave its process')
  if (!types.isNativeError(member) && isRefusedByNode(member)) {
    throw new UnsendableMember(member, 'cannot be cloned')
  }
}

export function refuseSharedMemory(memory: unknown, why: string): void {
  if (types.isSharedArrayBuffer(memory)) throw new UnsendableMember(memory, why)
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
  if (globalClassOf(prototype) !== null) {
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

function isCloneable(member: object): boolean {
  try {
    structuredClone(member)
    return true
  } catch {
    return false
  }
}
