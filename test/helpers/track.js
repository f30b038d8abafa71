// What tasks of `tracked.js` do, as facts: the order in which they start, how many run at once, and a gate before the
// end of each that the test opens.
import { handler } from './handler.js'
import { reached, set, sharedWords } from './shared-words.js'

const STARTED = 0
const MOST_AT_ONCE = 2
const FINISHED = 3
const ORDER = 4

export class Track {
  constructor(size) {
    this.size = size
    this.words = sharedWords(ORDER + 2 * size)
  }

  /** The payload of a task. */
  task(index) {
    return { words: this.words, size: this.size, index }
  }

  get started() {
    return Atomics.load(this.words, STARTED)
  }

  get finished() {
    return Atomics.load(this.words, FINISHED)
  }

  get mostAtOnce() {
    return Atomics.load(this.words, MOST_AT_ONCE)
  }

  /** Which task was the `place`-th to start, 0 for the first; waits for it. */
  async startAt(place) {
    return (await reached(this.words, ORDER + place)) - 1
  }

  /** The tasks that started, in that order; waits until there are `count`. */
  async starts(count) {
    const order = []
    for (let place = 0; place < count; place++) order.push(await this.startAt(place))
    return order
  }

  release(index) {
    set(this.words, ORDER + this.size + index)
  }

  releaseAll() {
    for (let index = 0; index < this.size; index++) this.release(index)
  }
}

/** A pool of one worker that task 0 keeps busy. */
export async function openBusy(open, track, options) {
  const pool = open({ filename: handler('tracked.js'), minWorkers: 1, maxWorkers: 1, ...options })
  const busy = pool.run(track.task(0))
  await track.startAt(0)
  return { pool, busy }
}
