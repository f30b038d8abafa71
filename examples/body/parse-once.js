// Keeps the worker that lives for one body.
import { parentPort, workerData } from 'node:worker_threads'
import parse from './orders.js'

parentPort.postMessage(parse(workerData))
