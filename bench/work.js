// One millisecond of CPU: one call into native code, of as many rounds as this machine does in that time. A loop in JavaScript is
// no measure: how fast it runs depends on what each thread's compiler made of it, which differs by a factor of two and more.
// Counted in rounds and not by the clock, so that a thread that was taken off its core has less done, not more.
import { pbkdf2Sync } from 'node:crypto'

const calibrationMs = 100
const calibrationLoops = 1000

/** Gives a number that only who did all the rounds can know. */
export function burn(loops) {
  return pbkdf2Sync('lido', 'bench', loops, 32, 'sha256').readUInt32LE(0)
}

/** How many rounds take a millisecond here and now. The fastest try counts: the slower ones were disturbed. */
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
