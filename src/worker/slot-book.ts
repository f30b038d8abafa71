// Who keeps the account of this worker's slots: which task it has begun there, and which waits for its file. Where memory is
// shared the worker writes into it, and the host may have taken the task back before.
import type { SharedWords } from '../shared/base/atomics.js'
import { canBeTakenBack, claim, markLoading, maySpin, postCount } from '../shared/channel/claims.js'

export interface SlotBook {
  /** True when the task is now this worker's to run. */
  claim(slot: number, taskId: number): boolean
  markLoading(slot: number, isLoading: boolean): void
  /** Will the host take back what the worker does not begin? */
  canBeTakenBack(): boolean
  /** May the worker look out for the next task before it goes back to its event loop? */
  maySpin(): boolean
  /** Tasks posted so far; asked only while it may spin. */
  postCount(): number
}

export class SharedSlotBook implements SlotBook {
  readonly #claims: SharedWords

  constructor(claims: SharedWords) {
    this.#claims = claims
  }

  claim(slot: number, taskId: number): boolean {
    return claim(this.#claims, slot, taskId)
  }

  markLoading(slot: number, isLoading: boolean): void {
    markLoading(this.#claims, slot, isLoading)
  }

  canBeTakenBack(): boolean {
    return canBeTakenBack(this.#claims)
  }

  maySpin(): boolean {
    return maySpin(this.#claims)
  }

  postCount(): number {
    return postCount(this.#claims)
  }
}
