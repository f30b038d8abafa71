// A worker that parses one body and exits.
import { parentPort, workerData } from 'node:worker_threads'
import parse from './orders.js'

parentPort.postMessage(parse(workerData))
