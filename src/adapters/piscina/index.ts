// Entry point `lido/piscina`: the class as default export and for `require()`, and its static members as named exports.
import { Piscina, version } from './piscina.js'

export { transferableSymbol, valueSymbol } from '../../index.js'
export { isWorkerThread, workerData } from '../../worker.js'
export type { PiscinaHistogram, PiscinaHistogramSummary } from './histogram.js'
export type { PiscinaLoadBalancer, PiscinaWorker } from './load-balancer.js'
export type { FilledOptions, PiscinaOptions as Options } from './options.js'
export { ArrayTaskQueue, FixedQueue } from './queues.js'
export type { RunOptions } from './run-task.js'
export { type PiscinaTask, queueOptionsSymbol, type TaskQueue } from './task-queue.js'
export { Piscina, Piscina as default, Piscina as 'module.exports', version }

export const move: typeof Piscina.move = Piscina.move
