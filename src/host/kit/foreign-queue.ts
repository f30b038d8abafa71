// Turns a queue of another interface into a queue of lido. Such a queue holds views: objects that show a task in the terms of that
// interface. A task has one view.

import type { TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'

/** The views of tasks. */
export class TaskViews<View extends object> {
  readonly #makeView: (task: QueuedTask) => View
  readonly #views = new WeakMap<QueuedTask, View>()
  readonly #tasks = new WeakMap<View, QueuedTask>()

  constructor(makeView: (task: QueuedTask) => View) {
    this.#makeView = makeView
  }

  /** The view of a task: always the same object. */
  viewOf(task: QueuedTask): View {
    let view = this.#views.get(task)
    if (view === undefined) {
      view = this.#makeView(task)
      this.#views.set(task, view)
      this.#tasks.set(view, task)
    }
    return view
  }

  /** `undefined`: the object is no view. */
  taskOf(view: View): QueuedTask | undefined {
    return this.#tasks.get(view)
  }
}

/** The members of a queue of another interface. */
export interface ForeignQueue<View> {
  /** How many views the queue holds. */
  size(): number
  /** Adds a view. */
  push(view: View): void
  /** Removes and returns the next view. */
  take(): View | null | undefined
  /** Puts a view back to its old place. Without it, the pool keeps such a task and starts it before all others. */
  putBack?: ((view: View) => void) | undefined
  /** Without it, views of cancelled tasks stay until `take()` returns them. They are skipped. */
  remove?: ((view: View) => void) | undefined
}

export function adaptQueue<View extends object>(
  queue: ForeignQueue<View>,
  views: TaskViews<View>,
): TaskQueue {
  const canRemove = queue.remove !== undefined
  /** The tasks in a queue that cannot remove them. */
  const queued = new Set<QueuedTask>()
  const adapted: TaskQueue = {
    get size() {
      return canRemove ? queue.size() : queued.size
    },
    push(task) {
      if (!canRemove) queued.add(task)
      queue.push(views.viewOf(task))
    },
    shift() {
      for (;;) {
        const view = queue.take()
        if (view === null || view === undefined) return null
        const task = views.taskOf(view)
        // The pool reports a value that is no view.
        if (canRemove) return task ?? (view as never)
        if (task !== undefined && queued.delete(task)) return task
      }
    },
    remove(task) {
      if (canRemove) queue.remove!(views.viewOf(task))
      else queued.delete(task)
    },
  }
  if (queue.putBack !== undefined) adapted.unshift = task => queue.putBack!(views.viewOf(task))
  return adapted
}
