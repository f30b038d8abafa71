import { setImmediate as turn } from 'node:timers/promises'
import { Piscina } from 'piscina'
export class Pool extends Piscina {
  #open = 0
  constructor(o) {
    super({ ...o, closeTimeout: 600000, filename: o.filename?.href ?? o.filename })
  }
  run(...a) {
    this.#open++
    const p = super.run(...a)
    const d = () => {
      this.#open--
    }
    p.then(d, d)
    return p
  }
  async room() {
    while (this.queueSize >= this.options.maxQueue) await turn()
  }
  async close() {
    while (this.#open > 0) await new Promise(r => setTimeout(r, 5))
    return super.close()
  }
}
