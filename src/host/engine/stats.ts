import type { DurationStats, DurationSummary } from '../../api/durations.js'
import type { PoolStats } from '../../api/stats.js'
import type { WorkerStopReason, WorkerView } from '../../api/worker-view.js'

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
