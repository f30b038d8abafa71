// The load: `inFlight` callers that each await a task and then submit the next, until the time is over.
import { deepStrictEqual } from 'node:assert/strict'
import { createCpuClock } from './cpu-clock.js'

// Callers look at the clock once in so many tasks: a look costs as much as a fast pool's whole submission.
const tasksPerLook = 64

/** Sends `cell`'s payload through `run` for about `durationMs`; resolves to what that took. */
export async function measure(run, cell, durationMs) {
  const cpuClock = createCpuClock()
  let taskCount = 0
  let isOver = false

  async function call() {
    while (!isOver) {
      await run(cell.create(taskCount))
      taskCount += 1
      if (taskCount % tasksPerLook === 0) isOver = performance.now() >= deadline
    }
  }

  const hostCpuBefore = cpuClock.readMicros()
  const startedAt = performance.now()
  const deadline = startedAt + durationMs
  await Promise.all(Array.from({ length: cell.inFlight }, call))
  const elapsedMs = performance.now() - startedAt
  const hostCpuMicros = cpuClock.readMicros() - hostCpuBefore

  return { taskCount, elapsedMs, hostCpuMicros, hostCpuScope: cpuClock.scope }
}

/** An echo that does not give back what it got is no contestant. */
export async function check(run, cell) {
  const payload = cell.create(7)
  deepStrictEqual(await run(payload), payload)
}
