// Marks a value that is transferred instead of copied. The symbols are Piscina's, so an object that implements its
// transfer protocol works here too.
import { globalSymbol } from '../platform/global-symbol.js'

export const transferableSymbol: unique symbol = Symbol.for('Piscina.transferable') as never
export const valueSymbol: unique symbol = Symbol.for('Piscina.valueOf') as never
const movedBrand = globalSymbol('moved')

export type TransferItem = import('node:worker_threads').Transferable

/** An object that lists the items to transfer, and the value that the other side receives. */
export interface Movable {
  readonly [transferableSymbol]: TransferItem | readonly TransferItem[]
  readonly [valueSymbol]: unknown
}

/**
 * Marks a payload or a handler's result: its buffer or port is transferred to the other side, not copied. Works on
 * `ArrayBuffer`, its views, `MessagePort` and the other transferables of Node, and on objects that implement
 * `transferableSymbol` and `valueSymbol`. Returns a primitive unchanged. Only the outermost value can be marked.
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

/** A frozen object cannot be marked, so a copy of its two members is. */
function markable(value: Movable): Movable {
  if (Object.isExtensible(value)) return value
  return { [transferableSymbol]: value[transferableSymbol], [valueSymbol]: value[valueSymbol] }
}

function isMovable(value: object): value is Movable {
  return transferableSymbol in value && valueSymbol in value
}

/** False for a proxy whose traps throw. Sending it fails with the reason. */
export function isMoved(value: unknown): value is Movable {
  if (value === null || typeof value !== 'object') return false
  try {
    if (!isMovable(value)) return false
    return (value as unknown as Record<symbol, unknown>)[movedBrand] === true || isMarkedByPiscina(value)
  } catch {
    return false
  }
}

/** Piscina's own `move()` marks with a symbol that is known only by its description. */
function isMarkedByPiscina(value: Movable): boolean {
  return Object.getOwnPropertySymbols(value).some(symbol => symbol.description === 'Piscina.kMovable')
}

/** The items to transfer for a marked value. */
export function transferOf(moved: Movable): TransferItem[] {
  const items = moved[transferableSymbol]
  return Array.isArray(items) ? [...items] : [items as TransferItem]
}
