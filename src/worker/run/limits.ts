// Watches two limits of this worker: the number of started tasks, and the memory in use. It checks memory at most every
// 100 ms, and only after a task has started, so that it does not wake an idle worker.
import type { HeapExcess, WorkerLimits } from '../../shared/messages/messages.js'
import type { Timer } from '../../shared/platform/make-clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import { workerClock } from './clock.js'

const CHECK_AFTER_MS = 100
/** The runtime rounds the sizes. */
const HEAP_TOLERANCE_MB = 16

export class LimitWatcher {
  readonly #settings: WorkerLimits
  readonly #onTasksUsed: () => void
  readonly #onMemoryExceeded: (bytes: number) => void
  #startedTasks = 0
  #check: Timer | null = null

  /**
   * @param onTasksUsed called when the worker starts its last allowed task
   * @param onMemoryExceeded called at each check that finds too much memory in use
   */
  constructor(settings: WorkerLimits, onTasksUsed: () => void, onMemoryExceeded: (bytes: number) => void) {
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
        const { memoryBytes: bytes } = heldMemory()
        if (bytes > this.#settings.bytes) this.#onMemoryExceeded(bytes)
      })
    }
  }
}

/**
 * Compares the real limit of the heap with the one that was asked for. In a thread, flags of the program such as `--max-old-space-size` win
 * over the option, and Bun ignores it. `null`: the limit holds.
 */
export function heapExcess(): HeapExcess | null {
  if (process.versions.bun !== undefined) return 'ignored'
  const { resourceLimits } = getBuiltinModule('node:worker_threads')
  const { maxOldGenerationSizeMb = 0, maxYoungGenerationSizeMb = 0 } = resourceLimits
  const askedMb = maxOldGenerationSizeMb + maxYoungGenerationSizeMb
  // In a process, the option is a flag, and no other flag wins over it.
  if (askedMb === 0) return null
  const allowedMb = getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit / 2 ** 20
  return allowedMb > askedMb + HEAP_TOLERANCE_MB ? { askedMb, allowedMb } : null
}

/** The memory of this thread alone. The resident memory would include the whole process. */
export function heldMemory(): { memoryBytes: number; heapBytes: number } {
  // Loaded here: a worker without a memory limit that measures nothing does not need it.
  const { getHeapStatistics } = getBuiltinModule('node:v8')
  const { used_heap_size: heapBytes, external_memory: external } = getHeapStatistics()
  return { memoryBytes: heapBytes + external, heapBytes }
}
