// The port of a backend: where a worker lives. A kind of it starts one and hands out a link; it decides nothing.
import type { Handler, RoadOrder, ToHost, ToWorker, WorkerLimits } from '../../shared/protocol/messages.js'
import type { TransferItem } from '../../shared/protocol/move.js'

export interface WorkerSpec {
  road: RoadOrder
  preload: Handler | null
  niceIncrement: number
  limits: WorkerLimits | null
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
  /** The thread ended. `error` is what it died of, where it said so. Nothing is called after this. */
  onExit(exitCode: number, error: unknown): void
}

/** One open link to a started worker. It never keeps the process alive. */
export interface WorkerLink {
  readonly thread: import('node:worker_threads').Worker
  readonly threadId: number
  post(message: ToWorker, transferList?: readonly TransferItem[]): void
  /** Kills the worker; `onExit` follows. */
  terminate(): void
}

export interface Backend {
  /** Throws what the runtime throws when the options are wrong or no worker can be had. */
  start(spec: WorkerSpec, listener: LinkListener): WorkerLink
}
