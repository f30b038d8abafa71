// Keeps the two kinds of work of a request, which take the same time by the clock: one waits and leaves its thread
// free, the other keeps its thread busy. The file is the worker's handler as it is; `name` chooses between them.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

export async function sleepAsync(ms) {
  await sleep(ms)
  return { ms }
}

export function sleepBusy(ms) {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
  return { ms }
}
