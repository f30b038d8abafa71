// Limits of waiting, counted in ticks of the event loop's own timer: a machine that stops the whole process for a while
// takes no time away from the pool. The timers are kept from before a scenario plays with them.
const { setInterval, clearInterval, setTimeout } = globalThis

const tickMs = 50
// The self-test of the harness waits for pools that never answer, and needs less patience with them.
const patience = Number(process.env.FAULT_PATIENCE ?? 1)

export const answerLimitMs = 10_000

/** Calls `onEnd` when so much time was waited; gives the way to stop it. Keeps the process alive meanwhile. */
export function countDown(limitMs, onEnd) {
  let ticksLeft = Math.ceil((limitMs * patience) / tickMs)
  const timer = setInterval(() => {
    ticksLeft -= 1
    if (ticksLeft > 0) return
    clearInterval(timer)
    onEnd()
  }, tickMs)
  return () => clearInterval(timer)
}

export function pause(ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}
