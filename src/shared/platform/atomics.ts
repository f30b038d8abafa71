// The only door to Atomics, so that a model can stand in for it and drive the code through every order.

export type SharedWords = Int32Array<SharedArrayBuffer>

export function allocateMemory(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes)
}

export function wordsOf(memory: SharedArrayBuffer): SharedWords {
  return new Int32Array(memory)
}

/** Where a program has no SharedArrayBuffer these are words of this thread alone, and a worker gets a copy. */
export function allocateWords(count: number): SharedWords {
  const bytes = count * Int32Array.BYTES_PER_ELEMENT
  const memory =
    typeof SharedArrayBuffer === 'undefined' ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes)
  return new Int32Array(memory as SharedArrayBuffer)
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
