// Piscina's queue interface, and the conversion of such a queue to a lido queue.
import type { TaskQueue as LidoQueue, QueuedTask } from '../../index.js'

/** The property of a task object that a user's queue reads. */
export const queueOptionsSymbol: unique symbol = Symbol.for('Piscina.queueOptions') as never

/** The fields that Piscina's types promise to a queue. */
export interface Task {
  readonly [queueOptionsSymbol]: object | null
}

export interface PiscinaTask extends Task {
  readonly taskId: number
  readonly filename: string
  readonly name: string
  readonly created: number
  readonly isAbortable: boolean
}

export interface TaskQueue {
  readonly size: number
  shift(): Task | null
  remove(task: Task): void
  push(task: Task): void
  unshift?(task: Task): void
}

export function isTaskQueue(value: unknown): value is TaskQueue {
  const queue = value as TaskQueue | null
  return (
    typeof queue === 'object' &&
    queue !== null &&
    'size' in queue &&
    typeof queue.shift === 'function' &&
    typeof queue.remove === 'function' &&
    typeof queue.push === 'function'
  )
}

const views = new WeakMap<QueuedTask, PiscinaTask>()
const tasks = new WeakMap<Task, QueuedTask>()

/** Piscina's view of a task. One task has one view. */
export function viewOf(task: QueuedTask): PiscinaTask {
  const known = views.get(task)
  if (known !== undefined) return known
  const view = {
    taskId: task.id,
    task: task.payload,
    filename: task.filename,
    name: task.name,
    created: task.createdAt,
    isAbortable: task.signal !== null,
    [queueOptionsSymbol]: (task.queueOptions ?? null) as object | null,
  }
  views.set(task, view)
  tasks.set(view, task)
  return view
}

const adaptedQueues = new WeakMap<TaskQueue, LidoQueue>()

/** Returns the same lido queue for the same queue, so that a second pool with it is refused. */
export function adaptQueue(queue: TaskQueue): LidoQueue {
  const known = adaptedQueues.get(queue)
  if (known !== undefined) return known
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
  adaptedQueues.set(queue, adapted)
  return adapted
}
