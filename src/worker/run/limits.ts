// Watches two limits of this worker: the number of started tasks, and the memory in use. It checks memory at most every
// 100 ms, and only after a task has started, so that it does not wake an idle worker.
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
   * @param onTasksUsed called when the worker starts its last allowed task
   * @param onMemoryExceeded called at each check that finds too much memory in use
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

/** The memory of this thread alone. The resident memory would include the whole process. */
function heldBytes(): number {
  // A worker without a memory limit does not load this module.
  const { getHeapStatistics } = getBuiltinModule('node:v8')
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
