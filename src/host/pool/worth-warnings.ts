// Says once for each handler, whatever pools run it, that workers are of no use to it.
import type { HandlerStats } from '../metrics/handler-stats.js'
import { adviceOn } from '../metrics/worth-advice.js'

/** What comes from outside must not fill it. */
const MOST_WARNED = 256
const warned = new Set<string>()

export class WorthWarnings {
  readonly #slotsPerWorker: number

  constructor(slotsPerWorker: number) {
    this.#slotsPerWorker = slotsPerWorker
  }

  consider(handler: HandlerStats): void {
    const who = `${handler.filename}#${handler.name}`
    if (warned.has(who) || warned.size === MOST_WARNED) return
    const advice = adviceOn(handler, this.#slotsPerWorker)
    if (advice === null) return
    warned.add(who)
    process.emitWarning(advice.text, { type: 'LidoWarning', code: advice.code })
  }
}
