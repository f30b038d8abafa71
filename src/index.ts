/**
 * A worker pool for Node.js: `new Pool({ module })` runs the functions of a module in workers.
 * @module
 * @see [lido](https://OWNER.github.io/lido/reference/pool.html)
 */

import { enableNestedCalls } from './shared/context/parent-task.js'
import { globalSymbol } from './shared/platform/global-symbol.js'

export type {
  BroadcastOptions,
  CallOptions,
  CloseOptions,
  CloseReport,
  FunctionOptions,
  MapOptions,
  MapProgress,
  MapSource,
  RoomOptions,
  RunOptions,
  StreamOptions,
  TransformOptions,
} from './api/call-options.js'
export type { HandlerMessage, PoolIdentity, PoolMessage, TaskMessage, WorkerMessage } from './api/channels.js'
export type { DurationStats, DurationSummary, PoolHistogram } from './api/durations.js'
export type { PoolEvents } from './api/events.js'
export type {
  AcceptedPayload,
  ApiResult,
  CheckedName,
  Chosen,
  ChunkOf,
  DefaultName,
  HandlerName,
  PayloadOf,
  PoolApi,
  ResultOf,
  RunArguments,
} from './api/handler-types.js'
export type { CommonMapOptions, CommonRunOptions, CommonStats, PoolLike } from './api/pool-like.js'
export type {
  ErrorClass,
  GroupOptions,
  PoolOptions,
  PoolSettings,
  ResizeOptions,
  RestartOptions,
  RetryOptions,
} from './api/pool-options.js'
export type { LoadBalancer, PriorityQueueOptions, TaskQueue } from './api/queue.js'
export type { QueuedTask } from './api/queued-task.js'
export type { PoolMap, PoolStream, PoolTransform, SharedValue } from './api/results.js'
export type {
  GroupStats,
  HandlerStats,
  PoolState,
  PoolStats,
  TaskCounts,
  TransportReason,
  WaitReason,
  WorkerStats,
} from './api/stats.js'
export type {
  CpuProfile,
  CpuProfileNode,
  ProfileOptions,
  Trace,
  TraceDocument,
  TraceEvent,
  TraceMetadata,
  TraceOptions,
} from './api/trace.js'
export type { BackendKind, WorkerState, WorkerStopReason, WorkerView } from './api/worker-view.js'
export { share } from './host/calls/share.js'
/** @internal */
export { kitParts } from './host/kit/parts.js'
export { Pool } from './host/pool.js'
export { FifoQueue } from './host/queue/fifo-queue.js'
export { PriorityQueue } from './host/queue/priority-queue.js'
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
export { move } from './shared/messages/move.js'
export { type Movable, transferableSymbol, valueSymbol } from './shared/messages/moved.js'

// A handler of this worker may make nested calls.
if (globalSymbol('worker') in globalThis) enableNestedCalls()
