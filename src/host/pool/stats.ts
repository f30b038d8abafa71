// One plain snapshot of a pool: numbers and strings only, so it can be logged, sent or compared.
import type { BackendKind } from '../backend/backend-kind.js'
import type { TaskCounts } from '../metrics/counters.js'
import type { HandlerStats } from '../metrics/handler-metrics.js'
import type { DurationSummary } from '../metrics/histogram.js'
import type { WorkerState, WorkerView } from '../workers/worker-view.js'
import type { PoolState } from './pool-life.js'

export interface DurationStats {
  count: number
  minMs: number
  meanMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** The option because of which tasks do not travel through shared memory. */
export type TransportReason = 'backend' | 'transport' | 'loadBalancer'

export interface PoolStats {
  /** The option `label`. */
  label: string
  state: PoolState
  /** Milliseconds since construction. */
  durationMs: number
  /** 0 to 1. */
  utilization: number
  tasks: TaskCounts & { waiting: number; inFlight: number }
  queue: { size: number; limit: number; needsDrain: boolean }
  workers: {
    id: number
    backend: BackendKind
    pid: number
    threadId: number
    state: WorkerState
    usage: number
  }[]
  /** `null` with `recordTiming: false` and before the first answer. */
  waitTime: DurationStats | null
  runTime: DurationStats | null
  /** The cost of each handler that workers measured. Empty with `recordTiming: false` and for inline workers. */
  handlers: HandlerStats[]
  /** The mean cost of a task on the pool's thread, in milliseconds. `null` until measured. */
  handOverMs: number | null
  /** Where the pool's workers live. */
  backend: BackendKind
  /** How tasks reach the workers: shared memory, messages between threads, a pipe to a process, or the same thread. */
  transport: 'shared-memory' | 'messages' | 'pipe' | 'inline'
  /** Why not through shared memory; `null` where they do. */
  transportReason: TransportReason | null
}

export function durationStats(summary: DurationSummary | undefined): DurationStats | null {
  if (summary === undefined || summary.count === 0) return null
  return {
    count: summary.count,
    minMs: summary.min,
    meanMs: summary.mean,
    p50Ms: summary.percentile(50),
    p99Ms: summary.percentile(99),
    maxMs: summary.max,
  }
}

export function workerStats(view: WorkerView): PoolStats['workers'][number] {
  const { id, backend, pid, threadId, state, usage } = view
  return { id, backend, pid, threadId, state, usage }
}
