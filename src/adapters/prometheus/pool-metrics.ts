// The metrics of pools: names, and how each follows from `pool.stats()`.
import type { Pool, PoolStats, WaitReason } from '../../index.js'
import { figuresOf } from '../../kit.js'
import type { Metric } from './register.js'
import type { Samples } from './samples.js'

export interface Definition {
  readonly name: string
  readonly type: Metric['type']
  readonly help: string
}

const counter = (name: string, help: string): Definition => ({ name, type: 'counter', help })
const gauge = (name: string, help: string): Definition => ({ name, type: 'gauge', help })
const histogram = (name: string, help: string): Definition => ({ name, type: 'histogram', help })

export const definitions: readonly Definition[] = [
  counter('tasks_accepted_total', 'Tasks that the pool accepted.'),
  counter('tasks_total', 'Settled tasks, by outcome: fulfilled, rejected or cancelled.'),
  gauge('tasks_waiting', 'Queued tasks, and tasks that wait for a starting worker.'),
  gauge('tasks_in_flight', 'Tasks that have a slot.'),
  histogram('task_wait_seconds', 'Time from the call until a worker starts the task.'),
  histogram('task_run_seconds', 'Time from the start of the task in a worker until its answer.'),
  gauge('queue_size', 'Tasks for which no slot is free.'),
  gauge('queue_limit', 'The option maxQueue.'),
  gauge('queue_oldest_seconds', 'Age of the oldest task that no worker has. 0 without one.'),
  gauge('waiting_for', '1 for the reason why the oldest waiting task does not run.'),
  gauge('pools', 'Open pools with this label.'),
  gauge('slots', 'Tasks that may run at once: maxWorkers times concurrentTasksPerWorker.'),
  gauge('utilization_ratio', 'Run time of all tasks divided by the time of all slots.'),
  gauge('workers', 'Workers, by state: spawning or ready.'),
  gauge('worker_memory_bytes', 'Heap and buffers of all workers, as last measured.'),
  gauge('worker_memory_max_bytes', 'Heap and buffers of the largest worker, as last measured.'),
  gauge('worker_heap_bytes', 'Heap of all workers, as last measured.'),
  gauge('worker_age_max_seconds', 'Age of the oldest worker.'),
  counter('worker_cpu_seconds_total', 'Time for which workers used cores.'),
  counter('workers_ended_total', 'Workers that stopped, by reason.'),
  gauge('handler_active_ratio', "Part of the run time in which the worker's event loop was not idle."),
  gauge('handler_cpu_ratio', 'Part of the run time in which the worker used a core.'),
  gauge('hand_over_seconds', 'Mean time that the host needs for one task.'),
]

/** Closed pools count in these. */
export const totalNames: readonly string[] = definitions
  .filter(({ type }) => type !== 'gauge')
  .map(({ name }) => name)

const reasons: readonly WaitReason[] = [
  'worker starting',
  'all busy',
  'circuit open',
  'worker stopping',
  'exclusive task',
  'key',
  'group limit',
  'load balancer',
  'broadcast',
  'worker blocked',
]
const MIB = 2 ** 20

/** Adds the figures of a pool. */
export function addPool(pool: Pool, samples: Samples): void {
  const stats = pool.stats()
  const labels = { pool: stats.label }
  const slots = pool.maxWorkers * pool.options.concurrentTasksPerWorker
  samples.add('tasks_accepted_total', labels, stats.tasks.accepted)
  samples.add('tasks_waiting', labels, stats.tasks.waiting)
  samples.add('tasks_in_flight', labels, stats.tasks.inFlight)
  samples.add('queue_size', labels, stats.queue.size)
  samples.add('queue_limit', labels, stats.queue.limit)
  samples.max('queue_oldest_seconds', labels, (stats.queue.oldestMs ?? 0) / 1000)
  for (const reason of reasons)
    samples.max('waiting_for', { ...labels, reason }, stats.waitingFor === reason ? 1 : 0)
  samples.add('pools', labels, 1)
  samples.add('slots', labels, slots)
  samples.mean('utilization_ratio', labels, stats.utilization, stats.durationMs * slots)
  if (stats.handOverMs !== null) samples.mean('hand_over_seconds', labels, stats.handOverMs / 1000, 1)
  addWorkers(stats, samples)
  addHandlers(pool, stats, samples)
}

function addWorkers({ label, workers, endedWorkers }: PoolStats, samples: Samples): void {
  const labels = { pool: label }
  for (const state of ['spawning', 'ready'])
    samples.add('workers', { ...labels, state }, workers.filter(worker => worker.state === state).length)
  for (const { memoryMb, heapMb, ageMs } of workers) {
    samples.max('worker_age_max_seconds', labels, ageMs / 1000)
    if (memoryMb === null || heapMb === null) continue
    samples.add('worker_memory_bytes', labels, memoryMb * MIB)
    samples.add('worker_heap_bytes', labels, heapMb * MIB)
    samples.max('worker_memory_max_bytes', labels, memoryMb * MIB)
  }
  for (const { reason, count } of endedWorkers)
    samples.add('workers_ended_total', { ...labels, reason }, count)
}

function addHandlers(pool: Pool, { label, handlers }: PoolStats, samples: Samples): void {
  const { waitTime, runTimes, cpuMs } = figuresOf(pool)
  const labelsOf = (handler: { filename: string; name: string }) => ({
    pool: label,
    file: shortPath(handler.filename),
    handler: handler.name,
  })
  if (cpuMs !== null) samples.add('worker_cpu_seconds_total', { pool: label }, cpuMs / 1000)
  if (waitTime !== null) samples.durations('task_wait_seconds', { pool: label }, waitTime)
  if (waitTime !== null)
    for (const handler of runTimes)
      samples.durations('task_run_seconds', labelsOf(handler), handler.durations)
  for (const handler of handlers) {
    const labels = labelsOf(handler)
    for (const outcome of ['fulfilled', 'rejected', 'cancelled'] as const)
      samples.add('tasks_total', { ...labels, outcome }, handler[outcome])
    const { measured, runMs, activeMs, cpuMs: usedMs } = handler
    if (runMs === null || runMs === 0) continue
    samples.mean('handler_active_ratio', labels, activeMs! / runMs, measured * runMs)
    if (usedMs !== null) samples.mean('handler_cpu_ratio', labels, usedMs / runMs, measured * runMs)
  }
}

/** The path from the working directory on, if the file is in it. */
function shortPath(filename: string): string {
  const folder = process.cwd()
  return filename.startsWith(folder) ? filename.slice(folder.length + 1).replaceAll('\\', '/') : filename
}
