// A steady load in one process. Each lane starts its next task when its last one is done. The latency of a task counts from the time
// when it could have started, so it includes waiting for a blocked event loop.
import { performance } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { EventLoopDelay } from './event-loop-delay.js'
import { Latencies } from './latencies.js'

export async function runLanes({ count, lanes, work }) {
  const latencies = new Latencies()
  const delay = new EventLoopDelay()
  let started = 0

  async function runLane() {
    while (started < count) {
      started++
      const arrivedAt = performance.now()
      await turn()
      await work()
      latencies.record(performance.now() - arrivedAt)
    }
  }

  await delay.start()
  const loopBefore = performance.eventLoopUtilization()
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: lanes }, runLane))
  const elapsedMs = performance.now() - startedAt
  const { utilization } = performance.eventLoopUtilization(loopBefore)
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    perSecond: count / (elapsedMs / 1000),
    latencyMs: latencies.figures(),
    loopDelayMs: await delay.stop(),
    loopShare: utilization,
    cpuShare: (user + system) / 1000 / elapsedMs,
  }
}
