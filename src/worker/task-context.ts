// What a handler is given beside its payload: how it learns that nobody wants its answer any more.

/** The second argument of a handler. Take its members from it when they are needed: `cancelled` changes. */
export interface TaskContext {
  /**
   * Aborts when the task is cancelled, with the reason of the caller's signal, or, of a limit, with an error whose `name` is
   * `TimeoutError`; of the caller's `TaskTimeoutError` it has the fields, not the class.
   * For `fetch()`, streams, timers: it is told by a message, so a handler that blocks its thread does not hear of it.
   */
  readonly signal: AbortSignal
  /** The task is cancelled. Read from memory shared with the host, so a handler that never awaits sees it as well. */
  readonly cancelled: boolean
  /** Throws `TaskCancelledError` once the task is cancelled; `reason` is there as soon as `signal` would have it. */
  throwIfCancelled(): void
}

/** A handler: what a pool's file exports. */
export type Handler<Payload = any, Result = unknown> = (
  payload: Payload,
  context: TaskContext,
) => Result | Promise<Result>
