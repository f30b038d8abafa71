// Marks values to transfer instead of copy. The symbols are Piscina's, so an object that implements Piscina's transfer
// protocol works here too.
import { globalSymbol } from '../platform/global-symbol.js'

/** The key of the items to transfer, in an object that `move()` accepts. */
export const transferableSymbol: unique symbol = Symbol.for('Piscina.transferable') as never
/** The key of the value that the other side receives, in an object that `move()` accepts. */
export const valueSymbol: unique symbol = Symbol.for('Piscina.valueOf') as never
const movedBrand = globalSymbol('moved')

export type TransferItem = import('node:worker_threads').Transferable

/** An object of your own that `move()` accepts: it lists the items to transfer, and the value that the other side receives. */
export interface Movable {
  readonly [transferableSymbol]: TransferItem | readonly TransferItem[]
  readonly [valueSymbol]: unknown
}

/**
 * Marks a payload or a handler's result: its buffer or port is transferred to the other side, not copied. The sender can no longer
 * use it. The value may be an `ArrayBuffer`, a typed array, a `DataView`, a `MessagePort`, another transferable of Node, or an object
 * with `transferableSymbol` and `valueSymbol`. Returns the marked value; a primitive is returned unchanged. Only the outermost
 * value can be marked.
 */
export function move<T>(value: T): T {
  if (value === null || typeof value !== 'object') return value
  const movable = isMovable(value) ? markable(value) : wrap(value)
  Object.defineProperty(movable, movedBrand, { value: true, configurable: true, writable: true })
  return movable as T
}

function wrap(value: object): Movable {
  const item = ArrayBuffer.isView(value) ? value.buffer : value
  return { [transferableSymbol]: item as TransferItem, [valueSymbol]: value }
}

/** Returns a copy of a frozen object, because a frozen object cannot be marked. */
function markable(value: Movable): Movable {
  if (Object.isExtensible(value)) return value
  return { [transferableSymbol]: value[transferableSymbol], [valueSymbol]: value[valueSymbol] }
}

function isMovable(value: object): value is Movable {
  return transferableSymbol in value && valueSymbol in value
}

/** False for a proxy whose traps throw. Sending the proxy fails later with the reason. */
export function isMoved(value: unknown): value is Movable {
  if (value === null || typeof value !== 'object') return false
  try {
    if (!isMovable(value)) return false
    return (value as unknown as Record<symbol, unknown>)[movedBrand] === true || isMarkedByPiscina(value)
  } catch {
    return false
  }
}

/** The `move()` of Piscina marks with a private symbol, which is found by its description. */
function isMarkedByPiscina(value: Movable): boolean {
  return Object.getOwnPropertySymbols(value).some(symbol => symbol.description === 'Piscina.kMovable')
}

/** The items to transfer for a marked value. */
export function transferOf(moved: Movable): TransferItem[] {
  const items = moved[transferableSymbol]
  return Array.isArray(items) ? [...items] : [items as TransferItem]
}
