// 32-bit words in memory that a test shares with its workers, and promises for their values.

const lookAgainMs = 500

export function sharedWords(count) {
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
}

/** Resolves with the value of the word when it is at least `least`. Keeps the process alive until then. */
export async function reached(words, index, least = 1) {
  const anchor = setInterval(() => {}, lookAgainMs)
  try {
    for (;;) {
      const value = Atomics.load(words, index)
      if (value >= least) return value
      await Atomics.waitAsync(words, index, value, lookAgainMs).value
    }
  } finally {
    clearInterval(anchor)
  }
}

export function set(words, index, value = 1) {
  Atomics.store(words, index, value)
  Atomics.notify(words, index)
}
