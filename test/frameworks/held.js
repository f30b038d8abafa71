// Tasks of `handlers/work.js` that wait for a gate, and what they did, as facts.
import { reached, set, sharedWords } from '../helpers/shared-words.js'

const STARTED = 0
const CANCELLED = 1
const FINISHED = 2
const GATE = 3

export const work = new URL('./handlers/work.js', import.meta.url)

export class Held {
  /** The payload of every such task. */
  words = sharedWords(4)

  get started() {
    return Atomics.load(this.words, STARTED)
  }

  get finished() {
    return Atomics.load(this.words, FINISHED)
  }

  /** Resolves when so many have started. */
  starts(count = 1) {
    return reached(this.words, STARTED, count)
  }

  /** Resolves when so many were told that they are cancelled. */
  cancels(count = 1) {
    return reached(this.words, CANCELLED, count)
  }

  openGate() {
    set(this.words, GATE)
  }
}
