// Watches two limits of this worker: the tasks that it starts, and the memory that it holds. Memory is checked seldom, and only
// after a task has started, so that an idle worker is not woken for it.
import type { WorkerLimits } from '../../shared/messages/messages.js'
import type { Timer } from '../../shared/platform/make-clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import { workerClock } from './clock.js'

const CHECK_AFTER_MS = 100

export class LimitWatcher {
  readonly #settings: WorkerLimits
  readonly #onTasksUsed: () => void
  readonly #onMemoryExceeded: () => void
  #startedTasks = 0
  #check: Timer | null = null

  /**
   * @param onTasksUsed the worker starts the last task that it may
   * @param onMemoryExceeded called again after later checks while the worker goes on
   */
  constructor(settings: WorkerLimits, onTasksUsed: () => void, onMemoryExceeded: () => void) {
    this.#settings = settings
    this.#onTasksUsed = onTasksUsed
    this.#onMemoryExceeded = onMemoryExceeded
  }

  /** Call it before each task. */
  onStart(): void {
    if (++this.#startedTasks === this.#settings.tasks) this.#onTasksUsed()
    if (this.#check === null && this.#settings.bytes !== Number.POSITIVE_INFINITY) {
      this.#check = workerClock.after(CHECK_AFTER_MS, () => {
        this.#check = null
        if (heldBytes() > this.#settings.bytes) this.#onMemoryExceeded()
      })
    }
  }
}

/** The memory of this thread alone, unlike the process's resident memory. */
function heldBytes(): number {
  // A worker without a memory limit does not load this module.
  const { getHeapStatistics } = getBuiltinModule('node:v8')
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
