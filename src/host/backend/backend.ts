// The interface of a backend. A backend starts workers of one kind (threads, processes, inline) and returns a link to
// each.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import type { TransferItem } from '../../api/call-options.js'
import type { BackendKind } from '../../api/worker-view.js'
import type { LaneOrder, ToHost, ToWorker, WorkerOrder } from '../../shared/messages/messages.js'

export interface WorkerSpec extends WorkerOrder {
  lane: LaneOrder
  /** The options of `worker_threads.Worker`, from the user's options. */
  workerOptions: Record<string, unknown>
}

/** Receives the events of one worker. The backend calls it from the host's event loop. */
export interface LinkListener {
  onMessage(message: ToHost): void
  /** The host could not read a message of the worker. */
  onUnreadable(): void
  /** The handler's module sent a message over its parent port. */
  onUserMessage(value: unknown): void
  /**
   * The worker has ended. This is the last call.
   * @param error the error of the runtime, if there is one
   * @param signal the signal that killed the process, if a signal did
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
  /** Kills the worker. `onExit` follows. The handlers of an inline worker run on, but the pool treats it as ended. */
  terminate(): void
}

export interface Backend {
  /** Throws the error of the runtime when an option is wrong or the system refuses the worker. */
  start(spec: WorkerSpec, listener: LinkListener): WorkerLink
}
