// The handler without a pool: whatever arrives at the port goes back through it.
import { workerData } from 'node:worker_threads'

const { port } = workerData
port.on('message', payload => port.postMessage(payload))
