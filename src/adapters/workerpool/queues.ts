// The queues of workerpool, and their conversion to a queue of lido.
import type { TaskQueue as LidoQueue, QueuedTask } from '../../index.js'
import { adaptQueue, TaskViews } from '../../kit.js'
import type { Resolver } from './promise.js'

/** The options of `exec()`. */
export interface ExecOptions<T = any> {
  /** Called with each event of the task. */
  on?: (payload: any) => unknown
  /** Parts of the parameters that are transferred, not copied. */
  transfer?: object[]
  /** For a queue of the program. */
  metadata?: T
}

/** A task, as a queue sees it. */
export interface Task<T = any> {
  method: string
  params?: any[] | null
  resolver: Resolver
  timeout: number | null
  options?: ExecOptions<T>
}

/** The object that holds the queued tasks. */
export interface TaskQueue<T = any> {
  push(task: Task<T>): void
  pop(): Task<T> | undefined
  size(): number
  contains(task: Task<T>): boolean
  clear(): void
}

class LastInFirstOut implements TaskQueue {
  readonly tasks: Task[] = []

  push(task: Task): void {
    this.tasks.push(task)
  }

  pop(): Task | undefined {
    return this.tasks.pop()
  }

  size(): number {
    return this.tasks.length
  }

  contains(task: Task): boolean {
    return this.tasks.includes(task)
  }

  clear(): void {
    this.tasks.length = 0
  }
}

/** Returns `null` for `'fifo'`, the order of lido's own queue. */
export function createQueue(strategy: 'fifo' | 'lifo' | TaskQueue): TaskQueue | null {
  if (strategy === 'fifo') return null
  if (strategy === 'lifo') return new LastInFirstOut()
  if (typeof strategy === 'string') throw new Error(`Unknown queue strategy: ${strategy}`)
  for (const name of ['push', 'pop', 'size', 'contains', 'clear'] as const) {
    if (typeof strategy[name] !== 'function') throw new Error(`Queue strategy must implement method: ${name}`)
  }
  return strategy
}

/**
 * A queue of workerpool cannot remove a task. Cancelled tasks are skipped when they come.
 * @param taskOf returns workerpool's view of a task
 */
export function toLidoQueue(queue: TaskQueue, taskOf: (task: QueuedTask) => Task): LidoQueue {
  return adaptQueue(
    { size: () => queue.size(), push: view => queue.push(view), take: () => queue.pop() },
    new TaskViews(taskOf),
  )
}
