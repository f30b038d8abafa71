// Words in shared memory through which the host and one worker exchange counts and permissions.
import { load, store } from '#atomics'
import type { LaneWords } from '../platform/atomics.js'
import { HEARD, HELD, MAY_SPIN, SENT, type WorkerStateLayout, wordsOf } from './layout.js'

export class WorkerLaneState {
  readonly #words: LaneWords
  /** Worker: tasks received so far, by message or inbox, readable or not. */
  #received = 0

  constructor(layout: WorkerStateLayout) {
    this.#words = wordsOf(layout.memory)
  }

  /**
   * Tasks that the worker claimed and has not answered. The worker raises it before a claim, so it is never too low.
   */
  get held(): number {
    return load(this.#words, HELD)
  }

  /** Worker. A plain write. The next move of a ticket, or the next published answer, makes it visible. */
  setHeld(count: number): void {
    this.#words[HELD] = count
  }

  /** Host: allows busy-waiting while a core is idle. */
  allowSpin(isAllowed: boolean): void {
    store(this.#words, MAY_SPIN, isAllowed ? 1 : 0)
  }

  get maySpin(): boolean {
    return load(this.#words, MAY_SPIN) === 1
  }

  /** Host: call it before sending a task by message, and after putting one into the inbox. The worker claims no later task. */
  setSent(count: number): void {
    store(this.#words, SENT, count)
  }

  /** Host: the number of `progress` messages that it has handled. */
  setHeard(count: number): void {
    store(this.#words, HEARD, count)
  }

  get heard(): number {
    return load(this.#words, HEARD)
  }

  /** Worker: a task has arrived. */
  noteReceived(): void {
    this.#received++
  }

  /** Worker: true while a task is on its way, by message or inbox. */
  get isTaskOnItsWay(): boolean {
    return load(this.#words, SENT) !== this.#received
  }
}
