// Keeps the two kinds of work of a request, which take the same time by the clock: one waits and leaves its thread
// free, the other keeps its thread busy. The file is a worker's handler as it is, where `name` chooses between them, and with a
// message port beside it a worker of its own.
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

// Only where app.js started the thread by hand.
if (workerData?.kindOfOneRequest) {
  const work = workerData.kindOfOneRequest === 'sleepAsync' ? sleepAsync : sleepBusy
  parentPort.postMessage(await work(workerData.sleepMs))
}
