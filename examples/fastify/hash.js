// The work of a request: computes the hash of a password, synchronously. A pool uses this file as the handler. app.js also starts it as a
// worker for one request.
import { scryptSync } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'

export default function hash({ password, cost }) {
  return { hash: scryptSync(password, 'salt', 32, { N: cost, maxmem: 256 * cost * 8 }).toString('hex') }
}

// Only in a thread that app.js started for one request.
if (workerData?.isForOneRequest) parentPort.postMessage(hash(workerData.task))
