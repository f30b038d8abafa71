// Replaces `shared/platform/atomics` under the condition `simulation`. The simulation runs all threads on one thread.
// It sets a callback that runs before each atomic access to a word, where it can switch to another thread or kill this
// one.
import type { LaneWords } from '../shared/platform/atomics.js'

export type { LaneWords }

export const interruption = { beforeAccess: (): void => {} }

/** Larger memory is a lane. Only its first bytes are words; values follow, which are written before they are read. */
const LANE_BYTES = 2 ** 22
const WORDS_OF_LANE_BYTES = 2 ** 18
const WORDS_BYTES = 2 ** 12
/** The shape table at the end of a worker's state. */
const LAST_BYTES = 2 ** 16
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT

/** All memory is reused, because allocating new memory takes longer than a whole run. */
const used: SharedArrayBuffer[] = []
const spare = new Map<number, SharedArrayBuffer[]>()

export function allocateMemory(bytes: number): SharedArrayBuffer {
  const memory = spare.get(bytes)?.pop() ?? new SharedArrayBuffer(bytes)
  used.push(memory)
  return memory
}

/** Clears all memory for the next run. Call it when no thread of the simulation uses it. */
export function freeMemory(): void {
  for (const memory of used) {
    const { byteLength } = memory
    // Fills words instead of bytes, because V8 fills shared memory one element at a time.
    const words = wordsOf(memory)
    words.fill(0, 0, (byteLength > LANE_BYTES ? WORDS_OF_LANE_BYTES : WORDS_BYTES) / WORD_BYTES)
    words.fill(0, Math.max(byteLength - LAST_BYTES, 0) / WORD_BYTES)
    const same = spare.get(byteLength)
    if (same === undefined) spare.set(byteLength, [memory])
    else same.push(memory)
  }
  used.length = 0
}

export function wordsOf(memory: SharedArrayBuffer): LaneWords {
  return new Int32Array(memory)
}

export function allocateWords(count: number): LaneWords {
  return wordsOf(allocateMemory(count * Int32Array.BYTES_PER_ELEMENT))
}

export function load(words: LaneWords, index: number): number {
  interruption.beforeAccess()
  return words[index]!
}

export function store(words: LaneWords, index: number, value: number): void {
  interruption.beforeAccess()
  words[index] = value
}

export function replace(words: LaneWords, index: number, expected: number, next: number): boolean {
  interruption.beforeAccess()
  if (words[index] !== expected) return false
  words[index] = next
  return true
}

export const pause: () => void = () => {}
