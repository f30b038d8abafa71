// Tinypool's queue class and queue interface, and the conversion of such a queue to a lido queue.
import type { TaskQueue as LidoQueue } from '../../index.js'
import { adaptQueue, ownFields, TaskViews } from '../../kit.js'
import type { TaskOrder } from './orders.js'

/** The property of a task object that a user's queue reads. */
export const kQueueOptions: unique symbol = Symbol.for('Tinypool.queueOptions') as never

/** A task, as a queue sees it. */
export interface Task {
  readonly [kQueueOptions]: object | null
  /** Rejects the call. */
  cancel(): void
}

/** The object that holds the queued tasks. */
export interface TaskQueue {
  readonly size: number
  shift(): Task | null
  remove(task: Task): void
  push(task: Task): void
  cancel(): void
}

/** True for an object with the methods of a queue. */
export function isTaskQueue(value: any): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'size' in value &&
    typeof value.shift === 'function' &&
    typeof value.remove === 'function' &&
    typeof value.push === 'function'
  )
}

/** The value of `options.taskQueue` in a pool without a queue of the program. It stays empty, as in Tinypool. */
export const emptyQueue: TaskQueue = { size: 0, shift: () => null, remove() {}, push() {}, cancel() {} }

/**
 * @param defaults the pool's file and name
 * @param cancel rejects the call of a payload, with `CancelError`
 */
export function toLidoQueue(
  queue: TaskQueue & { unshift?(task: Task): void },
  defaults: { readonly filename: string | null; readonly name: string },
  cancel: (payload: object) => void,
): LidoQueue {
  const views = new TaskViews<Task>(task => {
    const order = ownFields(task.payload as TaskOrder)
    const { task: given, filename = defaults.filename, name = defaults.name } = order
    return {
      taskId: task.id,
      task: given,
      filename,
      name,
      created: task.createdAt,
      [kQueueOptions]: ((given as any)?.[kQueueOptions] ?? null) as object | null,
      cancel: () => cancel(task.payload as object),
    } as Task
  })
  return adaptQueue(
    {
      size: () => queue.size,
      push: view => queue.push(view),
      take: () => queue.shift(),
      remove: view => queue.remove(view),
      putBack: typeof queue.unshift === 'function' ? view => queue.unshift!(view) : undefined,
    },
    views,
  )
}
