/**
 * Piscina's class over the workers of lido: as default export and for `require()`, and its static members as named exports.
 * @module
 * @see [lido/piscina](https://OWNER.github.io/lido/reference/piscina.html)
 */

import { Piscina, version } from './piscina.js'

export { transferableSymbol, valueSymbol } from '../../index.js'
export { isWorkerThread, workerData } from '../../worker.js'
export type { PiscinaHistogram, PiscinaHistogramSummary } from './histogram.js'
export type { PiscinaLoadBalancer, PiscinaWorker } from './load-balancer.js'
export type { FilledOptions, PiscinaOptions as Options } from './options.js'
export { ArrayTaskQueue, FixedQueue } from './queues.js'
export type { RunOptions } from './run-task.js'
export { type PiscinaTask, queueOptionsSymbol, type TaskQueue } from './task-queue.js'
export { Piscina, Piscina as default, version }

/** Marks a value that is transferred, not copied. */
export const move: typeof Piscina.move = Piscina.move
