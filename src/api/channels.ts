// The messages of lido's diagnostics channels. Their names and fields are public API.
import type { BackendKind, WorkerStopReason } from './worker-view.js'

/** Names a pool in messages. */
export interface PoolIdentity {
  /** Counts from 1 in the thread that created the pool. */
  readonly id: number
  /** The option `label`. */
  readonly label: string
}

/**
 * A task, in the events of `tracingChannel('lido.task')` on the host. All events of a task have the same object, which is only added to.
 * It never holds the payload.
 */
export interface TaskMessage {
  /** The pool of the task. */
  readonly pool: PoolIdentity
  /** The number of the task in its pool. */
  readonly taskId: number
  /** The absolute path of the handler's file. */
  readonly filename: string
  /** The name of the export. */
  readonly name: string
  /** When the pool accepted the task, in milliseconds as `performance.now()` gives it. */
  readonly createdAt: number
  /** How many accepted tasks had no slot when the pool accepted this one. */
  readonly queueSize: number
  /** 1 for the first attempt. */
  attempt: number
  /** The worker that ran the task last. `undefined` until then. */
  workerId?: number
  /** Node's id of the thread of that worker; -1 for a process. */
  threadId?: number
  /** Milliseconds from `createdAt` until the last worker started the task. `undefined` when no worker started it. */
  waitMs?: number
  /** Milliseconds from that start until the answer. `undefined` when no worker answered. */
  runMs?: number
  /** As the caller saw it. `cancelled`: by a signal, a time limit or `cancelQueued()`. Set before `asyncStart`. */
  outcome?: 'fulfilled' | 'rejected' | 'cancelled'
  /** The value with which the call resolved. */
  result?: unknown
  /** The reason with which the call rejected. */
  error?: unknown
}

/** A call of a handler, in the events of `tracingChannel('lido.handler')` in the worker. */
export interface HandlerMessage {
  /** The pool of the task. */
  readonly pool: PoolIdentity
  /** The number of the task in its pool. */
  readonly taskId: number
  /** The absolute path of the handler's file. */
  readonly filename: string
  /** The name of the export. */
  readonly name: string
  /** The worker that runs the task. */
  readonly workerId: number
  /** Node's id of the thread; -1 for a process. */
  readonly threadId: number
  /** The result of the handler. */
  result?: unknown
  /** The error of the handler. */
  error?: unknown
}

/** A worker, in `channel('lido.worker.start')` and `channel('lido.worker.exit')` on the host. */
export interface WorkerMessage {
  /** The pool of the worker. */
  readonly pool: PoolIdentity
  /** Counts from 1 in the pool. */
  readonly workerId: number
  /** Node's id of the thread; -1 for a process. */
  readonly threadId: number
  /** The id of the process in which the worker runs. */
  readonly pid: number
  /** The pool's option `backend`. */
  readonly backend: BackendKind
  /** Why the worker ended. Only in `lido.worker.exit`. */
  readonly reason?: WorkerStopReason
}

/** A pool, in `channel('lido.pool.open')` and `channel('lido.pool.close')`. */
export interface PoolMessage extends PoolIdentity {
  /** The pool itself, with `stats()`, `trace()` and the rest. */
  readonly pool: object
}
