/**
 * A logger for handlers, whose lines the logger of the host writes. Handlers import it too, so it loads no code of the host.
 * @module
 * @see [lido/pino](https://OWNER.github.io/lido/reference/pino.html)
 */

export { type HostLogger, logWorkers } from './host-logger.js'
export { type WorkerLoggerOptions, workerLogger } from './worker-logger.js'
