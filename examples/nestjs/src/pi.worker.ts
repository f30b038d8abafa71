// The handler of the pool. The file is an entry of its own, so that a bundle has a file for it.
import { parentPort, workerData } from 'node:worker_threads'
import { estimatePi } from './estimate-pi.js'

export { estimatePi as default }

// Only in a thread that pi.by-hand.ts started for one request.
const points = workerData?.pointsOfOneRequest
if (points !== undefined) parentPort?.postMessage(estimatePi(points))
