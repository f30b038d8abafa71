// What a worker and the host tell each other through shared memory, besides tickets and results.
import { load, store } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import { HELD, MAY_SPIN, SENT, type WorkerStateLayout, wordsOf } from './layout.js'

export class WorkerSharedState {
  readonly #words: SharedWords
  /** Worker: messages with tasks received so far, readable or not. */
  #received = 0

  constructor(layout: WorkerStateLayout) {
    this.#words = wordsOf(layout.memory)
  }

  /** Tasks that the worker has claimed from the queue and not answered. Raised before a claim, so it is never too low. */
  get held(): number {
    return load(this.#words, HELD)
  }

  /** Worker. A plain write: the move of a ticket, or the published answer, that follows makes it visible. */
  setHeld(count: number): void {
    this.#words[HELD] = count
  }

  /** Host: a core is spare, or none is. */
  allowSpin(isAllowed: boolean): void {
    store(this.#words, MAY_SPIN, isAllowed ? 1 : 0)
  }

  get maySpin(): boolean {
    return load(this.#words, MAY_SPIN) === 1
  }

  /** Host: a task is about to be sent by message. While one is on its way, the worker claims nothing from the queue. */
  setSent(count: number): void {
    store(this.#words, SENT, count)
  }

  /** Worker: a message with a task has arrived. */
  noteReceived(): void {
    this.#received++
  }

  /** Worker: the host has sent a task by message that has not arrived. */
  get isTaskOnItsWay(): boolean {
    return load(this.#words, SENT) !== this.#received
  }
}
