// The queue of a pool and its load balancer. Programs can write their own.
import type { QueuedTask } from './queued-task.js'
import type { WorkerView } from './worker-view.js'

/** The object that holds the queued tasks. Write your own to decide the order in which tasks start. */
export interface TaskQueue {
  /**
   * How many tasks the queue holds.
   * @see [A queue of your own](https://OWNER.github.io/lido/reference/queues.html#a-queue-of-your-own)
   */
  readonly size: number
  /**
   * The most tasks that the queue can hold. `maxQueue` is lowered to it. Without it there is no limit.
   * @see [A queue of your own](https://OWNER.github.io/lido/reference/queues.html#a-queue-of-your-own)
   */
  readonly capacity?: number
  /**
   * Adds a task. If it throws, the call of `run()` rejects with that error.
   * @see [A queue of your own](https://OWNER.github.io/lido/reference/queues.html#a-queue-of-your-own)
   */
  push(task: QueuedTask): void
  /**
   * Removes and returns the next task to run, synchronously: an object that `push` received. `null` keeps the tasks
   * queued until the next call or result.
   * @see [A queue of your own](https://OWNER.github.io/lido/reference/queues.html#a-queue-of-your-own)
   */
  shift(): QueuedTask | null | undefined
  /**
   * Puts a task back to its old place: no worker can take it yet, or it runs again. Without this method the pool keeps
   * such a task, and calls `shift` again only after it has placed the task.
   * @see [A queue of your own](https://OWNER.github.io/lido/reference/queues.html#a-queue-of-your-own)
   */
  unshift?(task: QueuedTask): void
  /**
   * Removes a cancelled task. Ignores a task that the queue does not hold.
   * @see [A queue of your own](https://OWNER.github.io/lido/reference/queues.html#a-queue-of-your-own)
   */
  remove(task: QueuedTask): void
}

/** The options of `new PriorityQueue()`. */
export interface PriorityQueueOptions {
  /**
   * Milliseconds of waiting that count as one step of `priority`, so that no task waits without end. For example, a task of priority -1
   * starts before tasks of priority 5 that come more than `6 * aging` later. `Infinity`: waiting does not count. Default `Infinity`.
   * @see [aging](https://OWNER.github.io/lido/reference/pool.html#aging)
   */
  aging?: number | undefined
}

/**
 * Called synchronously with the workers that accept tasks; some may still be starting. Returns one of them, or `null`
 * to keep the task queued. If it throws, the call of `run()` rejects with that error. If it returns anything else, with
 * `InvalidOptionError`.
 */
export type LoadBalancer = (task: QueuedTask, workers: WorkerView[]) => WorkerView | null | undefined
