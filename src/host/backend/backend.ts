// The interface of a backend. A backend starts workers of one kind (threads, processes, inline) and returns a link to each.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import type { LaneOrder, ToHost, ToWorker, WorkerOrder } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import type { BackendKind } from './backend-kind.js'

export interface WorkerSpec extends WorkerOrder {
  lane: LaneOrder
  /** The options of `worker_threads.Worker`, from the user's options. */
  workerOptions: Record<string, unknown>
}

/** Given to the backend when a worker is started. Called from the host's event loop only. */
export interface LinkListener {
  onMessage(message: ToHost): void
  /** A message of the worker could not be read. */
  onUnreadable(): void
  /** The handler's module sent a message over its parent port. */
  onUserMessage(value: unknown): void
  /**
   * The worker ended. This is the last call.
   * @param error the runtime's error, if it names one
   * @param signal the signal that ended the process, if one did
   */
  onExit(exitCode: number, error: unknown, signal?: NodeJS.Signals | null): void
}

/** The connection to a started worker. It does not keep the host's process alive. */
export interface WorkerLink {
  readonly kind: BackendKind
  readonly thread: Worker | null
  readonly process: ChildProcess | null
  /** -1 for a process and for a thread that has ended. */
  readonly threadId: number
  post(message: ToWorker, transferList?: readonly TransferItem[]): void
  /** Kills the worker. `onExit` follows. An inline worker cannot be killed: it ends for the pool, and its handlers run on. */
  terminate(): void
}

export interface Backend {
  /**
   * Starts a thread early, so that it starts while the pool is built. The next `start`, which gets the same options, uses it. A
   * thread that is not used within this turn of the event loop is ended. Throws what `start` throws.
   */
  startAhead?(workerOptions: Record<string, unknown>): void
  /** Throws what the runtime throws when an option is wrong or the system refuses. */
  start(spec: WorkerSpec, listener: LinkListener): WorkerLink
}
