// Piscina's queue interface, and a lido queue that stands before a queue written for it.
import type { TaskQueue as LidoQueue, QueuedTask } from '../../index.js'
import { queueOptionsSymbol } from './symbols.js'

export interface PiscinaTask {
  readonly taskId: number
  readonly filename: string
  readonly name: string
  readonly created: number
  readonly isAbortable: boolean
  readonly [queueOptionsSymbol]: object | null
}

export interface TaskQueue {
  readonly size: number
  shift(): PiscinaTask | null
  remove(task: PiscinaTask): void
  push(task: PiscinaTask): void
  unshift?(task: PiscinaTask): void
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

/** Piscina's view of each task: the same object whenever the same task is shown. */
export class TaskViews {
  readonly #views = new WeakMap<QueuedTask, PiscinaTask>()
  readonly #tasks = new WeakMap<PiscinaTask, QueuedTask>()

  viewOf(task: QueuedTask): PiscinaTask {
    const known = this.#views.get(task)
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
    this.#views.set(task, view)
    this.#tasks.set(view, task)
    return view
  }

  taskOf(view: PiscinaTask): QueuedTask | null {
    return this.#tasks.get(view) ?? null
  }
}

export function adaptQueue(queue: TaskQueue, views: TaskViews): LidoQueue {
  const adapted: LidoQueue = {
    get size() {
      return queue.size
    },
    push: task => queue.push(views.viewOf(task)),
    shift() {
      const view = queue.shift()
      return view === null || view === undefined ? null : views.taskOf(view)
    },
    remove: task => queue.remove(views.viewOf(task)),
  }
  if (typeof queue.unshift === 'function') adapted.unshift = task => queue.unshift!(views.viewOf(task))
  return adapted
}
