// Prepares a value that is sent to another thread or process: finds the parts that `move()` marks, at any depth, and refuses objects
// that would arrive without their state.

import type { TransferItem } from '../../api/call-options.js'
import { isContainer, LARGEST_CLONED_BYTES, UnsendableMember } from '../errors/uncloneable-path.js'
import { HANDLE_MARK } from '../platform/handle-mark.js'
import { types } from '../platform/node-modules.js'
import { hiddenStateOf } from './hidden-state.js'
import { isBare, membersOf, partsOf } from './members.js'
import { isMoved, transferOf, valueSymbol } from './moved.js'

export interface Outgoing {
  /** The given value, or a copy of its objects without the marks of `move()`. */
  readonly value: unknown
  readonly transferList: readonly TransferItem[]
}

const WHY_CUT = 'is a view of a buffer of 4 GiB or more, and Node.js does not send it whole'
const CUT_REMEDY = 'Send its buffer, and create the view on the other side.'
const WHY_HIDDEN = 'keeps its state outside of its fields, so a copy would be empty'
const NOTHING: readonly TransferItem[] = []

/**
 * Throws `UnsendableMember` for an object whose copy would be empty or incomplete.
 * @param transferList what the caller transfers anyway
 * @param check throws for other objects that cannot be sent
 */
export function outgoing(
  given: unknown,
  transferList: readonly TransferItem[] = NOTHING,
  check?: (member: object) => void,
): Outgoing {
  if (given === null || typeof given !== 'object') return { value: given, transferList }
  const items = movedItems(given, transferList, check)
  if (items === null) return { value: given, transferList }
  for (const item of transferList) items.delete(item)
  return { value: unmarked(given), transferList: [...transferList, ...items] }
}

/** What the marked values in the value transfer. `null` when it has none. */
function movedItems(
  root: object,
  transferList: readonly TransferItem[],
  check: ((member: object) => void) | undefined,
): Set<TransferItem> | null {
  let items: Set<TransferItem> | null = null
  const seen = new Set<unknown>(transferList)
  const cutViews: ArrayBufferView[] = []
  const left: unknown[] = [root]
  while (left.length > 0) {
    const member = left.pop()
    if (member === null || typeof member !== 'object' || seen.has(member)) continue
    seen.add(member)
    if (types.isProxy(member)) continue
    if (isMoved(member)) {
      items ??= new Set()
      for (const item of transferOf(member)) {
        items.add(item)
        seen.add(item)
      }
      left.push(member[valueSymbol])
      continue
    }
    const prototype = Object.getPrototypeOf(member)
    // Most objects of a large value are plain. The checks take longer than the search.
    const isPlain = prototype === Object.prototype || prototype === Array.prototype
    if (!isPlain && ArrayBuffer.isView(member) && isCut(member)) cutViews.push(member)
    // A handle is sent as a number.
    if (!isPlain && (Object.hasOwn(member, HANDLE_MARK) || isLeaf(member, check))) continue
    for (const part of isPlain ? Object.values(member) : partsOf(member)) {
      if (part !== null && typeof part === 'object') left.push(part)
    }
  }
  // The copy of a buffer of this size is refused anyway. A moved or shared buffer arrives, and its view does not.
  const refused = cutViews.find(({ buffer }) => seen.has(buffer) || types.isSharedArrayBuffer(buffer))
  if (refused !== undefined) throw new UnsendableMember(refused, WHY_CUT, CUT_REMEDY)
  return items
}

/** A structured clone keeps 32 bits of each length and offset, and compares the end of a view with the rest of the buffer's length. */
function isCut({ byteLength, byteOffset, buffer }: ArrayBufferView): boolean {
  return byteOffset + byteLength > buffer.byteLength % (LARGEST_CLONED_BYTES + 1)
}

/** Throws `UnsendableMember`. True when the object has no members to look at. */
function isLeaf(member: object, check: ((member: object) => void) | undefined): boolean {
  const hasNoParts = isBare(member)
  const remedy = hasNoParts ? null : hiddenStateOf(member)
  if (remedy !== null) throw new UnsendableMember(member, WHY_HIDDEN, remedy)
  check?.(member)
  return hasNoParts
}

function unmarked(value: object): unknown {
  return copyWith(value, member => (isMoved(member) ? { value: member[valueSymbol] } : undefined))
}

/**
 * Copies the containers in a value, and puts other values in the place of some members. Objects of a class become plain objects, as in
 * a structured clone, if something in them is replaced. Other members stay the same objects.
 */
export function copyWith(
  root: object,
  substituteFor: (member: object) => { value: unknown } | undefined,
): unknown {
  const copies = new Map<object, unknown>()
  return copy(root)

  function copy(member: unknown): unknown {
    if (member === null || typeof member !== 'object' || types.isProxy(member)) return member
    if (copies.has(member)) return copies.get(member)
    if (Object.hasOwn(member, HANDLE_MARK)) return member
    const substitute = substituteFor(member)
    if (substitute !== undefined) return copy(substitute.value)
    if (Array.isArray(member)) return withFields(register(member, new Array(member.length)), fieldsOf(member))
    if (types.isMap(member)) return copyMap(member, register(member, new Map()))
    if (types.isSet(member)) return copySet(member, register(member, new Set()))
    const own = register(member, {})
    const fields = fieldsOf(member)
    if (isContainer(member) || hasChanged(member, fields)) return withFields(own, fields)
    // Node's own objects, dates and buffers stay as they are.
    return register(member, member)
  }

  function register<T>(member: object, own: T): T {
    copies.set(member, own)
    return own
  }

  function copyMap(map: Map<unknown, unknown>, own: Map<unknown, unknown>): object {
    for (const [key, value] of Map.prototype.entries.call(map)) own.set(copy(key), copy(value))
    return own
  }

  function copySet(set: Set<unknown>, own: Set<unknown>): object {
    for (const value of Set.prototype.values.call(set)) own.add(copy(value))
    return own
  }

  function fieldsOf(owner: object): [key: string, value: unknown][] {
    if (membersOf(owner).length === 0 || types.isNativeError(owner)) return []
    return Object.entries(owner).map(([key, value]) => [key, copy(value)])
  }
}

function hasChanged(owner: object, fields: readonly [string, unknown][]): boolean {
  return fields.some(([key, value]) => value !== (owner as Record<string, unknown>)[key])
}

/** Defines the fields, because an assignment of `__proto__` would replace the prototype. */
function withFields(copy: object, fields: readonly [string, unknown][]): object {
  for (const [key, value] of fields) {
    Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true })
  }
  return copy
}
