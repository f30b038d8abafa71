// Tinypool's queue class and queue interface, and the conversion of such a queue to a lido queue.
import type { TaskQueue as LidoQueue, QueuedTask } from '../../index.js'
import { ownFields } from '../../shared/options/option-table.js'
import type { TaskOrder } from './orders.js'

/** The property of a task object that a user's queue reads. */
export const kQueueOptions: unique symbol = Symbol.for('Tinypool.queueOptions') as never

export interface Task {
  readonly [kQueueOptions]: object | null
  /** Rejects the call. */
  cancel(): void
}

export interface TaskQueue {
  readonly size: number
  shift(): Task | null
  remove(task: Task): void
  push(task: Task): void
  cancel(): void
}

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
export function adaptQueue(
  queue: TaskQueue & { unshift?(task: Task): void },
  defaults: { readonly filename: string | null; readonly name: string },
  cancel: (payload: object) => void,
): LidoQueue {
  const views = new WeakMap<QueuedTask, Task>()
  const tasks = new WeakMap<Task, QueuedTask>()
  const viewOf = (task: QueuedTask): Task => {
    const known = views.get(task)
    if (known !== undefined) return known
    const order = ownFields(task.payload as TaskOrder)
    const { task: given, filename = defaults.filename, name = defaults.name } = order
    const view = {
      taskId: task.id,
      task: given,
      filename,
      name,
      created: task.createdAt,
      [kQueueOptions]: ((given as any)?.[kQueueOptions] ?? null) as object | null,
      cancel: () => cancel(task.payload as object),
    }
    views.set(task, view)
    tasks.set(view, task)
    return view
  }
  const adapted: LidoQueue = {
    get size() {
      return queue.size
    },
    push: task => queue.push(viewOf(task)),
    shift() {
      const view = queue.shift()
      // The pool reports a value that is not a view.
      return view === null || view === undefined ? null : (tasks.get(view) ?? (view as never))
    },
    remove: task => queue.remove(viewOf(task)),
  }
  if (typeof queue.unshift === 'function') adapted.unshift = task => queue.unshift!(viewOf(task))
  return adapted
}
