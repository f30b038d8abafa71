/**
 * Runs a pool on many machines. BullMQ has the queue; this adapter joins it to pools.
 * @module
 * @see [lido/bullmq](https://OWNER.github.io/lido/guides/many-machines.html)
 */

export type { EngineFactory, EngineName, EngineOptions } from './engine.js'
export type { GiveBackReason } from './give-back.js'
export type { CompletedJob, FailedJob, GivenBackJob, HostEvents, StalledJob } from './host-events.js'
export { JobFormatError, ValueTooLargeError } from './job-values.js'
export type { Overload } from './overload.js'
export { type ProcessorOptions, processor } from './processor.js'
export type { QueueCounts } from './queue-counts.js'
export { EngineError, JobFailedError, JobLostError } from './remote-errors.js'
export type {
  Backoff,
  EnqueueOptions,
  RemoteCallOptions,
  RemoteMapOptions,
  RemotePoolOptions,
  RemoteRunOptions,
} from './remote-options.js'
export { RemotePool, type RemotePoolEvents } from './remote-pool.js'
export {
  ComputingHost,
  type HostCloseReport,
  type HostHealth,
  type HostStats,
  type ServeOptions,
  serve,
} from './serve.js'
