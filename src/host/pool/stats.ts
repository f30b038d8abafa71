// A plain snapshot of a pool. Users can log, send and compare it.
import type { BackendKind } from '../backend/backend-kind.js'
import type { TaskCounts } from '../metrics/counters.js'
import type { HandlerStats } from '../metrics/handler-metrics.js'
import type { DurationSummary } from '../metrics/histogram.js'
import type { WorkerState, WorkerStopReason, WorkerView } from '../workers/worker-view.js'
import type { PoolState } from './pool-life.js'

/** Durations in milliseconds, summed up. */
export interface DurationStats {
  /** Recorded tasks. */
  count: number
  minMs: number
  meanMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** The option that rules out shared memory. */
export type TransportReason = 'backend' | 'transport' | 'loadBalancer'

/** A plain snapshot of a pool: objects, arrays, numbers and strings. */
export interface PoolStats {
  /** The option `label`. */
  label: string
  state: PoolState
  /** Milliseconds since the pool was created. */
  durationMs: number
  /** 0 to 1: the time in which tasks ran, divided by the time of all slots. */
  utilization: number
  /** `waiting`: queued tasks. `inFlight`: tasks that have a slot, and tasks whose large result the host is reading. */
  tasks: TaskCounts & { waiting: number; inFlight: number }
  /** `size`: tasks for which no slot is free. `limit`: `maxQueue`. */
  queue: { size: number; limit: number; needsDrain: boolean }
  /** The workers that are starting or ready. */
  workers: {
    id: number
    backend: BackendKind
    pid: number
    threadId: number
    state: WorkerState
    usage: number
    /** MiB of heap and buffers, as last measured; `null` before that. */
    memoryMb: number | null
  }[]
  /** The workers that have ended or stop, one entry for each reason. `memoryMb` is that of the last one. */
  endedWorkers: { reason: WorkerStopReason; count: number; memoryMb: number | null }[]
  /**
   * From the call of `run()` until a worker starts the task. `null` with `recordTiming: false` and before the first
   * answer.
   */
  waitTime: DurationStats | null
  /** From the start of the task in a worker until its answer. `null` as `waitTime`. */
  runTime: DurationStats | null
  /**
   * The cost of each handler that workers measured, at most 256. Empty with `recordTiming: false` and for inline
   * workers.
   */
  handlers: HandlerStats[]
  /** The mean cost of a task on the host, in milliseconds. `null` until measured. */
  handOverMs: number | null
  /** Where the handlers run. */
  backend: BackendKind
  /** How tasks reach the workers. `'pipe'`: processes. */
  transport: 'shared-memory' | 'messages' | 'pipe' | 'inline'
  /** The option that rules out shared memory. `null`: tasks travel through shared memory. */
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
  const { id, backend, pid, threadId, state, usage, memoryMb } = view
  return { id, backend, pid, threadId, state, usage, memoryMb }
}

/** Counts the workers that have ended or stop. */
export class EndedWorkers {
  readonly #byReason = new Map<WorkerStopReason, PoolStats['endedWorkers'][number]>()

  add({ stopReason, memoryMb }: WorkerView): void {
    const reason = stopReason!
    const count = (this.#byReason.get(reason)?.count ?? 0) + 1
    this.#byReason.set(reason, { reason, count, memoryMb })
  }

  list(): PoolStats['endedWorkers'] {
    return [...this.#byReason.values()].map(entry => ({ ...entry }))
  }
}
