// Bar P10: measures the CPU time of an idle pool as a share of one core. Compares the idle process, workers included,
// after a load with the same process before it had a pool.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkAnswers, load } from '../callers.js'
import { payloads } from '../payloads.js'

const { create } = payloads.pair

export async function takeTurn(contestant, { workers, loadMs, calmMs, durationMs }) {
  await sleep(calmMs)
  const before = await measureIdling(durationMs)
  const pool = await contestant.start({ handlerName: 'echo', workers })
  const inFlight = 64
  await checkAnswers(pool.run, { create, inFlight })
  await load(pool.run, { create, inFlight, durationMs: loadMs })
  await sleep(calmMs)
  const after = await measureIdling(durationMs)
  return { coreShare: Math.max(0, after - before), coreShareWithPool: after, coreShareWithoutPool: before }
}

async function measureIdling(durationMs) {
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  await sleep(durationMs)
  const { user, system } = process.cpuUsage(cpuBefore)
  return (user + system) / 1000 / (performance.now() - startedAt)
}
