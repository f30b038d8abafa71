// The port of whoever is above the supervisor: what it is told of workers.
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { WorkerHandle } from './worker-handle.js'

/** Why a worker is no more. `error` is for the tasks that it had begun. */
export interface Death {
  wasReady: boolean
  error: unknown
}

export interface SupervisorListener {
  onReady(worker: WorkerHandle): void
  onMessage(worker: WorkerHandle, message: ToHost): void
  onUnreadable(worker: WorkerHandle): void
  /** The worker is given up by the pool's own will; its tasks must go. */
  onGivenUp(worker: WorkerHandle, error: PoolError): void
  /** The worker is to leave: what it has not begun must go, except what was given away to it for good. */
  onLeaving(worker: WorkerHandle): void
  /** Something of the worker's went wrong that is no caller's. */
  onTrouble(error: unknown): void
  /** The worker that was given up has ended. */
  onGone(worker: WorkerHandle): void
  /** The worker died. */
  onLost(worker: WorkerHandle, death: Death): void
  /** Workers may be started again after some failed. */
  onPauseOver(): void
  onUserMessage(worker: WorkerHandle, value: unknown): void
  onCreated(worker: WorkerHandle): void
  onDestroyed(worker: WorkerHandle): void
}
