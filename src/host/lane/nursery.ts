// The part of the heap where new objects begin. When it is full, at up to 16 MiB, the runtime collects it and copies what
// lives. Of a large result all lives: that holds the thread for long. Who reads one has the nursery collected earlier, so
// that there is less to copy at a time. Nobody can ask the runtime for that, but whatever is filled is collected: with
// arrays that nobody keeps, which cost next to nothing.
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

type HeapSpace = { space_name: string; space_used_size: number; space_available_size: number }

/** A collection copies this much, and what is left of the one before. */
const ENOUGH_BYTES = 3 * 2 ** 20
/** Some 120 KB, just under what the runtime would keep elsewhere. */
const FILLER_ELEMENTS = 15_000
const FILLER_BYTES = 2 ** 17
/** One that the program has made larger than any that the runtime makes: to fill it would cost more than it saves. */
const LARGEST_NURSERY_BYTES = 2 ** 25
/** What is left of a page is not filled: some more than what is said to be free. */
const SPARE_FILLERS = 4

export class Nursery {
  /** Kept for a moment, or the runtime would see that nobody wants it, and not make it. */
  filler: unknown[] | null = null
  /** In use when it was collected last. */
  #keptBytes = 0
  /** Of the collection that has begun; 0: none has. */
  #fillersLeft = 0
  /** In use when that had its last filler. */
  #filledBytes = 0

  /** More has come since the last collection than should be copied at once. */
  get isFull(): boolean {
    if (this.#fillersLeft > 0) return true
    const space = newSpace()
    if (space === undefined || space.space_available_size > LARGEST_NURSERY_BYTES) return false
    // It was collected without us.
    this.#keptBytes = Math.min(this.#keptBytes, space.space_used_size)
    return space.space_used_size - this.#keptBytes >= ENOUGH_BYTES
  }

  /**
   * Fills it while it may go on, by one filler at least: the runtime, where it marks what lives in the old part, does some
   * of that for each. Then it is full until it is collected further.
   */
  collect(mayGoOn: () => boolean): void {
    const space = newSpace()
    if (this.#fillersLeft === 0) {
      this.#fillersLeft = Math.ceil((space?.space_available_size ?? 0) / FILLER_BYTES) + SPARE_FILLERS
    } else if (space !== undefined && space.space_used_size < this.#filledBytes) {
      // It was collected between the slices.
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

/** Where the runtime names no such part, there is nothing to be done for it. */
function newSpace(): HeapSpace | undefined {
  const { getHeapSpaceStatistics } = getBuiltinModule('node:v8')
  return getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
}
