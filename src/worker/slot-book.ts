// Who keeps the account of this worker's slots: which task it has begun there, and which waits for its file. Where memory is
// shared the worker writes into it, and the host may have taken the task back before.

import {
  canBeTakenBack,
  claim,
  holdTime,
  isCancelled,
  markLoading,
  maySpin,
  noteBegin,
  postCount,
  resumeTime,
} from '../shared/channel/claims.js'
import type { RoadOrder } from '../shared/messages/messages.js'
import type { SharedWords } from '../shared/platform/atomics.js'
import { realClock } from './clock.js'

type PortOrder = Extract<RoadOrder, { kind: 'port' }>

export interface SlotBook {
  /** True when the task is now this worker's to run. */
  claim(slot: number, taskId: number): boolean
  markLoading(slot: number, isLoading: boolean): void
  /** The time of the slot's task does not count, until the function is called that is returned. */
  holdTime(slot: number): () => void
  /** Has the host written that nobody wants its answer? Where nothing is shared, only a message tells. */
  isCancelled(slot: number, taskId: number): boolean
  /** Will the host take back what the worker does not begin? */
  canBeTakenBack(): boolean
  /** May the worker look out for the next task before it goes back to its event loop? */
  maySpin(): boolean
  /** Tasks posted so far; asked only while it may spin. */
  postCount(): number
}

export class SharedSlotBook implements SlotBook {
  readonly #claims: SharedWords

  /** What the host's clock is ahead of this thread's. */
  readonly #toHostClock: number

  constructor({ claims, clockOrigin: hostOrigin }: PortOrder) {
    this.#claims = claims
    this.#toHostClock = realClock.origin() - hostOrigin
  }

  claim(slot: number, taskId: number): boolean {
    // Before the claim: the host reads it only after. Where the task was taken back, the slot's next one writes it anew.
    noteBegin(this.#claims, slot, realClock.now() + this.#toHostClock)
    return claim(this.#claims, slot, taskId)
  }

  markLoading(slot: number, isLoading: boolean): void {
    markLoading(this.#claims, slot, isLoading)
  }

  holdTime(slot: number): () => void {
    const heldAt = realClock.now()
    const stamp = holdTime(this.#claims, slot)
    return () => resumeTime(this.#claims, slot, stamp, realClock.now() - heldAt)
  }

  isCancelled(slot: number, taskId: number): boolean {
    return isCancelled(this.#claims, slot, taskId)
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
