// `move()` of Tinypool and its symbols.
import type { Transferable as TransferItem } from 'node:worker_threads'

/** The property with the item to transfer. */
export const kTransferable: unique symbol = Symbol.for('Tinypool.transferable') as never
/** The property with the value that the other side receives. */
export const kValue: unique symbol = Symbol.for('Tinypool.valueOf') as never
/** The module of a worker and its in-worker file are two copies of this code, so the mark is a registered symbol. */
const kMovable = Symbol.for('lido.tinypool.movable')

/** An object that `move()` accepts: the item to transfer, and the value that the other side receives. */
export interface Transferable {
  readonly [kTransferable]: object
  readonly [kValue]: object
}

/** True for an object with both properties. */
export function isTransferable(value: any): boolean {
  return value !== null && typeof value === 'object' && kTransferable in value && kValue in value
}

/** True for a value that `move()` has marked. */
export function isMovable(value: any): boolean {
  return isTransferable(value) && value[kMovable] === true
}

/** Marks a value that is transferred, not copied. */
export function markMovable(value: object): void {
  Object.defineProperty(value, kMovable, {
    enumerable: false,
    configurable: true,
    writable: true,
    value: true,
  })
}

export function move<V>(value: V): V {
  if (value === null || typeof value !== 'object') return value
  const movable = isTransferable(value)
    ? value
    : { [kTransferable]: ArrayBuffer.isView(value) ? value.buffer : value, [kValue]: value }
  markMovable(movable)
  return movable as V
}

/** The value to send, and the items to transfer. */
export function unwrap(
  value: any,
  transferList: readonly TransferItem[],
): [unknown, readonly TransferItem[]] {
  if (!isMovable(value)) return [value, transferList]
  return [value[kValue], [...transferList, ...[value[kTransferable]].flat()]]
}
