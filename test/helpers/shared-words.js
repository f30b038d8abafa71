// Words shared with workers, and the facts in them as promises.

const lookAgainMs = 500

export function sharedWords(count) {
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
}

/** Resolves with the word's value once it is at least `least`; keeps the process alive meanwhile. */
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
