// The metrics of pools: times of tasks by their events, and counts that are read from the pools when metrics are collected.
import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api'
import type { TaskMessage, WorkerMessage } from '../../index.js'
import { listPools } from '../../kit.js'
import * as attributes from './attributes.js'

/** In seconds. A task of a pool takes from some microseconds to minutes. */
const BOUNDARIES = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]
/** Names come from callers, and may come from a queue. Further ones count as one. */
const MOST_NAMES = 256
const OTHER_NAME = 'other'

interface PoolCounts {
  waiting: number
  readonly workers: { starting: number; idle: number; busy: number }
}

export class PoolMetrics {
  readonly #names = new Set<string>()
  /** Also of closed pools: the SDK repeats the last count of a series that it once got. */
  readonly #labels = new Set<string>()
  #instruments: ReturnType<typeof createInstruments>
  #meter: Meter
  #isActive = false

  constructor(meter: Meter) {
    this.#meter = meter
    this.#instruments = createInstruments(meter)
  }

  set meter(meter: Meter) {
    const isActive = this.#isActive
    if (isActive) this.stop()
    this.#meter = meter
    this.#instruments = createInstruments(meter)
    if (isActive) this.start()
  }

  start(): void {
    this.#isActive = true
    this.#meter.addBatchObservableCallback(this.#observe, this.#observables)
  }

  stop(): void {
    this.#isActive = false
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observables)
  }

  onWorkerExit({ pool, reason }: WorkerMessage): void {
    this.#instruments.exits.add(1, {
      [attributes.POOL_NAME]: pool.label,
      ...(reason !== undefined && { [attributes.EXIT_REASON]: reason }),
    })
  }

  onSettled({ pool, name, outcome, waitMs, runMs }: TaskMessage): void {
    if (waitMs === undefined) return
    const about: Attributes = {
      [attributes.POOL_NAME]: pool.label,
      [attributes.FUNCTION_NAME]: this.#bounded(name),
      [attributes.TASK_OUTCOME]: outcome!,
    }
    this.#instruments.waitTime.record(waitMs / 1000, about)
    if (runMs !== undefined) this.#instruments.runTime.record(runMs / 1000, about)
  }

  #bounded(name: string): string {
    if (this.#names.has(name)) return name
    if (this.#names.size >= MOST_NAMES) return OTHER_NAME
    this.#names.add(name)
    return name
  }

  get #observables(): Observable[] {
    const { pending, workers } = this.#instruments
    return [pending, workers]
  }

  readonly #observe = (result: BatchObservableResult): void => {
    const { pending, workers } = this.#instruments
    for (const [label, counts] of this.#countsByLabel()) {
      const about = { [attributes.POOL_NAME]: label }
      result.observe(pending, counts.waiting, about)
      for (const [state, count] of Object.entries(counts.workers)) {
        result.observe(workers, count, { ...about, [attributes.WORKER_STATE]: state })
      }
    }
  }

  /** Pools with one label are one series, so their counts are added. */
  #countsByLabel(): Map<string, PoolCounts> {
    const all = listPools().map(pool => pool.stats())
    for (const { label } of all) this.#labels.add(label)
    const counts = new Map<string, PoolCounts>()
    for (const label of this.#labels) {
      counts.set(label, { waiting: 0, workers: { starting: 0, idle: 0, busy: 0 } })
    }
    for (const { label, tasks, workers } of all) {
      const sum = counts.get(label)!
      sum.waiting += tasks.waiting
      for (const { state, usage } of workers) {
        sum.workers[state === 'ready' ? (usage > 0 ? 'busy' : 'idle') : 'starting']++
      }
    }
    return counts
  }
}

function createInstruments(meter: Meter) {
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } }
  return {
    waitTime: meter.createHistogram('lido.task.wait_time', {
      ...seconds,
      description: 'Time from the call until a worker started the task.',
    }),
    runTime: meter.createHistogram('lido.task.run_time', {
      ...seconds,
      description: 'Time from the start of the task in a worker until its answer.',
    }),
    pending: meter.createObservableUpDownCounter('lido.task.pending', {
      unit: '{task}',
      description: 'Tasks that wait for a worker.',
    }),
    workers: meter.createObservableUpDownCounter('lido.worker.count', {
      unit: '{worker}',
      description: 'Workers of the pool, by state.',
    }),
    exits: meter.createCounter('lido.worker.exits', {
      unit: '{worker}',
      description: 'Workers that have ended, by reason.',
    }),
  }
}
