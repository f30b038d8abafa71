// The only access to Atomics. The tests of the model replace this file to run the threads in every order.

/** TypeScript before 5.7 reads this declaration too, and it has no `Int32Array<SharedArrayBuffer>`. */
export type LaneWords = Int32Array & { readonly buffer: SharedArrayBuffer }

export function allocateMemory(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes)
}

export function wordsOf(memory: SharedArrayBuffer): LaneWords {
  return new Int32Array(memory)
}

/** Without SharedArrayBuffer only this thread sees the words, and a worker gets a copy. */
export function allocateWords(count: number): LaneWords {
  const bytes = count * Int32Array.BYTES_PER_ELEMENT
  const memory =
    typeof SharedArrayBuffer === 'undefined' ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes)
  return new Int32Array(memory as SharedArrayBuffer)
}

export function load(words: LaneWords, index: number): number {
  return Atomics.load(words, index)
}

export function store(words: LaneWords, index: number, value: number): void {
  Atomics.store(words, index, value)
}

/** Tells the processor that this thread busy-waits. Does nothing without `Atomics.pause`. */
export const pause: () => void = (Atomics as { pause?: () => void }).pause ?? (() => {})

/** Compare-and-swap. True when the word held `expected` and now holds `next`. */
export function replace(words: LaneWords, index: number, expected: number, next: number): boolean {
  return Atomics.compareExchange(words, index, expected, next) === expected
}
