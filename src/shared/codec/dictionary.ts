// A region of shared memory that holds the keys of learned shapes, in the order in which they were learned. One encoder
// appends, decoders read. Entries never change; one is complete before a message that names it is published.
//
//   entry   count of keys (16 bits), then each key: its length, doubled, plus 1 when it is two-byte (16 bits), its bytes
//
// Zero keys is no entry: it is where the dictionary ends for now.
import { CorruptMessageError } from './corrupt-message-error.js'
import { latin1Slice, latin1Write, matches, ucs2Slice, ucs2Write, viewBytes } from './intrinsics.js'

export const MOST_KEYS = 128
export const MOST_SHAPES = 512
export const LONGEST_KEY = 100
const BEYOND_LATIN1 = /[^\0-\xff]/

export class Dictionary {
  readonly #bytes: Buffer
  readonly #to: number
  #at: number

  constructor(memory: SharedArrayBuffer, from: number, to: number) {
    this.#bytes = viewBytes(memory)
    this.#at = from
    this.#to = to
  }

  /** The encoder's: false when there is no room. */
  append(keys: readonly string[]): boolean {
    let size = 2
    for (const key of keys) size += 2 + 2 * key.length
    if (size > this.#to - this.#at) return false
    let at = this.#at + 2
    for (const key of keys) at = this.#writeKey(key, at)
    this.#writeWord(this.#at, keys.length)
    this.#at = at
    return true
  }

  /** A decoder's: the keys of the next entry. */
  next(): string[] {
    const keys: string[] = []
    let at = this.#at
    const count = this.#readWord(at)
    at += 2
    if (count === 0 || count > MOST_KEYS) throw new CorruptMessageError('it names a shape that nobody wrote')
    while (keys.length < count) {
      const size = this.#readWord(at)
      const bytes = size & 1 ? size - 1 : size >> 1
      at += 2
      if (size >> 1 > LONGEST_KEY || bytes > this.#to - at) throw new CorruptMessageError('a key is too long')
      keys[keys.length] = (size & 1 ? ucs2Slice : latin1Slice)(this.#bytes, at, at + bytes)
      at += bytes
    }
    this.#at = at
    return keys
  }

  #writeKey(key: string, at: number): number {
    const isWide = matches(BEYOND_LATIN1, key) !== null
    this.#writeWord(at, key.length * 2 + (isWide ? 1 : 0))
    if (isWide) ucs2Write(this.#bytes, key, at + 2, key.length * 2)
    else latin1Write(this.#bytes, key, at + 2, key.length)
    return at + 2 + (isWide ? key.length * 2 : key.length)
  }

  #writeWord(at: number, word: number): void {
    this.#bytes[at] = word & 0xff
    this.#bytes[at + 1] = word >> 8
  }

  #readWord(at: number): number {
    if (at + 2 > this.#to) throw new CorruptMessageError('the dictionary ends too early')
    return this.#bytes[at]! | (this.#bytes[at + 1]! << 8)
  }
}
