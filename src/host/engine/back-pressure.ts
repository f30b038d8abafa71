// Decides whether the pool has room for another task, wakes the callers of `room()`, and reports 'needsDrain' and
// 'drain'. A woken caller has its place until the end of that turn of the event loop. Then the next caller gets the
// place.

import { PoolClosedError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import type { Anchor, Clock } from '../../shared/platform/clock.js'
import type { Slots } from '../lane/slots.js'
import { type RoomWaiter, RoomWaiters } from '../task/room-waiters.js'

/**
 * For a caller in a function of a waiting task. True when its next task gets the slot that the waiting task lends. That slot is then
 * promised to the caller. `null` for other callers.
 */
type Borrow = (() => boolean) | null

export interface BackPressureListener {
  onNeedsDrain(): void
  onDrain(): void
  /** The user's own signal threw an error that no caller can receive. */
  onError(failure: unknown): void
}

export interface BackPressureParts {
  /** The largest number of queued tasks. */
  limit: number
  /** How many tasks may run at once. */
  slots: number
  clock: Clock
  ledger: Pick<Slots, 'unplaced' | 'occupied' | 'unavailable'>
  /** How many large results the host decodes now. */
  decoding: { readonly count: number }
  listener: BackPressureListener
}

export class BackPressure {
  /** The largest number of queued tasks. */
  readonly limit: number
  #slots: number
  /** Callers should pause at this number of queued tasks. */
  #highWaterMark: number
  readonly #clock: Clock
  readonly #listener: BackPressureListener
  readonly #ledger: Pick<Slots, 'unplaced' | 'occupied' | 'unavailable'>
  /** How many large results the host decodes now. */
  readonly #decoding: { readonly count: number }
  readonly #waiters = new RoomWaiters(
    waiter => this.#onRemoved(waiter),
    failure => this.#listener.onError(failure),
  )
  /** The waiters that may get a lent slot. */
  readonly #borrowers = new Map<RoomWaiter, Borrow>()
  /**
   * Held while callers wait: a handler of a cancelled task may use the room, and it does not keep the process alive.
   */
  #anchor: Anchor | null = null
  /** Places of callers that were woken in this turn and have not submitted a task. */
  #grants = 0
  #isFull = false
  #wasWaiting = false
  #isClosed = false

  constructor({ limit, slots, clock, ledger, decoding, listener }: BackPressureParts) {
    this.limit = limit
    this.#slots = slots
    this.#highWaterMark = Number.isFinite(limit) ? limit : slots
    this.#clock = clock
    this.#ledger = ledger
    this.#decoding = decoding
    this.#listener = listener
  }

  get waiting(): number {
    return this.#ledger.unplaced
  }

  get needsDrain(): boolean {
    return this.#isFull
  }

  resize(slots: number): void {
    this.#slots = slots
    if (!Number.isFinite(this.limit)) this.#highWaterMark = slots
    this.onLeft()
  }

  /** Call it when the pool has accepted a task. */
  onAccepted(): void {
    if (this.#grants > 0) this.#grants--
    this.#update()
    this.#serveWaiters()
  }

  /** Call it when tasks have left the queue or the workers. */
  onLeft(): void {
    this.#update()
    this.#serveWaiters()
  }

  room(signal: AbortSignal | null, borrow: Borrow = null): Promise<void> {
    if (this.#isClosed) return Promise.reject(new PoolClosedError('closed'))
    if (signal?.aborted) return Promise.reject(new TaskCancelledError(signal.reason))
    if ((this.#waiters.size === 0 && this.#hasRoom()) || borrow?.() === true) {
      this.#grant()
      return Promise.resolve()
    }
    return this.#waiters.add(signal, waiter => {
      if (borrow !== null) this.#borrowers.set(waiter, borrow)
      this.#anchor ??= this.#clock.anchor()
      this.#anchor.hold()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#waiters.rejectAll(new PoolClosedError('closed'))
    this.#anchor?.drop()
  }

  /**
   * Queued tasks, and the results that the host still decodes, beyond one for each slot. Workers can produce large
   * results faster than a busy host decodes them.
   */
  get #backlog(): number {
    const { unplaced } = this.#ledger
    const { count } = this.#decoding
    return count > this.#slots ? unplaced + count - this.#slots : unplaced
  }

  get #taken(): number {
    return this.#ledger.occupied + this.#ledger.unavailable
  }

  #hasRoom(): boolean {
    const waiting = this.#backlog
    // If tasks may be queued, free slots do not count: an exclusive task or a load balancer may leave them unused.
    if (this.#highWaterMark > 0) return waiting + this.#grants < this.#highWaterMark
    return waiting === 0 && this.#taken + this.#grants < this.#slots
  }

  #serveWaiters(): void {
    if (this.#waiters.size === 0) return
    for (const waiter of this.#waiters) {
      const hasRoom = this.#hasRoom()
      if (!hasRoom && this.#borrowers.size === 0) return
      if (!hasRoom && this.#borrowers.get(waiter)?.() !== true) continue
      this.#grant()
      this.#waiters.release(waiter)
    }
  }

  #onRemoved(waiter: RoomWaiter): void {
    this.#borrowers.delete(waiter)
    if (this.#waiters.size === 0) this.#anchor?.release()
  }

  #grant(): void {
    if (this.#grants++ > 0) return
    this.#clock.nextTurn(() => {
      if (this.#grants === 0) return
      this.#grants = 0
      this.#serveWaiters()
    })
  }

  /** Reports a change between full, not full and empty. */
  #update(): void {
    const waiting = this.#backlog
    const isFull = waiting >= this.#highWaterMark && (waiting > 0 || this.#taken >= this.#slots)
    const becameFull = isFull && !this.#isFull
    const hasRoomAgain = !isFull && this.#isFull
    const becameEmpty = waiting === 0 && this.#wasWaiting
    this.#isFull = isFull
    this.#wasWaiting = waiting > 0
    if (becameFull) this.#listener.onNeedsDrain()
    if (hasRoomAgain || becameEmpty) this.#listener.onDrain()
  }
}
