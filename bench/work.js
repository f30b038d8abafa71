// One millisecond of CPU: a loop that nothing can shorten, in as many rounds as this machine does in that time.
// Counted in rounds and not by the clock, so that a thread that was taken off its core has less done, not more.
const calibrationMs = 100
const calibrationLoops = 200_000

/** Gives a number that only who did all the rounds can know. */
export function burn(loops) {
  let state = 1
  for (let i = 0; i < loops; i += 1) state = Math.imul(state ^ i, 1_664_525)
  return state
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
