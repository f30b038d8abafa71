// The statistics of a pool: the properties that count, and the snapshot of `pool.stats()`.
import type { DurationStats, DurationSummary, PoolHistogram } from '../../api/durations.js'
import type { PoolFigures } from '../../api/figures.js'
import type { HandlerStats, PoolStats, WorkerStats } from '../../api/stats.js'
import type { WorkerStopReason } from '../../api/worker-view.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { LargeResults } from '../lane/large-results.js'
import { type DurationMetrics, poolHistogram } from '../metrics/duration-metrics.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import { type HandlerTasks, keyOf } from '../metrics/handler-tasks.js'
import type { TaskMetrics } from '../metrics/task-metrics.js'
import type { CoreSettings } from '../options/settings.js'
import { transportOf, transportReason } from '../options/transport.js'
import type { GroupQueue } from '../queue/group-queue.js'
import type { Pump } from '../scheduler/pump.js'
import type { Requeue } from '../scheduler/requeue.js'
import type { WaitingTasks } from '../scheduler/waiting.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { BackPressure } from './back-pressure.js'
import type { PoolLife } from './pool-life.js'

export interface StatsParts {
  /** The number of the pool. */
  id: number
  settings: CoreSettings
  clock: Clock
  life: PoolLife
  taskMetrics: TaskMetrics
  handlerTasks: HandlerTasks
  /** `null`: the pool does not measure times. */
  durationMetrics: DurationMetrics | null
  handlerMetrics: HandlerMetrics | null
  pump: Pump
  waiting: WaitingTasks
  /** `null` without the option `groups`. */
  groups: GroupQueue | null
  requeue: Requeue
  largeResults: LargeResults
  group: WorkerGroup
  backPressure: BackPressure
}

export class Stats {
  readonly histogram: PoolHistogram
  readonly #parts: StatsParts
  readonly #startedAt: number
  readonly #ended = new Map<WorkerStopReason, PoolStats['endedWorkers'][number]>()
  /** The sum over the workers that have ended. */
  #endedCpuMs = 0
  #slots: number
  /** The sum of the lifetimes of all slots until the last `resize()`. */
  #earlierSlotMs = 0
  #resizedAt: number

  constructor(parts: StatsParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.now()
    this.#slots = slotsOf(parts.settings)
    this.#resizedAt = this.#startedAt
    this.histogram = poolHistogram(parts.durationMetrics)
  }

  /** Call it when the size of the pool has changed. */
  onResized(): void {
    this.#earlierSlotMs = this.#slotMs
    this.#resizedAt = this.#parts.clock.now()
    this.#slots = slotsOf(this.#parts.settings)
  }

  /** Call it when a worker has ended or stops. */
  onWorkerEnded({ view, cpuMs }: Worker): void {
    const { memoryMb } = view
    const reason = view.stopReason!
    this.#endedCpuMs += cpuMs ?? 0
    const count = (this.#ended.get(reason)?.count ?? 0) + 1
    this.#ended.set(reason, { reason, count, memoryMb })
  }

  get durationMs(): number {
    return this.#parts.clock.now() - this.#startedAt
  }

  get utilization(): number {
    const { durationMetrics } = this.#parts
    const slotMs = this.#slotMs
    if (durationMetrics === null || slotMs === 0) return 0
    return Math.min(durationMetrics.totalRunMs / slotMs, 1)
  }

  get #slotMs(): number {
    return this.#earlierSlotMs + (this.#parts.clock.now() - this.#resizedAt) * this.#slots
  }

  get completed(): number {
    return this.#parts.taskMetrics.completed
  }

  get queueSize(): number {
    return this.#parts.backPressure.waiting
  }

  get needsDrain(): boolean {
    return this.#parts.backPressure.needsDrain
  }

  /** Counts every task once, also a task between two workers. */
  get #tasks(): { waiting: number; inFlight: number } {
    const { pump, requeue, largeResults } = this.#parts
    const { waiting, inFlight } = pump.counts
    let between = 0
    for (const task of requeue.failed) if (task.state === 'failed') between++
    return { waiting, inFlight: inFlight + largeResults.count + between }
  }

  snapshot(): PoolStats {
    const { id, settings, life, taskMetrics, durationMetrics, handlerMetrics, group, waiting, groups } =
      this.#parts
    const { oldestMs, waitingFor } = waiting.snapshot()
    return {
      id,
      label: settings.label,
      state: life.state,
      durationMs: this.durationMs,
      utilization: this.utilization,
      tasks: { ...taskMetrics.snapshot(), ...this.#tasks },
      queue: { size: this.queueSize, limit: settings.maxQueue, needsDrain: this.needsDrain, oldestMs },
      waitingFor,
      workers: group.workers.map(worker => this.#workerStats(worker)),
      endedWorkers: [...this.#ended.values()].map(entry => ({ ...entry })),
      waitTime: durationStats(durationMetrics?.waitTime),
      runTime: durationStats(durationMetrics?.runTime),
      handlers: this.#handlerStats(),
      groups: groups?.stats() ?? [],
      handOverMs: handlerMetrics?.handOverMs ?? null,
      backend: settings.backend,
      transport: transportOf(settings),
      transportReason: transportReason(settings),
    }
  }

  /** For exporters of metrics. */
  get figures(): PoolFigures {
    const { handlerTasks, durationMetrics, group } = this.#parts
    const measured = group.workers.map(({ cpuMs }) => cpuMs)
    const isMeasured = this.#endedCpuMs > 0 || measured.some(cpuMs => cpuMs !== null)
    return {
      waitTime: durationMetrics?.waitTime ?? null,
      runTimes: [...handlerTasks.named].map(({ filename, name, runTime: durations }) => ({
        filename,
        name,
        durations,
      })),
      cpuMs: isMeasured
        ? measured.reduce<number>((sum, cpuMs) => sum + (cpuMs ?? 0), this.#endedCpuMs)
        : null,
    }
  }

  #handlerStats(): HandlerStats[] {
    const { handlerTasks, handlerMetrics } = this.#parts
    return [...handlerTasks.named].map(({ filename, name, fulfilled, rejected, cancelled, runTime }) => {
      const cost = handlerMetrics?.costs.get(keyOf({ filename, name }))
      return {
        filename,
        name,
        fulfilled,
        rejected,
        cancelled,
        p50Ms: runTime.count === 0 ? null : runTime.percentile(50),
        p99Ms: runTime.count === 0 ? null : runTime.percentile(99),
        measured: cost?.measured ?? 0,
        runMs: cost?.runMs ?? null,
        activeMs: cost?.activeMs ?? null,
        cpuMs: cost?.cpuMs ?? null,
      }
    })
  }

  #workerStats(worker: Worker): WorkerStats {
    const { clock, durationMetrics, settings } = this.#parts
    const { id, backend, pid, threadId, state, usage, memoryMb } = worker.view
    const { heapBytes, cpuMs, answers: answered, replaced } = worker
    const ageMs = clock.now() - worker.startedAt
    const slotMs = ageMs * settings.concurrentTasksPerWorker
    return {
      id,
      backend,
      pid,
      threadId,
      state,
      usage,
      memoryMb,
      heapMb: heapBytes === null ? null : heapBytes / 2 ** 20,
      cpuMs,
      answered,
      busy: durationMetrics === null ? null : slotMs === 0 ? 0 : Math.min(worker.runMs / slotMs, 1),
      ageMs,
      replaced,
    }
  }
}

export function slotsOf({ size, concurrentTasksPerWorker }: CoreSettings): number {
  return size.maxWorkers * concurrentTasksPerWorker
}

function durationStats(summary: DurationSummary | undefined): DurationStats | null {
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
