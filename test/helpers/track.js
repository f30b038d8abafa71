// Observes tasks of the handler file `tracked.js`: the order of their starts, and how many run at once. Each task waits at a
// gate that the test opens.
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

  /** Resolves with the index of the task that started at this place. The first place is 0. */
  async startAt(place) {
    return (await reached(this.words, ORDER + place)) - 1
  }

  /** Resolves with the indices of the first `count` started tasks, in the order of their starts. */
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

/** Opens a pool of one worker that task 0 keeps busy. */
export async function openBusy(open, track, options) {
  const pool = open({ filename: handler('tracked.js'), minWorkers: 1, maxWorkers: 1, ...options })
  // For a starting worker the host takes the next task from the queue early.
  await pool.ready()
  const busy = pool.run(track.task(0))
  await track.startAt(0)
  return { pool, busy }
}
