// A queued task as programs see it.

/** A task, as queues and load balancers see it. Some fields are getters: name the fields that you copy. */
export interface QueuedTask {
  /** The number of the task in its pool. */
  readonly id: number
  /** The absolute path of the handler's module. */
  readonly filename: string
  /** The name of the export that is the handler. */
  readonly name: string
  /**
   * The payload as the caller gave it. The worker gets the copy that was made at the call. `undefined` in `worker.tasks` when the pool has
   * neither a queue nor a load balancer of the program.
   */
  readonly payload: unknown
  /** The option `priority` of the call. */
  readonly priority: number
  /** The option `key` of the call; `null` without one. */
  readonly key: string | null
  /** The option `group` of the call; `null` without one. */
  readonly group: string | null
  /** The option `queueOptions` of the call. */
  readonly queueOptions: unknown
  /** The time of the call in milliseconds, as `performance.now()` gives it. */
  readonly createdAt: number
  /** The option `signal` of the call. */
  readonly signal: AbortSignal | null
}
