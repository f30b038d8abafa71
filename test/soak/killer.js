// Kills a worker at an interval. Four ways take turns: `worker.terminate()`, a handler that exits, the cancel of a task in an
// endless loop, and the cancel of a task whose promise never settles.
import { mix } from './random.js'

const LOOK_AGAIN_MS = 1
/** Without this limit no task would finish when a worker starts more slowly than the next kill comes. */
const LEAST_SETTLED_BETWEEN = 200

export class Killer {
  kills = 0
  #pool
  #ledger
  #submit
  #seed
  #timer = null
  #settledBefore = 0
  #ways = [
    () => this.#terminate(),
    () => this.#submit('exit'),
    () => this.#abort('endless'),
    () => this.#abort('patient'),
  ]

  /** @param submit sends one task of the kind with that name */
  constructor(pool, ledger, submit, seed) {
    this.#pool = pool
    this.#ledger = ledger
    this.#submit = submit
    this.#seed = seed
  }

  start(everyMs) {
    if (everyMs > 0) this.#timer = setInterval(() => this.#kill(), everyMs)
  }

  stop() {
    clearInterval(this.#timer)
  }

  #kill() {
    const { settled } = this.#ledger
    if (settled - this.#settledBefore < LEAST_SETTLED_BETWEEN) return
    this.#settledBefore = settled
    this.#ways[this.kills++ % this.#ways.length]()
  }

  #terminate() {
    const { workers } = this.#pool
    if (workers.length === 0) return
    const worker = workers[mix(this.#seed, this.kills) % workers.length]
    this.#ledger.onKilled(worker.id)
    void worker.terminate()
  }

  #abort(kind) {
    const task = this.#submit(kind)
    const abortWhenStarted = () => {
      if (task.isSettled) return
      if (this.#ledger.timesStarted(task) > 0) task.abort()
      else setTimeout(abortWhenStarted, LOOK_AGAIN_MS)
    }
    abortWhenStarted()
  }
}
