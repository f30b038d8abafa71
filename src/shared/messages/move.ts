// Marks values to transfer instead of copy.
import type { TransferItem } from '../../api/call-options.js'
import { isContainer } from '../errors/uncloneable-path.js'
import { types } from '../platform/node-modules.js'
import { membersOf } from './members.js'
import { isMovable, isMoved, type Movable, movedBrand, transferableSymbol, valueSymbol } from './moved.js'

/**
 * Marks a value that crosses to another thread, or a part of one at any depth: its memory is transferred, not copied, and the sender
 * can no longer use it. The value may be an `ArrayBuffer`, a typed array, a `DataView`, a `MessagePort`, another transferable of Node, or
 * an object with `transferableSymbol` and `valueSymbol`. Of an array, a map, a set or another object, all buffers, ports and streams
 * in it are transferred, at the time of sending. Memory that cannot be transferred is copied: the pool of small `Buffer`s, memory of
 * WebAssembly, and all memory that goes to another process.
 *
 * @param transferList what to transfer in place of all buffers in the value
 * @returns the marked value. A primitive is returned unchanged.
 */
export function move<T>(value: T, transferList?: readonly TransferItem[]): T {
  if (value === null || typeof value !== 'object') return value
  return new Moved(value, transferList ?? null) as T
}

class Moved implements Movable {
  readonly #value: object
  readonly #transferList: readonly TransferItem[] | null

  constructor(value: object, transferList: readonly TransferItem[] | null) {
    this.#value = value
    this.#transferList = transferList
    Object.defineProperty(this, movedBrand, { value: true })
    // The options of a task may be fields of its payload.
    if (isMovable(value)) copyOwnSymbols(value, this)
    // Where lido does not send the value, a copy must fail: it would be empty.
    Object.defineProperty(this, 'value of move()', { enumerable: true, get: refuse })
  }

  get [transferableSymbol](): TransferItem | readonly TransferItem[] {
    if (this.#transferList !== null) return this.#transferList
    const value = this.#value
    if (isMovable(value)) return value[transferableSymbol]
    return hasParts(value) ? movableParts(value) : (bufferOf(value) as TransferItem)
  }

  get [valueSymbol](): unknown {
    return isMovable(this.#value) ? this.#value[valueSymbol] : this.#value
  }
}

function copyOwnSymbols(from: object, to: object): void {
  for (const symbol of Object.getOwnPropertySymbols(from)) {
    if (symbol === transferableSymbol || symbol === valueSymbol) continue
    Object.defineProperty(to, symbol, Object.getOwnPropertyDescriptor(from, symbol)!)
  }
}

function refuse(): never {
  throw new TypeError(
    'A value of move() can only be sent by lido. Put it into a payload, a result or a chunk.',
  )
}

/** All buffers, ports and streams in a value. */
function movableParts(root: object): TransferItem[] {
  const found = new Set<unknown>()
  const seen = new Set<object>()
  const left: unknown[] = [root]
  while (left.length > 0) {
    const member = left.pop()
    if (member === null || typeof member !== 'object' || seen.has(member) || isMoved(member)) continue
    seen.add(member)
    const buffer = bufferOf(member)
    const isItem = types.isAnyArrayBuffer(buffer) || (!isContainer(member) && isTransferable(member))
    if (isItem) found.add(buffer)
    // Not with `push(...)`: a call cannot have a million arguments.
    else for (const part of membersOf(member)) left.push(part)
  }
  return [...found] as TransferItem[]
}

/** The value itself cannot be transferred, but its members may. */
function hasParts(value: object): boolean {
  if (isContainer(value)) return true
  const isWhole = types.isAnyArrayBuffer(bufferOf(value)) || types.isProxy(value) || isTransferable(value)
  return !isWhole && Object.keys(value).length > 0
}

/** A port, a stream, a file handle. */
function isTransferable(value: object): boolean {
  const { MessagePort, ReadableStream } = globalThis
  if (typeof MessagePort === 'function' && value instanceof MessagePort) return true
  const mark = Object.getOwnPropertySymbols(ReadableStream?.prototype ?? {}).find(
    symbol => symbol.description === 'messaging_transfer_symbol',
  )
  return mark !== undefined && mark in value
}

function bufferOf(value: object): object {
  return ArrayBuffer.isView(value) ? value.buffer : value
}
