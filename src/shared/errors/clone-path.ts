// Finds the place in a value that structured clone refuses, for a message that names it.
import { types } from '../platform/node-modules.js'
import { messageOf } from './plain-copy.js'
import { bufferBytes, isTooLarge, LARGEST_CLONED_BYTES, tooLarge } from './too-large.js'

const DEEPEST = 200
const MOST_VISITED = 10_000

/** A message that a channel refused to carry: `path` says what of it, from its outermost member on. */
export class UnsendableError extends Error {
  readonly path: string
  readonly #isOne = true

  /** Asked of whatever the user's code threw: a proxy may throw at any question but this. */
  static override [Symbol.hasInstance](thrown: unknown): boolean {
    return types.isNativeError(thrown) && #isOne in thrown
  }

  constructor(path: string, cause: unknown) {
    super(messageOf(cause), { cause })
    this.name = 'DataCloneError'
    this.path = path
  }
}

/** Where a channel says itself what it refused, that; else what structured clone would refuse. */
export function pathOfRefused(
  failure: unknown,
  value: unknown,
  root: string,
  transferred?: readonly unknown[],
): string {
  return failure instanceof UnsendableError ? failure.path : findUncloneable(value, root, transferred)
}

/** Why it was refused: where size was the reason, that, which the runtime does not say. */
export function causeOfRefusal(
  failure: unknown,
  value: unknown,
  transferred: readonly unknown[] = [],
): unknown {
  const known = failure instanceof UnsendableError ? failure.cause : failure
  if (isTooLarge(known)) return known
  if (failure instanceof UnsendableError) return failure
  let oversized = 0
  const isOversized = (member: unknown) => {
    const bytes = bufferBytes(member)
    if (bytes > LARGEST_CLONED_BYTES && !transferred.includes(bufferOf(member))) oversized = bytes
    return oversized > 0
  }
  find(value, '', isOversized, () => true, transferred)
  return oversized > 0 ? tooLarge(oversized, LARGEST_CLONED_BYTES) : failure
}

/** Of all buffers in it. */
export function sumOfBuffers(value: unknown): number {
  const buffers = new Set<unknown>()
  const isWanted = (member: unknown) => {
    if (bufferBytes(member) > 0) buffers.add(bufferOf(member))
    return false
  }
  find(value, '', isWanted, () => true)
  return [...buffers].reduce((sum: number, buffer) => sum + bufferBytes(buffer), 0)
}

function bufferOf(member: unknown): unknown {
  return ArrayBuffer.isView(member) ? member.buffer : member
}

/** Where a payload, or what is to be transferred of it, is in the way of sending it; `payload` itself when unknown. */
export function findUnsendable(payload: unknown, transferList: readonly unknown[]): string {
  const place = transferList.findIndex(
    (item, index) => !mayTransfer(item) || transferList.indexOf(item) < index,
  )
  if (place < 0) return findUncloneable(payload, 'payload', transferList)
  const item = transferList[place]
  const isWhole = item === payload || (ArrayBuffer.isView(payload) && payload.buffer === item)
  return isWhole ? 'payload' : `transferList[${place}]`
}

/** Throws what Node 20 does not: it would send a detached buffer as an empty one. */
export function refuseDetached(transferList: readonly unknown[]): void {
  for (const item of transferList) {
    if (types.isArrayBuffer(item) && item.byteLength === 0) structuredClone(item)
  }
}

/** The path of this very member; `root` itself when it is not found. */
export function findMember(value: unknown, wanted: object, root: string): string {
  const isWanted = (member: unknown) =>
    member === wanted || (ArrayBuffer.isView(member) && member.buffer === wanted)
  return find(value, root, isWanted, () => true)
}

/**
 * The path of the first member that cannot be cloned, starting with `root`; `root` itself when none is found.
 * @param transferred what need not be cloned
 */
export function findUncloneable(value: unknown, root: string, transferred: readonly unknown[] = []): string {
  return find(value, root, isUncloneable, member => isContainer(member) || isCloneable(member), transferred)
}

function isUncloneable(member: unknown): boolean {
  if (typeof member === 'function' || typeof member === 'symbol') return true
  return (
    types.isPromise(member) || types.isProxy(member) || types.isWeakMap(member) || types.isWeakSet(member)
  )
}

/** @param isSound asked when nothing wanted was found in a member */
function find(
  value: unknown,
  root: string,
  isWanted: (member: unknown) => boolean,
  isSound: (member: object) => boolean,
  transferred: readonly unknown[] = [],
): string {
  const seen = new Set<object>()

  function visit(member: unknown, path: string, depth: number): string | undefined {
    if (isWanted(member)) return path
    if (member === null || typeof member !== 'object') return undefined
    if (seen.has(member) || depth > DEEPEST || seen.size > MOST_VISITED) return undefined
    seen.add(member)
    if (transferred.includes(member) || types.isProxy(member)) return undefined
    for (const [key, read] of membersOf(member)) {
      let child: unknown
      try {
        child = read()
      } catch {
        return path + key
      }
      const found = visit(child, path + key, depth + 1)
      if (found !== undefined) return found
    }
    return isSound(member) ? undefined : path
  }

  try {
    return visit(value, root, 0) ?? root
  } catch {
    return root
  }
}

function* membersOf(container: object): Generator<[string, () => unknown]> {
  if (types.isMap(container)) {
    for (const [key, child] of container) {
      yield ['.key', () => key]
      yield [`.get(${keyText(key)})`, () => child]
    }
    return
  }
  if (types.isSet(container)) {
    for (const child of container) yield ['.member', () => child]
    return
  }
  if (ArrayBuffer.isView(container) || types.isAnyArrayBuffer(container)) return
  // Of an error nothing else is cloned.
  if (types.isNativeError(container)) {
    yield ['.cause', () => container.cause]
    return
  }
  for (const key of Object.keys(container)) {
    const step = /^\d+$/.test(key)
      ? `[${key}]`
      : /^[A-Za-z_$][\w$]*$/.test(key)
        ? `.${key}`
        : `[${JSON.stringify(key)}]`
    yield [step, () => (container as Record<string, unknown>)[key]]
  }
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return JSON.stringify(key)
  return key === Object(key) ? '{…}' : String(key)
}

/** What is cloned when its members are. */
function isContainer(value: object): boolean {
  if (Array.isArray(value) || types.isMap(value) || types.isSet(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function isCloneable(value: object): boolean {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value
  // Large, and in order unless detached.
  if (types.isAnyArrayBuffer(buffer))
    return !isDetached(buffer) && bufferBytes(buffer) <= LARGEST_CLONED_BYTES
  try {
    structuredClone(value)
    return true
  } catch {
    return false
  }
}

function mayTransfer(item: unknown): boolean {
  if (item === null || typeof item !== 'object' || ArrayBuffer.isView(item)) return false
  if (types.isSharedArrayBuffer(item)) return false
  return types.isArrayBuffer(item) ? !isDetached(item) && !isMarked(item) : !isContainer(item)
}

/** As untransferable, like the memory that small `Buffer`s share. Node 20 takes it, and copies. */
function isMarked(buffer: ArrayBuffer): boolean {
  let isTaken = false
  // Read when all that is to be transferred was looked at, and none of it is gone yet.
  const probe = {
    get member() {
      isTaken = true
      throw probe
    },
  }
  try {
    structuredClone(probe, { transfer: [buffer] })
  } catch {}
  return !isTaken
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer)
    return false
  } catch {
    return true
  }
}
