// Burns CPU in one call into native code. A JavaScript loop would not do: each thread compiles it differently, and its
// speed differs by a factor of two and more.
// The work is counted in rounds, not in time, so that a thread without a core does not appear to work.
import { pbkdf2Sync } from 'node:crypto'

const calibrationMs = 100
const calibrationLoops = 1000

/** The returned number depends on all rounds, so a caller can check that they ran. */
export function burn(loops) {
  return pbkdf2Sync('lido', 'bench', loops, 32, 'sha256').readUInt32LE(0)
}

/** The number of rounds that take 1 ms on this machine. Uses the fastest try, because other work disturbs the rest. */
export function countLoopsPerMs() {
  const end = performance.now() + calibrationMs
  let leastMs = Number.POSITIVE_INFINITY
  while (performance.now() < end) {
    const startedAt = performance.now()
    burn(calibrationLoops)
    leastMs = Math.min(leastMs, performance.now() - startedAt)
  }
  return Math.round(calibrationLoops / leastMs)
}
