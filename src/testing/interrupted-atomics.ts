// Stands in for `shared/platform/atomics` under the condition `simulation`: all threads are played on one, and whoever plays them
// is asked before each atomic access to a word, so that another thread may go on there, or this one die.
import type { SharedWords } from '../shared/platform/atomics.js'

export type { SharedWords }

export const interruption = { beforeAccess: (): void => {} }

/** What follows the words of a lane, or of anything smaller, is values, which are written before they are read. */
const LANE_BYTES = 2 ** 22
const WORDS_OF_LANE_BYTES = 2 ** 18
const WORDS_BYTES = 2 ** 12
/** A desk's dictionary. */
const LAST_BYTES = 2 ** 16
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT

/** To get new memory costs more than a whole run, so it is used again. */
const used: SharedArrayBuffer[] = []
const spare = new Map<number, SharedArrayBuffer[]>()

export function allocateMemory(bytes: number): SharedArrayBuffer {
  const memory = spare.get(bytes)?.pop() ?? new SharedArrayBuffer(bytes)
  used.push(memory)
  return memory
}

/** Nobody uses any memory any more. */
export function freeMemory(): void {
  for (const memory of used) {
    const { byteLength } = memory
    // Shared memory is filled element by element: by words, there are fewer.
    const words = wordsOf(memory)
    words.fill(0, 0, (byteLength > LANE_BYTES ? WORDS_OF_LANE_BYTES : WORDS_BYTES) / WORD_BYTES)
    words.fill(0, Math.max(byteLength - LAST_BYTES, 0) / WORD_BYTES)
    const same = spare.get(byteLength)
    if (same === undefined) spare.set(byteLength, [memory])
    else same.push(memory)
  }
  used.length = 0
}

export function wordsOf(memory: SharedArrayBuffer): SharedWords {
  return new Int32Array(memory)
}

export function allocateWords(count: number): SharedWords {
  return wordsOf(allocateMemory(count * Int32Array.BYTES_PER_ELEMENT))
}

export function load(words: SharedWords, index: number): number {
  interruption.beforeAccess()
  return words[index]!
}

export function store(words: SharedWords, index: number, value: number): void {
  interruption.beforeAccess()
  words[index] = value
}

export function replace(words: SharedWords, index: number, expected: number, next: number): boolean {
  interruption.beforeAccess()
  if (words[index] !== expected) return false
  words[index] = next
  return true
}

export const pause: () => void = () => {}
