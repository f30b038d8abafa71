// The echo handler without a pool: it sends each message back through the port.
import { workerData } from 'node:worker_threads'

const { port } = workerData
port.on('message', payload => port.postMessage(payload))
