// Counts the threads and processes that any pool starts, whatever the pool says of itself; ends them from outside; and
// refuses new ones, as a system does that has no more. Must be loaded before the pool.
import { createRequire, syncBuiltinESMExports } from 'node:module'

const require = createRequire(import.meta.url)
const threads = require('node:worker_threads')
const { ChildProcess } = require('node:child_process')

export class WatchedWorkers {
  started = 0
  mostAtOnce = 0
  isRefusing = false
  #living = new Map()

  constructor() {
    const watched = this
    threads.Worker = class Worker extends threads.Worker {
      constructor(...args) {
        watched.#allow('ERR_WORKER_INIT_FAILED')
        super(...args)
        watched.#add(this, () => this.terminate())
      }
    }
    const { spawn } = ChildProcess.prototype
    ChildProcess.prototype.spawn = function (...args) {
      watched.#allow('EAGAIN')
      const result = spawn.apply(this, args)
      watched.#add(this, () => this.kill('SIGKILL'))
      return result
    }
    syncBuiltinESMExports()
  }

  get living() {
    return this.#living.size
  }

  get ended() {
    return this.started - this.living
  }

  /** From outside: the pool is not asked. */
  endAll() {
    for (const end of this.#living.values()) end()
  }

  #allow(code) {
    if (this.isRefusing) throw Object.assign(new Error('no more workers on this machine'), { code })
  }

  #add(worker, end) {
    this.started += 1
    this.#living.set(worker, end)
    this.mostAtOnce = Math.max(this.mostAtOnce, this.living)
    worker.once('exit', () => this.#living.delete(worker))
  }
}
