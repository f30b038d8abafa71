// One process of the trial small-tasks. Measures its tasks, its CPU time in all threads, and the use of its event loop.
import { strictEqual } from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import smallTask from '../handlers/small-task.js'

/** Short, so that V8 compiles the code of the pool soon. */
const firstTaskMs = 0.002
// A process that has measured continues, so that the last process to begin measures on shared cores too.
const tailMs = 30

let pool = null

/** The step `prepare` starts the pool and runs the first tasks. The step `measure` begins at once. `gapMs` is the time from one task to the next one. */
export async function takeTurn(
  contestant,
  { step, taskMs, loops, inFlight, gapMs = 0, firstTasks = 200, warmUpMs, durationMs },
) {
  const payload = loops === undefined ? taskMs : { loops }
  const expected = smallTask(payload)
  const run = async () => strictEqual(await pool.run(payload), expected)
  if (step === 'measure') return await measure(run, { inFlight, gapMs, warmUpMs, durationMs })
  if (pool !== null) return {}
  pool = await contestant.start({ handlerName: 'small-task', workers: 1 })
  const first = loops === undefined ? firstTaskMs : payload
  for (let count = 0; count < firstTasks; count += 1) await pool.run(first)
  return {}
}

export async function leave() {
  await pool?.stop()
}

async function measure(run, { inFlight, gapMs, warmUpMs, durationMs }) {
  const startedAt = performance.now()
  const beginAt = startedAt + warmUpMs
  const endAt = beginAt + durationMs
  let taskCount = 0
  let from = null
  let to = null

  const look = at => ({ at, taskCount, cpu: process.cpuUsage(), loop: performance.eventLoopUtilization() })

  async function call() {
    for (let number = 1; ; number += 1) {
      await run()
      taskCount += 1
      const now = performance.now()
      if (from === null && now >= beginAt) from = look(now)
      else if (from !== null && to === null && now >= endAt) to = look(now)
      if (to !== null && now >= endAt + tailMs) return
      const waitMs = gapMs === 0 ? 0 : startedAt + number * gapMs - now
      if (waitMs > 0) await sleep(waitMs)
    }
  }

  await Promise.all(Array.from({ length: inFlight }, call))
  return {
    taskCount: to.taskCount - from.taskCount,
    elapsedMs: to.at - from.at,
    cpuMicros: to.cpu.user + to.cpu.system - from.cpu.user - from.cpu.system,
    utilization: performance.eventLoopUtilization(to.loop, from.loop).utilization,
  }
}
