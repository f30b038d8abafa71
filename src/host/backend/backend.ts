// The port of a backend: where a worker lives. A kind of it starts one and hands out a link; it decides nothing.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import type { ToHost, ToWorker, WorkerOrder } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import type { BackendKind } from './backend-kind.js'

export interface WorkerSpec extends WorkerOrder {
  /** What `worker_threads.Worker` is given, as the user gave it. */
  workerOptions: Record<string, unknown>
}

/** Handed down when a worker is started; called from the host's event loop only. */
export interface LinkListener {
  onMessage(message: ToHost): void
  /** An answer arrived that could not be read. */
  onUnreadable(): void
  /** The user's own traffic on the parent port. */
  onUserMessage(value: unknown): void
  /**
   * The worker ended. `error` is what it died of, where it said so; `signal` what ended its process, if it was one. Nothing
   * is called after this.
   */
  onExit(exitCode: number, error: unknown, signal?: NodeJS.Signals | null): void
}

/** One open link to a started worker. It never keeps the process alive. */
export interface WorkerLink {
  readonly kind: BackendKind
  readonly thread: Worker | null
  readonly process: ChildProcess | null
  /** -1 for a worker that is no thread of this process. */
  readonly threadId: number
  post(message: ToWorker, transferList?: readonly TransferItem[]): void
  /** Kills the worker, where it can be killed; `onExit` follows. */
  terminate(): void
}

export interface Backend {
  /**
   * Begins the next `start`, which will be given the same options: a thread needs longest to come to life, and the rest of its
   * pool can be made meanwhile. What no `start` has taken when this turn's work is over ends. Throws as `start` does.
   */
  startAhead?(workerOptions: Record<string, unknown>): void
  /** Throws what the runtime throws when the options are wrong or no worker can be had. */
  start(spec: WorkerSpec, listener: LinkListener): WorkerLink
}
