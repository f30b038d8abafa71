// The only door to Atomics, so that a model can stand in for it and drive the code through every order.

export type SharedWords = Int32Array<SharedArrayBuffer>

export function allocateWords(count: number): SharedWords {
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
}

export function load(words: SharedWords, index: number): number {
  return Atomics.load(words, index)
}

export function store(words: SharedWords, index: number, value: number): void {
  Atomics.store(words, index, value)
}

/** Tells the processor that this thread only waits for another, where the runtime can say so. */
export const pause: () => void = (Atomics as { pause?: () => void }).pause ?? (() => {})

/** Writes `next` where `expected` stands; tells whether it did. */
export function replace(words: SharedWords, index: number, expected: number, next: number): boolean {
  return Atomics.compareExchange(words, index, expected, next) === expected
}
