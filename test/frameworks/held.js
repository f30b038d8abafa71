// Observes `held` tasks of `handlers/work.js`: their starts, cancellations and ends. Opens the gate that they wait for.
import { reached, set, sharedWords } from '../helpers/shared-words.js'

const STARTED = 0
const CANCELLED = 1
const FINISHED = 2
const GATE = 3

export const work = new URL('./handlers/work.js', import.meta.url)

export class Held {
  /** The payload of a `held` task. */
  words = sharedWords(4)

  get started() {
    return Atomics.load(this.words, STARTED)
  }

  get finished() {
    return Atomics.load(this.words, FINISHED)
  }

  /** Resolves when `count` tasks have started. */
  starts(count = 1) {
    return reached(this.words, STARTED, count)
  }

  /** Resolves when `count` tasks have seen their cancellation. */
  cancels(count = 1) {
    return reached(this.words, CANCELLED, count)
  }

  openGate() {
    set(this.words, GATE)
  }
}
