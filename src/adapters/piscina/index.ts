// The door `lido/piscina`: the class by default, its statics by name, and the class itself for `require()`.
import { Piscina } from './piscina.js'

export { isWorkerThread, workerData } from '../../worker/index.js'
export { ArrayTaskQueue } from './array-task-queue.js'
export { FixedQueue } from './fixed-queue.js'
export type { PiscinaHistogram, PiscinaHistogramSummary } from './histogram.js'
export type { PiscinaLoadBalancer, PiscinaWorker } from './load-balancer.js'
export type { FilledOptions, PiscinaOptions as Options } from './options.js'
export type { RunOptions } from './run-task.js'
export { queueOptionsSymbol, transferableSymbol, valueSymbol, version } from './symbols.js'
export type { PiscinaTask, TaskQueue } from './task-queue.js'
export { Piscina, Piscina as default, Piscina as 'module.exports' }

export const move: typeof Piscina.move = Piscina.move
