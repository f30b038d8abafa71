// Piscina's queue interface, and the conversion of such a queue to a lido queue.
import type { TaskQueue as LidoQueue, QueuedTask } from '../../index.js'
import { adaptQueue, TaskViews } from '../../kit.js'

/** The property of a task object that a user's queue reads. */
export const queueOptionsSymbol: unique symbol = Symbol.for('Piscina.queueOptions') as never

/** The fields that Piscina's types promise to a queue. */
export interface Task {
  readonly [queueOptionsSymbol]: object | null
}

/** A task, as a queue and a load balancer see it. */
export interface PiscinaTask extends Task {
  readonly taskId: number
  readonly filename: string
  readonly name: string
  readonly created: number
  readonly isAbortable: boolean
}

/** The object that holds the queued tasks. */
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

const views = new TaskViews<PiscinaTask>(task => ({
  taskId: task.id,
  task: task.payload,
  filename: task.filename,
  name: task.name,
  created: task.createdAt,
  isAbortable: task.signal !== null,
  [queueOptionsSymbol]: (task.queueOptions ?? null) as object | null,
}))

/** Piscina's view of a task. One task has one view. */
export function viewOf(task: QueuedTask): PiscinaTask {
  return views.viewOf(task)
}

const adaptedQueues = new WeakMap<TaskQueue, LidoQueue>()

/** Returns the same lido queue for the same queue, so that a second pool with it is refused. */
export function toLidoQueue(queue: TaskQueue): LidoQueue {
  let adapted = adaptedQueues.get(queue)
  if (adapted === undefined) {
    adapted = adaptQueue<PiscinaTask>(
      {
        size: () => queue.size,
        push: view => queue.push(view),
        take: () => queue.shift() as PiscinaTask | null,
        remove: view => queue.remove(view),
        putBack: typeof queue.unshift === 'function' ? view => queue.unshift!(view) : undefined,
      },
      views,
    )
    adaptedQueues.set(queue, adapted)
  }
  return adapted
}
