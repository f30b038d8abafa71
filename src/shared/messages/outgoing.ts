// Prepares a value that is sent to another thread or process: finds the parts that `move()` marks, at any depth, and refuses objects
// that would arrive without their state.
import { isContainer, UnsendableMember } from '../errors/uncloneable-path.js'
import { types } from '../platform/node-modules.js'
import { SHARED_MARK } from '../platform/shared-mark.js'
import { hiddenStateOf } from './hidden-state.js'
import { membersOf } from './members.js'
import { isMoved, type TransferItem, transferOf, valueSymbol } from './move.js'

export interface Outgoing {
  /** The given value, or a copy of its objects without the marks of `move()`. */
  readonly value: unknown
  readonly transferList: readonly TransferItem[]
}

const WHY_HIDDEN = 'keeps its state outside of its fields, so a copy would be empty'
const NOTHING: readonly TransferItem[] = []

/**
 * Throws `UnsendableMember` for an object whose copy would be empty.
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
  return { value: unmarked(given, new Map()), transferList: [...transferList, ...items] }
}

/** What the marked values in the value transfer. `null` when it has none. */
function movedItems(
  root: object,
  transferList: readonly TransferItem[],
  check: ((member: object) => void) | undefined,
): Set<TransferItem> | null {
  let items: Set<TransferItem> | null = null
  const seen = new Set<unknown>(transferList)
  const left: unknown[] = [root]
  while (left.length > 0) {
    const member = left.pop()
    if (member === null || typeof member !== 'object' || seen.has(member)) continue
    seen.add(member)
    // The handle of a shared value is sent as a number.
    if (types.isProxy(member) || Object.hasOwn(member, SHARED_MARK)) continue
    if (isMoved(member)) {
      items ??= new Set()
      for (const item of transferOf(member)) {
        items.add(item)
        seen.add(item)
      }
      left.push(member[valueSymbol])
      continue
    }
    const remedy = hiddenStateOf(member)
    if (remedy !== null) throw new UnsendableMember(member, WHY_HIDDEN, remedy)
    check?.(member)
    for (const part of membersOf(member)) {
      if (part !== null && typeof part === 'object') left.push(part)
    }
  }
  return items
}

/** Objects with a class become plain objects, as in a structured clone. */
function unmarked(member: unknown, copies: Map<object, unknown>): unknown {
  if (member === null || typeof member !== 'object' || types.isProxy(member)) return member
  if (Object.hasOwn(member, SHARED_MARK)) return member
  if (isMoved(member)) return unmarked(member[valueSymbol], copies)
  if (copies.has(member)) return copies.get(member)
  if (Array.isArray(member)) {
    const copy: unknown[] = new Array(member.length)
    copies.set(member, copy)
    return withFields(copy, unmarkedFields(member, copies))
  }
  if (types.isMap(member)) {
    const copy = new Map()
    copies.set(member, copy)
    for (const [key, value] of Map.prototype.entries.call(member)) {
      copy.set(unmarked(key, copies), unmarked(value, copies))
    }
    return copy
  }
  if (types.isSet(member)) {
    const copy = new Set()
    copies.set(member, copy)
    for (const value of Set.prototype.values.call(member)) copy.add(unmarked(value, copies))
    return copy
  }
  const copy = {}
  copies.set(member, copy)
  const fields = unmarkedFields(member, copies)
  if (isContainer(member) || hasChanged(member, fields)) return withFields(copy, fields)
  // Node's own objects, dates and buffers are sent as they are.
  copies.set(member, member)
  return member
}

function unmarkedFields(owner: object, copies: Map<object, unknown>): [key: string, value: unknown][] {
  if (membersOf(owner).length === 0 || types.isNativeError(owner)) return []
  return Object.entries(owner).map(([key, value]) => [key, unmarked(value, copies)])
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
