// Makes V8 collect its new space early while a large result is decoded.
//
// V8 collects the new space when it is full, at up to 16 MiB, and copies all live objects. While the host decodes a
// large result, all objects are live, so one collection blocks the event loop for long. Smaller collections block it
// for a shorter time. A program cannot ask for one. But it can fill the new space with unused arrays, which costs
// little. Row P14 of `npm run bench` shows how long the event loop is blocked.
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

type HeapSpace = { space_name: string; space_used_size: number; space_available_size: number }

/** A collection copies about this many bytes. */
const ENOUGH_BYTES = 3 * 2 ** 20
/** About 120 KB. V8 puts larger arrays into another space. */
const FILLER_ELEMENTS = 15_000
const FILLER_BYTES = 2 ** 17
/** A flag of Node can enlarge the new space. Filling a larger one costs more than it saves. */
const LARGEST_SPACE_BYTES = 2 ** 25
/** V8 does not fill its pages to the end. So this needs more fillers than the free bytes suggest. */
const SPARE_FILLERS = 4

export class NewSpace {
  /** Holds the last filler. Without this field the compiler would remove the unused array. */
  filler: unknown[] | null = null
  /** Bytes in use after the last collection. */
  #keptBytes = 0
  /** Fillers left until the collection ends; 0: no collection runs. */
  #fillersLeft = 0
  /** Bytes in use after the last filler. */
  #filledBytes = 0

  /** True when the space holds more new bytes than one collection should copy. */
  get isFull(): boolean {
    if (this.#fillersLeft > 0) return true
    const space = newSpace()
    if (space === undefined || space.space_available_size > LARGEST_SPACE_BYTES) return false
    // V8 may have collected the space by itself.
    this.#keptBytes = Math.min(this.#keptBytes, space.space_used_size)
    return space.space_used_size - this.#keptBytes >= ENOUGH_BYTES
  }

  /** Adds at least one filler, and more while `mayGoOn` allows it. A filler takes long while V8 marks the old space. */
  collect(mayGoOn: () => boolean): void {
    const space = newSpace()
    if (this.#fillersLeft === 0) {
      this.#fillersLeft = Math.ceil((space?.space_available_size ?? 0) / FILLER_BYTES) + SPARE_FILLERS
    } else if (space !== undefined && space.space_used_size < this.#filledBytes) {
      // V8 collected the space between two slices.
      this.#fillersLeft = 0
    }
    while (this.#fillersLeft > 0) {
      this.filler = new Array(FILLER_ELEMENTS)
      this.#fillersLeft--
      if (!mayGoOn()) break
    }
    this.filler = null
    const used = newSpace()?.space_used_size ?? 0
    if (space !== undefined && used < space.space_used_size) this.#fillersLeft = 0
    if (this.#fillersLeft > 0) this.#filledBytes = used
    else this.#keptBytes = used
  }
}

/** `undefined` when V8 has no space of this name. */
function newSpace(): HeapSpace | undefined {
  const { getHeapSpaceStatistics } = getBuiltinModule('node:v8')
  return getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
}
