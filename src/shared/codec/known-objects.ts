// The objects of the message being written, numbered in the order in which they began, so that what is met again is
// written as that number. Few objects are searched in a row, which is several times faster than a Map; many are not.
import { indexOf, MapIntrinsic, mapGet, mapSet } from './intrinsics.js'

const IN_A_ROW = 256

export class KnownObjects {
  /** Filled from its end, so that a search from the newest finds the end of the row where the array ends. */
  readonly #row: unknown[] = new Array(IN_A_ROW).fill(undefined)
  #newest = IN_A_ROW
  #many: Map<unknown, number> | undefined
  #count = 0

  /** The number that the object has, or -1: then it has one from now on. */
  numberOf(object: object): number {
    if (this.#many !== undefined) return this.#numberAmongMany(this.#many, object)
    const newest = this.#newest
    if (newest < IN_A_ROW) {
      const at = indexOf(this.#row, object, newest)
      if (at !== -1) return IN_A_ROW - 1 - at
      if (newest === 0) return this.#numberAmongMany(this.#spread(), object)
    }
    this.#row[newest - 1] = object
    this.#newest = newest - 1
    return -1
  }

  /** Forgets all, so that nothing is kept alive by a message that has left. */
  clear(): void {
    const row = this.#row
    for (let at = this.#newest; at < IN_A_ROW; at++) row[at] = undefined
    this.#newest = IN_A_ROW
    this.#many = undefined
  }

  #spread(): Map<unknown, number> {
    const many = new MapIntrinsic<unknown, number>()
    for (let at = IN_A_ROW - 1; at >= 0; at--) mapSet(many, this.#row[at], IN_A_ROW - 1 - at)
    this.#many = many
    this.#count = IN_A_ROW
    return many
  }

  #numberAmongMany(many: Map<unknown, number>, object: object): number {
    const number: number | undefined = mapGet(many, object)
    if (number !== undefined) return number
    mapSet(many, object, this.#count++)
    return -1
  }
}
