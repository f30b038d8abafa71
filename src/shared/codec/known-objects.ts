// The objects of the message being written, numbered in the order in which they began, so that what is met again is
// written as that number. Few objects are searched in a row, which is several times faster than a Map; many are not.
// Arrays stand in a row of their own: one that is met again is among them, whatever a getter made of it meanwhile.
import { indexOf, MapIntrinsic, mapGet, mapSet } from './intrinsics.js'

const IN_A_ROW = 256

export class KnownObjects {
  readonly #arrays = new Row()
  readonly #others = new Row()
  #many: Map<unknown, number> | undefined
  #count = 0

  /** The number that the object has, or -1: then it has one from now on. */
  numberOf(object: object, isArray: boolean): number {
    if (this.#many !== undefined) return this.#numberAmongMany(this.#many, object)
    const row = isArray ? this.#arrays : this.#others
    const number = row.numberOf(object)
    if (number !== -1) return number
    if (!row.add(object, this.#count)) return this.#numberAmongMany(this.#spread(), object)
    this.#count++
    return -1
  }

  /** Forgets all, so that nothing is kept alive by a message that has left. */
  clear(): void {
    this.#arrays.clear()
    this.#others.clear()
    this.#many = undefined
    this.#count = 0
  }

  #spread(): Map<unknown, number> {
    const many = new MapIntrinsic<unknown, number>()
    this.#arrays.moveTo(many)
    this.#others.moveTo(many)
    this.#many = many
    return many
  }

  #numberAmongMany(many: Map<unknown, number>, object: object): number {
    const number: number | undefined = mapGet(many, object)
    if (number !== undefined) return number
    mapSet(many, object, this.#count++)
    return -1
  }
}

class Row {
  /** Filled from its end, so that a search from the newest finds the end of the row where the array ends. */
  readonly #objects: unknown[] = new Array(IN_A_ROW).fill(undefined)
  readonly #numbers = new Int32Array(IN_A_ROW)
  #newest = IN_A_ROW

  numberOf(object: object): number {
    const newest = this.#newest
    if (newest === IN_A_ROW) return -1
    const at = indexOf(this.#objects, object, newest)
    return at === -1 ? -1 : this.#numbers[at]!
  }

  /** False when there is no room. */
  add(object: object, number: number): boolean {
    const newest = this.#newest - 1
    if (newest < 0) return false
    this.#objects[newest] = object
    this.#numbers[newest] = number
    this.#newest = newest
    return true
  }

  moveTo(many: Map<unknown, number>): void {
    for (let at = IN_A_ROW - 1; at >= this.#newest; at--) mapSet(many, this.#objects[at], this.#numbers[at]!)
  }

  clear(): void {
    const objects = this.#objects
    for (let at = this.#newest; at < IN_A_ROW; at++) objects[at] = undefined
    this.#newest = IN_A_ROW
  }
}
