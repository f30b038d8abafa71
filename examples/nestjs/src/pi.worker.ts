// Keeps what workers run: an entry of its own, so that a bundle has a file for it. A pool calls it as its handler.
import { parentPort, workerData } from 'node:worker_threads'
import { estimatePi } from './estimate-pi.js'

export { estimatePi as default }

// Only where pi.by-hand.ts started the thread for one request.
const points = workerData?.pointsOfOneRequest
if (points !== undefined) parentPort?.postMessage(estimatePi(points))
