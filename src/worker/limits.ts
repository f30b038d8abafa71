// What this worker looks after itself: how many tasks it begins, and how much memory it holds. Memory is looked at between
// tasks, a moment after one began and seldom, so that an idle worker is not woken for it.

import type { WorkerLimits } from '../shared/messages/messages.js'
import type { Timer } from '../shared/platform/make-clock.js'
import { getBuiltinModule } from '../shared/platform/node-modules.js'
import { realClock } from './clock.js'

const LOOK_AFTER_MS = 100

export class Limits {
  readonly #limits: WorkerLimits
  readonly #onSpent: () => void
  readonly #onHeavy: () => void
  #begun = 0
  #look: Timer | null = null

  /**
   * @param onSpent it has begun all the tasks that it may
   * @param onHeavy it holds more memory than it may; called again while it works on
   */
  constructor(limits: WorkerLimits, onSpent: () => void, onHeavy: () => void) {
    this.#limits = limits
    this.#onSpent = onSpent
    this.#onHeavy = onHeavy
  }

  /** A task is about to begin. */
  onBegin(): void {
    if (++this.#begun === this.#limits.tasks) this.#onSpent()
    if (this.#look === null && this.#limits.bytes !== Number.POSITIVE_INFINITY) {
      this.#look = realClock.after(LOOK_AFTER_MS, () => {
        this.#look = null
        if (heldBytes() > this.#limits.bytes) this.#onHeavy()
      })
    }
  }
}

/** Of this thread alone, unlike the process's resident memory. */
function heldBytes(): number {
  // Asked for here: a worker without such a limit does not load it.
  const { getHeapStatistics } = getBuiltinModule('node:v8')
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
