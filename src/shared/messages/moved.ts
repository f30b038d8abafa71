// Reads the marks of values to transfer instead of copy. The symbols are Piscina's, so an object that implements Piscina's transfer
// protocol works here too.
import type { TransferItem } from '../../api/call-options.js'
import { globalSymbol } from '../platform/global-symbol.js'
import { structuredClone, types } from '../platform/node-modules.js'

/** The key of the items to transfer, in an object that `move()` accepts. */
export const transferableSymbol: unique symbol = Symbol.for('Piscina.transferable') as never
/** The key of the value that the other side receives, in an object that `move()` accepts. */
export const valueSymbol: unique symbol = Symbol.for('Piscina.valueOf') as never
/** `move()` sets it. */
export const movedBrand = globalSymbol('moved')

/** An object of your own that `move()` accepts: it lists the items to transfer, and the value that the other side receives. */
export interface Movable {
  readonly [transferableSymbol]: TransferItem | readonly TransferItem[]
  readonly [valueSymbol]: unknown
}

/** The object says what to transfer, and perhaps nobody marked it. */
export function isMovable(value: object): value is Movable {
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

/** The items to transfer for a marked value. Leaves out memory that cannot be transferred, so that it is copied. */
export function transferOf(moved: Movable): TransferItem[] {
  return [...new Set(itemsOf(moved))].filter(
    item => !types.isAnyArrayBuffer(item) || (types.isArrayBuffer(item) && canTransfer(item)),
  )
}

function itemsOf(moved: Movable): readonly TransferItem[] {
  const items = moved[transferableSymbol]
  return Array.isArray(items) ? items : [items as TransferItem]
}

const PROBE_END = { reason: 'the buffer is not transferred' }

/** Node checks the items before it reads the value, and transfers them only when the value is copied. */
function canTransfer(buffer: ArrayBuffer): boolean {
  probeHarms ??= detachesInProbe()
  if (probeHarms) return true
  try {
    structuredClone(probe, { transfer: [buffer] })
    return true
  } catch (failure) {
    return failure === PROBE_END
  }
}

let probeHarms: boolean | undefined

/** Deno detaches the items even if the copy fails. */
function detachesInProbe(): boolean {
  const buffer = new ArrayBuffer(1)
  try {
    structuredClone(probe, { transfer: [buffer] })
  } catch {}
  return buffer.byteLength === 0
}

const probe = Object.defineProperty({}, 'end', {
  enumerable: true,
  get() {
    throw PROBE_END
  },
})
