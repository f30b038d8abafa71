// Marks what is to be transferred instead of copied. The symbols are those of Piscina's registry, so an object that
// says how it is transferred there says so here.
import { globalSymbol } from '../platform/global-symbol.js'

export const transferableSymbol: unique symbol = Symbol.for('Piscina.transferable') as never
export const valueSymbol: unique symbol = Symbol.for('Piscina.valueOf') as never
const movedBrand = globalSymbol('moved')

export type TransferItem = import('node:worker_threads').Transferable

/** An object that says what of it is transferred, and what the other side receives. */
export interface Movable {
  readonly [transferableSymbol]: TransferItem | readonly TransferItem[]
  readonly [valueSymbol]: unknown
}

/**
 * Marks a payload or a handler's result: its buffer or port is transferred to the other side, not copied. Works on
 * `ArrayBuffer`, views of one, `MessagePort` and the other transferables of Node, and on objects that implement
 * `transferableSymbol` and `valueSymbol`. Primitives come back as they are. Only the outermost value is looked at.
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

/** A frozen object cannot bear the mark; one that says the same can. */
function markable(value: Movable): Movable {
  if (Object.isExtensible(value)) return value
  return { [transferableSymbol]: value[transferableSymbol], [valueSymbol]: value[valueSymbol] }
}

function isMovable(value: object): value is Movable {
  return transferableSymbol in value && valueSymbol in value
}

/** What cannot be looked at (a proxy whose traps throw) is not marked; sending it tells why. */
export function isMoved(value: unknown): value is Movable {
  if (value === null || typeof value !== 'object') return false
  try {
    if (!isMovable(value)) return false
    return (value as unknown as Record<symbol, unknown>)[movedBrand] === true || isMarkedByPiscina(value)
  } catch {
    return false
  }
}

/** Piscina's own `move()` leaves a mark under a symbol that only its name tells. */
function isMarkedByPiscina(value: Movable): boolean {
  return Object.getOwnPropertySymbols(value).some(symbol => symbol.description === 'Piscina.kMovable')
}

/** The items to transfer for a marked value. */
export function transferOf(moved: Movable): TransferItem[] {
  const items = moved[transferableSymbol]
  return Array.isArray(items) ? [...items] : [items as TransferItem]
}
