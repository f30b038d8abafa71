// The starts of tasks of `queued.js`, as facts, and the gate that some of them wait for.
import { handler } from './handler.js'
import { reached, set, sharedWords } from './shared-words.js'

const STARTED = 0
const GATE = 1
const ORDER = 2

export class Queued {
  constructor(size) {
    this.words = sharedWords(ORDER + size)
  }

  /** Options of a pool whose workers write down what they start. */
  get options() {
    return { filename: handler('queued.js'), workerData: this.words }
  }

  get started() {
    return Atomics.load(this.words, STARTED)
  }

  /** The indices of the tasks that have started, in that order. */
  get order() {
    return [...this.words.subarray(ORDER, ORDER + this.started)].map(word => word - 1)
  }

  /** Resolves when so many have started. */
  starts(count) {
    return reached(this.words, STARTED, count)
  }

  openGate() {
    set(this.words, GATE)
  }
}

/** Numbers from 0. */
export function upTo(count) {
  return Array.from({ length: count }, (_, index) => index)
}
