// Two kinds of work that take the same time: one waits and leaves its thread free, the other keeps its thread busy. A pool uses this
// file as the handler, and `name` chooses the function. app.js also starts it as a worker for one request.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export async function sleepAsync(ms) {
  await sleep(ms)
  return { ms }
}

export function sleepBusy(ms) {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
  return { ms }
}

// Only in a thread that app.js started for one request.
if (workerData?.kindOfOneRequest) {
  const work = workerData.kindOfOneRequest === 'sleepAsync' ? sleepAsync : sleepBusy
  parentPort.postMessage(await work(workerData.sleepMs))
}
