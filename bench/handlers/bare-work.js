// A thread without a pool. It burns one burst after another until the time is over, to measure what all cores can do.
import { parentPort } from 'node:worker_threads'
import { burn } from '../work.js'

parentPort.on('message', ({ loops, durationMs }) => {
  const startedAt = performance.now()
  let count = 0
  let state = 0
  while (performance.now() - startedAt < durationMs) {
    state = burn(loops)
    count += 1
  }
  parentPort.postMessage({ state, count, elapsedMs: performance.now() - startedAt })
})
