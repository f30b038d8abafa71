// The part of the heap where new objects begin. When it is full, at up to 16 MiB, the runtime collects it and copies what
// lives. Of a large result all lives: that holds the thread for long. Who reads one has the nursery collected earlier, so
// that there is less to copy at a time. Nobody can ask the runtime for that, but whatever is filled is collected: with
// arrays that nobody keeps, which cost next to nothing.

type HeapSpace = { space_name: string; space_used_size: number; space_available_size: number }

/** A collection copies this much, and what is left of the one before. */
const ENOUGH_BYTES = 3 * 2 ** 20
/** Some 120 KB, just under what the runtime would keep elsewhere. */
const FILLER_ELEMENTS = 15_000
const FILLER_BYTES = 2 ** 17
/** What is left of a page is not filled: some more than what is said to be free. */
const SPARE_FILLERS = 4

export class Nursery {
  /** Kept for a moment, or the runtime would see that nobody wants it, and not make it. */
  filler: unknown[] | null = null
  /** In use when it was collected last. */
  #keptBytes = 0

  /** More has come since the last collection than should be copied at once. */
  get isFull(): boolean {
    const space = newSpace()
    if (space === undefined) return false
    // It was collected without us.
    this.#keptBytes = Math.min(this.#keptBytes, space.space_used_size)
    return space.space_used_size - this.#keptBytes >= ENOUGH_BYTES
  }

  collect(): void {
    const free = newSpace()?.space_available_size ?? 0
    const fillers = Math.ceil(free / FILLER_BYTES) + SPARE_FILLERS
    for (let count = 0; count < fillers; count++) this.filler = new Array(FILLER_ELEMENTS)
    this.filler = null
    this.#keptBytes = newSpace()?.space_used_size ?? 0
  }
}

/** Where the runtime names no such part, there is nothing to be done for it. */
function newSpace(): HeapSpace | undefined {
  const { getHeapSpaceStatistics } = process.getBuiltinModule('node:v8')
  return getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
}
