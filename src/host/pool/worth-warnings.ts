// Says once for each handler that workers are of no use to it.
import type { HandlerStats } from '../observe/worth.js'
import { adviceOn } from '../observe/worth-advice.js'

export class WorthWarnings {
  readonly #slotsPerWorker: number
  readonly #warned = new Set<string>()

  constructor(slotsPerWorker: number) {
    this.#slotsPerWorker = slotsPerWorker
  }

  consider(handler: HandlerStats): void {
    const who = `${handler.filename}#${handler.name}`
    if (this.#warned.has(who)) return
    const advice = adviceOn(handler, this.#slotsPerWorker)
    if (advice === null) return
    this.#warned.add(who)
    process.emitWarning(advice.text, { type: 'LidoWarning', code: advice.code })
  }
}
