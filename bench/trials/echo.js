// Bars P1 to P7 and P22: measures the cost of a task whose handler returns its payload. The pool of a process serves all turns.
// The tournament warms it up with all cells before the first measured turn.
import { checkAnswers, load, timeRoundTrips } from '../callers.js'
import { createCpuClock } from '../cpu-clock.js'
import { startNeighbour } from '../neighbour.js'
import { payloads } from '../payloads.js'

let pool = null

/** `neighbourThreads` compute in another process during the turn. */
export async function takeTurn(contestant, { neighbourThreads = 0, ...settings }) {
  if (neighbourThreads === 0) return await measure(contestant, settings)
  const stopNeighbour = await startNeighbour(neighbourThreads)
  try {
    return await measure(contestant, settings)
  } finally {
    await stopNeighbour()
  }
}

async function measure(contestant, { payloadId, inFlight, workers, warmUpMs, durationMs }) {
  pool ??= await contestant.start({ handlerName: 'echo', workers })
  const { create } = payloads[payloadId]
  const checked = await checkAnswers(pool.run, { create, inFlight })
  if (warmUpMs > 0) await load(pool.run, { create, inFlight, durationMs: warmUpMs })
  const plan = { create, inFlight, durationMs }
  const figures = inFlight === 1 ? await measureOneByOne(plan) : await measureMany(plan)
  return { ...figures, checked, transport: pool.transport }
}

export async function leave() {
  await pool?.stop()
}

async function measureMany(plan) {
  const cpuClock = createCpuClock()
  const cpuBefore = cpuClock.readMicros()
  const { taskCount, elapsedMs } = await load(pool.run, plan)
  return {
    tasksPerSecond: (taskCount * 1000) / elapsedMs,
    hostCpuMicrosPerTask: (cpuClock.readMicros() - cpuBefore) / taskCount,
    hostCpuScope: cpuClock.scope,
  }
}

async function measureOneByOne(plan) {
  const { taskCount, elapsedMs, micros } = await timeRoundTrips(pool.run, plan)
  micros.sort((a, b) => a - b)
  return {
    tasksPerSecond: (taskCount * 1000) / elapsedMs,
    roundTripMicros: micros[micros.length >> 1],
    roundTripMicrosP99: micros[Math.floor(micros.length * 0.99)],
  }
}
