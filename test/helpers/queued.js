// Observes tasks of the handler file `queued.js`: how many started, and in which order. Opens the gate that some tasks wait for.
import { handler } from './handler.js'
import { reached, set, sharedWords } from './shared-words.js'

const STARTED = 0
const GATE = 1
const ORDER = 2

export class Queued {
  constructor(size) {
    this.words = sharedWords(ORDER + size)
  }

  /** Options of a pool whose workers record the tasks that they start. */
  get options() {
    return { filename: handler('queued.js'), workerData: this.words }
  }

  get started() {
    return Atomics.load(this.words, STARTED)
  }

  /** The indices of the started tasks, in the order of their starts. */
  get order() {
    return [...this.words.subarray(ORDER, ORDER + this.started)].map(word => word - 1)
  }

  /** Resolves when `count` tasks have started. */
  starts(count) {
    return reached(this.words, STARTED, count)
  }

  openGate() {
    set(this.words, GATE)
  }
}

/** The numbers from 0 to `count - 1`. */
export function upTo(count) {
  return Array.from({ length: count }, (_, index) => index)
}
