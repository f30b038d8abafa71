// Finds the path of the part that structured clone refuses, for error messages such as "payload.items[3].callback
// cannot be sent".
import { getBuiltinModule, structuredClone, types } from '../platform/node-modules.js'
import { isObject, messageOf } from './serialize-error.js'

/** Structured clone stores the length of a buffer in 32 bits. */
export const LARGEST_CLONED_BYTES = 2 ** 32 - 1

/** A channel refused to send a message. `path` names the refused part, starting at a member of the message. */
export class UnsendableError extends Error {
  /** Where the refused part is in the message. */
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(messageOf(cause), { cause })
    this.name = 'DataCloneError'
    this.path = path
  }
}

/** Says which part of a value cannot be sent, and why. */
export class UnsendableMember extends Error {
  readonly #member: object

  /** @param remedy a sentence about what to send instead */
  constructor(member: object, why: string, remedy?: string) {
    super(remedy === undefined ? `${nameOf(member)} ${why}` : `${nameOf(member)} ${why}. ${remedy}`)
    this.name = 'DataCloneError'
    this.#member = member
    if (remedy !== undefined) Object.assign(this, { remedy })
  }

  /** No field, because fields of an error are sent. */
  get member(): object {
    return this.#member
  }
}

function nameOf(member: object): string {
  const name: unknown = member?.constructor?.name
  return typeof name === 'string' && name !== '' ? name : Object.prototype.toString.call(member)
}

/** The cause when a value is too large. The two fields cross to the other side. */
export interface TooLarge extends RangeError {
  bytes: number
  limitBytes: number
}

export function tooLarge(bytes: number, limitBytes: number): TooLarge {
  const error = new RangeError(`it has ${bytes} bytes, and one message can have at most ${limitBytes} bytes`)
  return Object.assign(error, { bytes, limitBytes })
}

/** Also true for an error that came from the other side. */
export function isTooLarge(value: unknown): value is TooLarge {
  return types.isNativeError(value) && typeof (value as Partial<TooLarge>).limitBytes === 'number'
}

/** The path that the channel reported. Without a report: the path that structured clone refuses. */
export function refusedPath(
  failure: unknown,
  value: unknown,
  root: string,
  transferred?: readonly unknown[],
): string {
  if (failure instanceof UnsendableError) return failure.path
  if (failure instanceof UnsendableMember) return memberPath(value, failure.member, root)
  return uncloneablePath(value, root, transferred)
}

/** The same for a chunk of a stream. A message carries it as a part. */
export function refusedChunkPath(failure: unknown, chunk: unknown): string {
  return refusedPath(failure, chunk, 'chunk').replace('chunks[0]', 'chunk')
}

/** The reason of a refusal. Node does not say that a buffer is too large, so this function searches for one. */
export function refusalCause(
  failure: unknown,
  value: unknown,
  transferred: readonly unknown[] = [],
): unknown {
  if (failure instanceof UnsendableError) return isTooLarge(failure.cause) ? failure.cause : failure
  if (failure instanceof UnsendableMember) return failure
  let oversized = 0
  find(value, member => {
    const bytes = bufferBytes(member)
    if (bytes > LARGEST_CLONED_BYTES && !transferred.includes(bufferOf(member))) oversized = bytes
    return oversized > 0
  })
  return oversized > 0 ? tooLarge(oversized, LARGEST_CLONED_BYTES) : failure
}

/** The sum over all buffers in the value. */
export function totalBufferBytes(value: unknown): number {
  const buffers = new Set<unknown>()
  find(value, member => {
    buffers.add(bufferOf(member))
    return false
  })
  let bytes = 0
  for (const buffer of buffers) bytes += bufferBytes(buffer)
  return bytes
}

/** The path of the part, or the item of the transfer list, that cannot be sent; `payload` when none is found. */
export function unsendablePath(payload: unknown, transferList: readonly unknown[]): string {
  const place = transferList.findIndex(
    (item, index) => !isTransferable(item) || transferList.indexOf(item) < index,
  )
  if (place < 0) return uncloneablePath(payload, 'payload', transferList)
  const item = transferList[place]
  return item === payload || item === bufferOf(payload) ? 'payload' : `transferList[${place}]`
}

/** Throws for a detached buffer. Node 20 would send an empty buffer instead. */
export function refuseDetached(transferList: readonly unknown[]): void {
  for (const item of transferList) {
    if (types.isArrayBuffer(item) && item.byteLength === 0) structuredClone(item)
  }
}

/** The path of this object in the value, starting with `root`; `root` when it is not found. */
export function memberPath(value: unknown, wanted: object, root: string): string {
  return root + (find(value, member => member === wanted || bufferOf(member) === wanted) ?? '')
}

/**
 * The path of the first member that cannot be cloned, starting with `root`; `root` when none is found.
 * @param transferred objects that need not be cloned
 */
export function uncloneablePath(value: unknown, root: string, transferred: readonly unknown[] = []): string {
  return root + (find(value, isUncloneable, new Set(transferred)) ?? '')
}

const movedValue = Symbol.for('Piscina.valueOf')

/** The path of the first member that matches. Visits the members of an object before the object. */
function find(
  value: unknown,
  matches: (member: unknown) => boolean,
  seen = new Set<unknown>(),
): string | null {
  try {
    return visit(value)
  } catch {
    // The value is nested too deeply for this stack.
    return null
  }

  function visit(member: unknown): string | null {
    if (isObject(member)) {
      if (seen.has(member)) return null
      seen.add(member)
      const path = visitMembers(member)
      if (path !== null) return path
    }
    return matches(member) ? '' : null
  }

  function visitMembers(owner: object): string | null {
    if (types.isProxy(owner) || ArrayBuffer.isView(owner)) return null
    // The path leads through a value of `move()`.
    if (movedValue in owner) return visit((owner as Record<symbol, unknown>)[movedValue])
    if (types.isMap(owner)) {
      for (const [key, child] of owner) {
        const inKey = visit(key)
        if (inKey !== null) return `.key${inKey}`
        const inChild = visit(child)
        if (inChild !== null) return `.get(${keyText(key)})${inChild}`
      }
      return null
    }
    if (types.isSet(owner)) {
      for (const child of owner) {
        const inChild = visit(child)
        if (inChild !== null) return `.member${inChild}`
      }
      return null
    }
    // Structured clone copies only `cause` of an error's fields.
    const keys = types.isNativeError(owner) ? ['cause'] : Object.keys(owner)
    for (const key of keys) {
      let child: unknown
      try {
        child = (owner as Record<string, unknown>)[key]
      } catch {
        return propertyStep(key)
      }
      const inChild = visit(child)
      if (inChild !== null) return propertyStep(key) + inChild
    }
    return null
  }
}

function propertyStep(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return JSON.stringify(key)
  return key === Object(key) ? '{…}' : String(key)
}

function isUncloneable(member: unknown): boolean {
  if (typeof member === 'function' || typeof member === 'symbol') return true
  if (!isObject(member) || isContainer(member)) return false
  const buffer = bufferOf(member)
  // Cloning a large buffer would take long.
  if (types.isAnyArrayBuffer(buffer)) return isDetached(buffer) || bufferBytes(buffer) > LARGEST_CLONED_BYTES
  try {
    structuredClone(member)
    return false
  } catch {
    return true
  }
}

/** An object that can be cloned when its members can. */
export function isContainer(value: object): boolean {
  if (types.isProxy(value)) return false
  if (Array.isArray(value) || types.isMap(value) || types.isSet(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function isTransferable(item: unknown): boolean {
  if (!isObject(item) || ArrayBuffer.isView(item) || types.isSharedArrayBuffer(item)) return false
  if (!types.isArrayBuffer(item)) return !isContainer(item)
  // Node 20 copies a buffer that is marked as untransferable, such as the memory that small `Buffer`s share.
  const { isMarkedAsUntransferable } = getBuiltinModule('node:worker_threads')
  return !isDetached(item) && isMarkedAsUntransferable?.(item) !== true
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer)
    return false
  } catch {
    return true
  }
}

/** The buffer of a view. A view is always sent with its whole buffer. */
export function bufferOf(member: unknown): unknown {
  return ArrayBuffer.isView(member) ? member.buffer : member
}

function bufferBytes(member: unknown): number {
  const buffer = bufferOf(member)
  return types.isArrayBuffer(buffer) ? buffer.byteLength : 0
}
