// Keeps `inFlight` short tasks in flight until `stop()` is called.

export class SteadyLoad {
  answered = 0
  #pool
  #name
  #isStopped = false
  #ended

  constructor(pool, name = 'default', inFlight = 64) {
    this.#pool = pool
    this.#name = name
    this.#ended = Promise.all(Array.from({ length: inFlight }, () => this.#run()))
    this.#ended.catch(() => {
      this.#isStopped = true
    })
  }

  /** Resolves when `count` more tasks were answered. */
  async more(count) {
    const enough = this.answered + count
    while (this.answered < enough && !this.#isStopped) await new Promise(resolve => setImmediate(resolve))
    if (this.#isStopped) await this.#ended
  }

  /** Stops the load. Rejects with the error of a rejected task. */
  async stop() {
    this.#isStopped = true
    await this.#ended
  }

  async #run() {
    while (!this.#isStopped) {
      await this.#pool.run(this.answered, { name: this.#name })
      this.answered++
    }
  }
}
