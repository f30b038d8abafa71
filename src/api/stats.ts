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

/** The cost of one handler: means over the measured tasks, in milliseconds. Short tasks are sampled. */
export interface HandlerStats {
  /** The absolute path of the handler's module. */
  filename: string
  /** The name of the export. */
  name: string
  /** How many tasks the workers measured. */
  measured: number
  /** From the call of the handler to its end. */
  runMs: number
  /** The part of `runMs` in which the worker's event loop was not idle. Synchronous I/O counts as active. */
  activeMs: number
  /** The part of `runMs` in which the worker's thread used a core. `null` before Node 24, which cannot measure it. */
  cpuMs: number | null
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

/** `closing`: `close()` or `destroy()` was called. `closed`: all workers have ended. */
export type PoolState = 'open' | 'closing' | 'closed'
