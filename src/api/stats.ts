// The figures of a pool.
import type { DurationStats } from './durations.js'
import type { BackendKind, WorkerState, WorkerStopReason } from './worker-view.js'

/** Counts of tasks since the pool was created. */
export interface TaskCounts {
  /** Tasks that the pool accepted. Calls that it refused do not count. */
  accepted: number
  /** Settled tasks that a worker had, whatever their outcome. */
  completed: number
  /** Tasks whose call resolved. */
  fulfilled: number
  /** Tasks whose call rejected. Cancelled tasks do not count. */
  rejected: number
  /** Tasks that a signal or a time limit cancelled. */
  cancelled: number
}

/**
 * One handler: its settled tasks and its cost. `runMs`, `activeMs` and `cpuMs` are means over the tasks that workers measured, in
 * milliseconds. Workers measure a sample of short tasks.
 */
export interface HandlerStats {
  /** The absolute path of the handler's module. */
  filename: string
  /** The name of the export. */
  name: string
  /** Tasks whose call resolved. */
  fulfilled: number
  /** Tasks whose call rejected. Cancelled tasks do not count. */
  rejected: number
  /** Tasks that a signal or a time limit cancelled. */
  cancelled: number
  /** The run time that half of the answered tasks did not exceed. `null` with `recordTiming: false` and before the first answer. */
  p50Ms: number | null
  /** The same for 99 % of the answered tasks. */
  p99Ms: number | null
  /** How many tasks the workers measured. */
  measured: number
  /** From the call of the handler to its end. `null` until measured. */
  runMs: number | null
  /** The part of `runMs` in which the worker's event loop was not idle. Synchronous I/O counts as active. `null` until measured. */
  activeMs: number | null
  /** The part of `runMs` in which the worker's thread used a core. `null` until measured, and where Node.js cannot measure it. */
  cpuMs: number | null
}

/**
 * Why the oldest waiting task does not run.
 * - `worker starting`: a worker starts, and no other one has a free slot
 * - `all busy`: every slot is used, and the pool has `maxWorkers` workers
 * - `circuit open`: all slots are used, and the pool pauses before the next start, because starts failed
 * - `worker stopping`: all slots are used, and no worker may start before another one has ended
 * - `exclusive task`: a task with `exclusive: true` needs a whole worker, or has one
 * - `key`: a task with the same `key` runs
 * - `group limit`: its group has as many running tasks as the option `groups.limit` allows
 * - `load balancer`: a worker has a free slot, and the load balancer did not choose it
 * - `broadcast`: a call of `broadcast()` waits for a busy worker
 * - `worker blocked`: a worker has a free slot, and its thread is too busy to take the task
 */
export type WaitReason =
  | 'worker starting'
  | 'all busy'
  | 'circuit open'
  | 'worker stopping'
  | 'exclusive task'
  | 'key'
  | 'group limit'
  | 'load balancer'
  | 'broadcast'
  | 'worker blocked'

/** One group of tasks, with the option `groups`. */
export interface GroupStats {
  /** The option `group` of its calls. `''`: the tasks without a group. */
  group: string
  /** Tasks in the queue, also tasks that wait for the limit of the group. */
  size: number
  /** Tasks that the host gave to the workers: running ones, the next ones, and cancelled ones whose handler still runs. */
  running: number
  /** The time from the call to the start that 99 % of the answered tasks did not exceed, in milliseconds. `null` before the first answer, and with `recordTiming: false`. */
  waitP99Ms: number | null
  /** 0 to 1: the run time of the group, divided by that of all groups. Covers about the last 10 seconds. `null` before the first answer. */
  share: number | null
}

/** One worker in a snapshot. */
export interface WorkerStats {
  /** Counts from 1 in the pool. */
  id: number
  /** The pool's option `backend`. */
  backend: BackendKind
  /** The id of the process in which the worker runs. */
  pid: number
  /** Node's id of the thread; -1 for a process. */
  threadId: number
  /** What the worker does now. */
  state: WorkerState
  /** How many slots are taken. */
  usage: number
  /** MiB of heap and buffers, as last measured; `null` before that. */
  memoryMb: number | null
  /** MiB of heap, as last measured; `null` before that. */
  heapMb: number | null
  /** How long the worker's thread or process has used cores, as last measured. `null` before that and where Node.js cannot measure it. */
  cpuMs: number | null
  /** Tasks that the worker has answered. */
  answered: number
  /** 0 to 1: the run time of these tasks, divided by the time of the worker's slots. `null` with `recordTiming: false`. */
  busy: number | null
  /** Milliseconds since the worker was started. */
  ageMs: number
  /** Why the worker stopped whose place this one took. `null`: it took no place. */
  replaced: WorkerStopReason | null
}

/** The option that rules out shared memory. */
export type TransportReason = 'backend' | 'transport' | 'loadBalancer'

/** A plain snapshot of a pool: objects, arrays, numbers and strings. */
export interface PoolStats {
  /** Counts from 1 in the thread that created the pool. */
  id: number
  /** The option `label`. */
  label: string
  /** Whether the pool accepts tasks. */
  state: PoolState
  /** Milliseconds since the pool was created. */
  durationMs: number
  /** 0 to 1: the time in which tasks ran, divided by the time of all slots. */
  utilization: number
  /** `waiting`: queued tasks. `inFlight`: tasks that have a slot, and tasks whose large result the host is reading. */
  tasks: TaskCounts & { waiting: number; inFlight: number }
  /**
   * `size`: tasks for which no slot is free. `limit`: `maxQueue`. `oldestMs`: the age of the oldest task that no worker has; `null` without
   * one.
   */
  queue: { size: number; limit: number; needsDrain: boolean; oldestMs: number | null }
  /** Why this oldest task does not run. `null`: no task waits, or the task is on its way to a worker. */
  waitingFor: WaitReason | null
  /** The workers that are starting or ready. */
  workers: WorkerStats[]
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
   * The handlers of settled tasks, at most 256. With `recordTiming: false`, they have only counts. Workers do not measure handlers of
   * inline workers.
   */
  handlers: HandlerStats[]
  /** The groups with tasks, and groups that had tasks lately: at most 256, those with the most run time first. Empty without `groups`. */
  groups: GroupStats[]
  /** The mean cost of a task on the host, in milliseconds. `null` until measured. */
  handOverMs: number | null
  /** Where the handlers run. */
  backend: BackendKind
  /** How tasks reach the workers. `'pipe'`: processes. */
  transport: 'shared-memory' | 'messages' | 'pipe' | 'inline'
  /** The option that rules out shared memory. `null`: tasks travel through shared memory. */
  transportReason: TransportReason | null
}

/** `closing`: `close()` or `destroy()` was called. `closed`: all workers have ended. */
export type PoolState = 'open' | 'closing' | 'closed'
