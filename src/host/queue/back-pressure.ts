// Whether one more task may come in, and who is told when there is room again. Places are counted, not kept: a place
// given to a waiter is his until the end of the turn in which he is woken.

import { PoolClosedError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import type { Anchor, Clock } from '../../shared/platform/clock.js'
import { SignalWatch } from '../task/signal-watch.js'

export interface Load {
  /** Tasks that wait. */
  readonly queueSize: number
  /** Tasks whose large results are here, and being read. */
  readonly decoding: number
  /** Slots that are taken; a task that runs alone takes all of its worker. */
  readonly occupied: number
  /** Slots of workers that are yet to start, and may not for now. */
  readonly unavailableSlots: number
}

interface Waiter {
  resolve: () => void
  reject: (reason: unknown) => void
  signal: AbortSignal | null
}

export interface BackPressureListener {
  onNeedsDrain(): void
  onDrain(): void
  /** Called with what a signal of the user's own making threw where no caller could be told. */
  onFailure(failure: unknown): void
}

export class BackPressure {
  /** Most tasks that may wait. */
  readonly limit: number
  #slots: number
  /** The number of waiting tasks at which producers should pause. */
  #mark: number
  readonly #clock: Clock
  readonly #listener: BackPressureListener
  readonly #load: Load
  readonly #waiters = new Set<Waiter>()
  readonly #signals = new SignalWatch<Waiter>((waiters, signal) => {
    for (const waiter of waiters) {
      this.#strikeOut(waiter)
      waiter.reject(new TaskCancelledError(signal.reason))
    }
  })
  /** Held while somebody waits: what takes the room may be a cancelled handler, which keeps no process alive. */
  #anchor: Anchor | null = null
  #grants = 0
  #isFull = false
  #wasWaiting = false
  #isClosed = false

  constructor(limit: number, slots: number, clock: Clock, load: Load, listener: BackPressureListener) {
    this.limit = limit
    this.#slots = slots
    this.#mark = Number.isFinite(limit) ? limit : slots
    this.#clock = clock
    this.#load = load
    this.#listener = listener
  }

  /** Tasks that wait, in all that share this room. */
  get waiting(): number {
    return this.#load.queueSize
  }

  get needsDrain(): boolean {
    return this.#isFull
  }

  /** The number of slots has changed. */
  resize(slots: number): void {
    this.#slots = slots
    if (!Number.isFinite(this.limit)) this.#mark = slots
    this.onLeft()
  }

  /** Takes note of a task that came in. */
  onAccepted(): void {
    if (this.#grants > 0) this.#grants--
    this.#look()
    this.#serveWaiters()
  }

  /** Takes note of tasks that left the queue or the workers. */
  onLeft(): void {
    this.#look()
    this.#serveWaiters()
  }

  room(signal: AbortSignal | null): Promise<void> {
    if (this.#isClosed) return Promise.reject(new PoolClosedError('closed'))
    if (signal?.aborted) return Promise.reject(new TaskCancelledError(signal.reason))
    if (this.#waiters.size === 0 && this.#hasRoom()) {
      this.#grant()
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject, signal }
      this.#waiters.add(waiter)
      this.#anchor ??= this.#clock.anchor()
      this.#anchor.hold()
      if (signal === null) return
      try {
        this.#signals.watch(signal, waiter)
      } catch (failure) {
        this.#strikeOut(waiter)
        reject(failure)
      }
    })
  }

  close(): void {
    this.#isClosed = true
    for (const waiter of this.#waiters) {
      this.#letGo(waiter)
      waiter.reject(new PoolClosedError('closed'))
    }
    this.#waiters.clear()
    this.#anchor?.drop()
  }

  /**
   * Beside the tasks that wait, the results that wait to be read: workers make them faster than a busy host reads them. One for
   * each slot is free.
   */
  get #backlog(): number {
    const { queueSize, decoding } = this.#load
    return decoding > this.#slots ? queueSize + decoding - this.#slots : queueSize
  }

  get #taken(): number {
    return this.#load.occupied + this.#load.unavailableSlots
  }

  #hasRoom(): boolean {
    const waiting = this.#backlog
    // Free slots are not counted where tasks may wait: a task may need a worker to itself, or a balancer's consent.
    if (this.#mark > 0) return waiting + this.#grants < this.#mark
    return waiting === 0 && this.#taken + this.#grants < this.#slots
  }

  #serveWaiters(): void {
    if (this.#waiters.size === 0) return
    for (const waiter of this.#waiters) {
      if (!this.#hasRoom()) return
      this.#strikeOut(waiter)
      this.#grant()
      waiter.resolve()
    }
  }

  #strikeOut(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    this.#letGo(waiter)
    if (this.#waiters.size === 0) this.#anchor?.release()
  }

  #letGo(waiter: Waiter): void {
    try {
      if (waiter.signal !== null) this.#signals.leave(waiter.signal, waiter)
    } catch (failure) {
      this.#listener.onFailure(failure)
    }
  }

  #grant(): void {
    if (this.#grants++ > 0) return
    this.#clock.nextTurn(() => {
      if (this.#grants === 0) return
      this.#grants = 0
      this.#serveWaiters()
    })
  }

  #look(): void {
    const waiting = this.#backlog
    const isFull = waiting >= this.#mark && (waiting > 0 || this.#taken >= this.#slots)
    const becameFull = isFull && !this.#isFull
    const hasRoomAgain = !isFull && this.#isFull
    const becameEmpty = waiting === 0 && this.#wasWaiting
    this.#isFull = isFull
    this.#wasWaiting = waiting > 0
    if (becameFull) this.#listener.onNeedsDrain()
    if (hasRoomAgain || becameEmpty) this.#listener.onDrain()
  }
}
