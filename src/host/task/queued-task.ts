// What a queue or a load balancer sees of a task.
export interface QueuedTask {
  readonly id: number
  readonly filename: string
  readonly name: string
  readonly payload: unknown
  /** Higher first; read by `PriorityQueue`. */
  readonly priority: number
  /** What the caller gave for a queue of the user's own. */
  readonly queueOptions: unknown
  /** Milliseconds on the clock of `performance.now()`. */
  readonly createdAt: number
  /** The call's signal. */
  readonly signal: AbortSignal | null
}
