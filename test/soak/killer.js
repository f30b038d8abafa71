// Ends a worker every so often, in turn: by its view, by a handler that exits, by cancelling a task that never comes back
// and one that awaits for ever.
import { mix } from './random.js'

const LOOK_AGAIN_MS = 1
/** Where a worker takes longer to start than the next one to be killed, nothing would get done. */
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
    const look = () => {
      if (task.isSettled) return
      if (this.#ledger.timesBegun(task) > 0) task.abort()
      else setTimeout(look, LOOK_AGAIN_MS)
    }
    look()
  }
}
