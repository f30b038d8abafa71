// What a worker and the host tell each other of the worker beside tasks: how many it holds, and whether it may spin.
import { load, store } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import { ALLOWED, type DeskLayout, HELD, wordsOf } from './layout.js'

export class DeskWords {
  readonly #words: SharedWords

  constructor(desk: DeskLayout) {
    this.#words = wordsOf(desk.memory)
  }

  /** Tasks that the worker has claimed and not answered. */
  get held(): number {
    return load(this.#words, HELD)
  }

  /** Worker. A plain write: it need not be seen before the move of a ticket, or the answer, that follows it. */
  setHeld(count: number): void {
    this.#words[HELD] = count
  }

  /** Host: there is a core to spare, or there is none. */
  allowSpin(isAllowed: boolean): void {
    store(this.#words, ALLOWED, isAllowed ? 1 : 0)
  }

  get maySpin(): boolean {
    return load(this.#words, ALLOWED) === 1
  }
}
