// Entry point `lido`.

export type { BackendKind } from './host/backend/backend-kind.js'
export { type SharedValue, share } from './host/lane/share.js'
export type { TaskCounts } from './host/metrics/counters.js'
export type { HandlerStats } from './host/metrics/handler-metrics.js'
export type { DurationSummary } from './host/metrics/histogram.js'
export type { PoolHistogram } from './host/metrics/timings.js'
export type { BroadcastOptions } from './host/pool/broadcast.js'
export type {
  CallOptions,
  CloseOptions,
  CloseReport,
  RoomOptions,
  RunOptions,
} from './host/pool/call-options.js'
/** @internal */
export { wrapperSymbol } from './host/pool/call-options.js'
/** @internal */
export { forAdapters } from './host/pool/for-adapters.js'
export type {
  Chosen,
  ChunkOf,
  DefaultName,
  HandlerName,
  PayloadOf,
  PoolApi,
  ResultOf,
  RunArguments,
} from './host/pool/handler-types.js'
export { PoolMap } from './host/pool/map.js'
export type { MapOptions, MapProgress, MapSource } from './host/pool/map-options.js'
export type { ResizeOptions } from './host/pool/options.js'
/** @internal */
export { adaptStartSymbol } from './host/pool/options.js'
export { Pool, type PoolEvents } from './host/pool/pool.js'
export type { PoolState } from './host/pool/pool-life.js'
export type { CommonMapOptions, CommonRunOptions, CommonStats, PoolLike } from './host/pool/pool-like.js'
export type { PoolOptions } from './host/pool/pool-options.js'
export type { PoolSettings } from './host/pool/pool-table.js'
export type { DurationStats, PoolStats, TransportReason } from './host/pool/stats.js'
export type { PoolStream } from './host/pool/stream.js'
export type { StreamOptions, TransformOptions } from './host/pool/stream-options.js'
export type { PoolTransform } from './host/pool/transform.js'
export { FifoQueue } from './host/queue/fifo-queue.js'
export { FixedQueue } from './host/queue/fixed-queue.js'
export { PriorityQueue } from './host/queue/priority-queue.js'
export type { TaskQueue } from './host/queue/task-queue.js'
export type { LoadBalancer } from './host/scheduler/load-balancer.js'
export type { QueuedTask } from './host/task/queued-task.js'
export type { RetryOptions } from './host/task/retry.js'
export type { RestartOptions } from './host/workers/restart-policy.js'
export type { WorkerState, WorkerStopReason, WorkerView } from './host/workers/worker-view.js'
export {
  InvalidOptionError,
  InvalidTaskError,
  isPoolError,
  NotCloneableError,
  PoolClosedError,
  PoolError,
  QueueFullError,
  RestartLimitError,
  TaskCancelledError,
  TaskQuarantinedError,
  TaskTimeoutError,
  TeardownError,
  type TimeLimit,
  WorkerError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from './shared/errors/pool-errors.js'
export type { ErrorClass } from './shared/errors/serialize-error.js'
export { type Movable, move, transferableSymbol, valueSymbol } from './shared/messages/move.js'
