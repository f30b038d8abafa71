// The types of `lido/worker`.

/** Tells a handler whether its task is cancelled. */
export interface TaskContext {
  /**
   * Aborts when the task is cancelled. Pass it to `fetch()`, streams and timers. The reason is the reason of the caller's signal. After
   * a time limit, it is an error with the name `TimeoutError` and the fields of the caller's `TaskTimeoutError`. A message aborts
   * the signal, so it does not change while a handler blocks its thread.
   */
  readonly signal: AbortSignal
  /**
   * True once the task is cancelled. A thread reads it from shared memory, so it also changes during a loop that never awaits. In a
   * process it changes only after an await.
   */
  readonly cancelled: boolean
  /**
   * When the first time limit of the task ends: of `timeout`, which counts from the start of the task, and `deadline`. `undefined`
   * without limits, and if they are more than 24 days away. Pass it on, for example as the timeout of a query.
   */
  readonly deadline: Date | undefined
  /**
   * Throws a `TaskCancelledError` once the task is cancelled. The `reason` of the error is the reason of `signal`.
   * @see [Cancel tasks and limit their time](https://OWNER.github.io/lido/guides/cancelling.html)
   */
  throwIfCancelled(): void
  /**
   * Sends a value to the `onProgress` function of the caller. Never waits. While the caller has not handled the last value, a new
   * value replaces the one that waits. The newest value arrives before the result. Throws `DataCloneError` for a value that cannot
   * be copied. Without `onProgress`, the value is ignored.
   * @see [Show the progress of a task](https://OWNER.github.io/lido/guides/progress.html)
   */
  progress(value: unknown): void
  /**
   * Calls a function that the caller gave in the option `functions` of its call. Resolves with the result of the function. Rejects
   * with the error that the function throws, with a `TypeError` when there is no function of that name, with `TaskCancelledError`
   * when the task is cancelled, and with `DataCloneError` for an argument that cannot be copied. Arguments and results are copied as
   * by `structuredClone()`. While the handler waits, its worker may run the tasks that the function submits. With
   * `concurrentTasksPerWorker` above 1, it may run any task.
   * @see [Call the program from a handler](https://OWNER.github.io/lido/guides/calling-back.html)
   */
  call<Result = any>(name: string, ...args: unknown[]): Promise<Result>
  /** The job of a queue that the task belongs to, with `lido/bullmq`. `undefined` for other tasks. */
  readonly job: TaskJob | undefined
}

/** The job of a queue that runs as this task. */
export interface TaskJob {
  /** The id of the job in the queue. */
  readonly id: string
  /** The name of the job, which is also the name of the handler. */
  readonly name: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The payload of the handler. For a job with arguments: the array of them. */
  readonly data: any
  /** The options of the job, as BullMQ names them. */
  readonly options: Readonly<Record<string, any>>
  /** The job that waits for this one. `queue` is the name of its queue. */
  readonly parent: { readonly id: string; readonly queue: string } | undefined
  /** The results of the children of this job, by their keys in BullMQ. Asks the queue. */
  children<Value = any>(): Promise<Record<string, Value>>
  /** Adds a line to the log of the job. Resolves when the queue has it. */
  log(line: string): Promise<void>
}

/** A function that the handler's module exports. It gets one argument: a copy of the payload that the caller passed to `run()`. */
export type Handler<Payload = any, Result = unknown> = (payload: Payload) => Result | Promise<Result>
