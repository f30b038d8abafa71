// Keeps the work of a request: a password's hash, in the form that keeps its thread busy. The file is a worker's handler as it
// is, and with a message port beside it a worker of its own.
import { scryptSync } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'

export default function hash({ password, cost }) {
  return { hash: scryptSync(password, 'salt', 32, { N: cost, maxmem: 256 * cost * 8 }).toString('hex') }
}

// Only where app.js started the thread by hand.
if (workerData?.isForOneRequest) parentPort.postMessage(hash(workerData.task))
