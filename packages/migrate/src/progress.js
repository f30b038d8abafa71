// Shows on a terminal how many files are read, if this takes long.
const firstMs = 300
const periodMs = 100
const width = 24

/** Returns `{ show(done), end() }`. `clock` gives milliseconds. */
export function createProgress(total, label, output, clock = Date.now) {
  const startedAt = clock()
  let shownAt = startedAt + firstMs - periodMs
  let isShown = false
  return {
    show(done) {
      if (!output.isTTY || clock() - shownAt < periodMs) return
      shownAt = clock()
      isShown = true
      const filled = Math.round((done / total) * width)
      output.write(`\r\x1b[K${label} ${'█'.repeat(filled).padEnd(width, '·')} ${done} of ${total}`)
    },
    /** Removes the line. */
    end() {
      if (isShown) output.write('\r\x1b[K')
    },
  }
}
