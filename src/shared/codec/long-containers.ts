// What is under way while a long message is read: arrays, objects, maps, sets and strings that have begun and have not
// got all their parts.
import type { Decoder } from './decoder.js'
import { MapIntrinsic, mapSet, min, SetIntrinsic, setAdd } from './intrinsics.js'
import type { KnownShape } from './known-shapes.js'
import type { LongDecoder } from './long-decoder.js'
import { setElement } from './own-fields.js'
import * as tags from './tags.js'

export interface Container {
  /** When it has all its parts. */
  readonly value: unknown
  /** Reads parts until it has all (then true), the step is over, or one was opened, which `add` gives later. */
  readOn(parts: LongDecoder): boolean
  add(part: unknown): void
}

/** In place of a value: a container was opened for it. */
export const OPENED: unique symbol = Symbol('opened')

/** Even, and as much as the runtime keeps outside of its heap: there it costs least. */
const PIECE_BYTES = 2 ** 20

/** The container that begins here, its tag read; `null`: what begins is none, and nothing was read. */
export function openContainer(from: Decoder): Container | null {
  const tag = from.peek()
  if (tag >= tags.SHORT_SHAPED && tag < tags.SHORT_SHAPED + tags.SHORT_SHAPES) {
    return new OpenShaped(from, from.shapes.get(from.byte() - tags.SHORT_SHAPED))
  }
  switch (tag) {
    case tags.SHAPED:
    case tags.KEYED:
    case tags.ARRAY:
    case tags.SPARSE_ARRAY:
    case tags.MAP:
    case tags.SET:
    case tags.LATIN1:
    case tags.UTF16:
      from.byte()
      return openTagged(tag, from)
    default:
      return null
  }
}

function openTagged(tag: number, from: Decoder): Container {
  switch (tag) {
    case tags.SHAPED:
      return new OpenShaped(from, from.shapes.get(from.uint32()))
    case tags.KEYED:
      return new OpenKeyed(from)
    case tags.ARRAY:
      return new OpenArray(from)
    case tags.SPARSE_ARRAY:
      return new OpenSparseArray(from)
    case tags.MAP:
      return new OpenMap(from)
    case tags.SET:
      return new OpenSet(from)
    default:
      return new OpenText(from, tag === tags.UTF16)
  }
}

class OpenArray implements Container {
  readonly value: unknown[]
  readonly #length: number
  #filled = 0

  constructor(from: Decoder) {
    this.#length = from.count(1)
    this.value = from.blankArray(this.#length)
  }

  readOn(parts: LongDecoder): boolean {
    while (this.#filled < this.#length) {
      if (parts.isDue) return false
      const count = parts.from.readInto(this.value, this.#filled, this.#length)
      if (count === 0) {
        const element = parts.next()
        if (element === OPENED) return false
        this.add(element)
      } else this.#filled += count
    }
    return true
  }

  add(element: unknown): void {
    setElement(this.value, this.#filled++, element)
  }
}

class OpenShaped implements Container {
  readonly value: Record<string, unknown>
  readonly #shape: KnownShape
  readonly #from: Decoder
  #filled = 0

  constructor(from: Decoder, shape: KnownShape) {
    this.#from = from
    this.#shape = shape
    this.value = from.blank(shape)
  }

  readOn(parts: LongDecoder): boolean {
    while (this.#filled < this.#shape.keys.length) {
      if (parts.isDue) return false
      const part = parts.next()
      if (part === OPENED) return false
      this.add(part)
    }
    return true
  }

  add(part: unknown): void {
    this.#from.setField(this.value, this.#shape.keys[this.#filled++]!, part)
  }
}

class OpenKeyed implements Container {
  readonly value: object
  readonly #from: Decoder
  #key: string | null = null

  constructor(from: Decoder) {
    this.#from = from
    this.value = from.begins({})
  }

  readOn(parts: LongDecoder): boolean {
    for (;;) {
      if (parts.isDue) return false
      if (this.#key === null) {
        if (parts.from.ends()) return true
        this.#key = parts.from.key()
      }
      const part = parts.next()
      if (part === OPENED) return false
      this.add(part)
    }
  }

  add(part: unknown): void {
    this.#from.setField(this.value, this.#key!, part)
    this.#key = null
  }
}

class OpenSparseArray implements Container {
  readonly value: unknown[]
  readonly #from: Decoder
  readonly #length: number
  #key: string | null = null

  constructor(from: Decoder) {
    this.#from = from
    this.#length = from.uint32()
    this.value = from.begins([])
  }

  readOn(parts: LongDecoder): boolean {
    for (;;) {
      if (parts.isDue) return false
      if (this.#key === null) {
        if (parts.from.ends()) break
        this.#key = parts.from.key()
      }
      const part = parts.next()
      if (part === OPENED) return false
      this.add(part)
    }
    this.#from.lengthened(this.value, this.#length)
    return true
  }

  add(part: unknown): void {
    this.#from.setSparse(this.value, this.#key!, part)
    this.#key = null
  }
}

class OpenMap implements Container {
  readonly value = new MapIntrinsic<unknown, unknown>()
  #left: number
  #key: unknown = OPENED

  constructor(from: Decoder) {
    this.#left = from.count(2)
    from.begins(this.value)
  }

  readOn(parts: LongDecoder): boolean {
    while (this.#left > 0) {
      if (parts.isDue) return false
      const part = parts.next()
      if (part === OPENED) return false
      this.add(part)
    }
    return true
  }

  /** A key, or the value that goes with the last one. */
  add(part: unknown): void {
    if (this.#key === OPENED) {
      this.#key = part
      return
    }
    mapSet(this.value, this.#key, part)
    this.#key = OPENED
    this.#left--
  }
}

class OpenSet implements Container {
  readonly value = new SetIntrinsic<unknown>()
  #left: number

  constructor(from: Decoder) {
    this.#left = from.count(1)
    from.begins(this.value)
  }

  readOn(parts: LongDecoder): boolean {
    while (this.#left > 0) {
      if (parts.isDue) return false
      const member = parts.next()
      if (member === OPENED) return false
      this.add(member)
    }
    return true
  }

  add(member: unknown): void {
    setAdd(this.value, member)
    this.#left--
  }
}

/** The runtime keeps what is added to a string as it came, and joins the pieces when somebody looks into it. */
class OpenText implements Container {
  value = ''
  readonly #from: Decoder
  readonly #isWide: boolean
  #left: number

  constructor(from: Decoder, isWide: boolean) {
    this.#from = from
    this.#isWide = isWide
    this.#left = from.count(1)
  }

  readOn(parts: LongDecoder): boolean {
    while (this.#left > 0) {
      if (parts.isDue) return false
      const size = min(this.#left, PIECE_BYTES)
      this.add(this.#isWide ? this.#from.utf16(size) : this.#from.latin1(size))
      this.#left -= size
    }
    return true
  }

  add(piece: string): void {
    this.value += piece
  }
}
