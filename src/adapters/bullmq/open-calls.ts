// The unfinished calls of a `RemotePool`: their limit, their counts, and the callers of `room()`.
import { PoolClosedError, TaskCancelledError, type TaskCounts, TaskTimeoutError } from '../../index.js'
import { RoomWaiters, realClock } from '../../kit.js'
import type { CallAnswer, RemoteCall } from './remote-call.js'

export class OpenCalls {
  readonly counts: TaskCounts = { accepted: 0, completed: 0, fulfilled: 0, rejected: 0, cancelled: 0 }
  readonly #limit: number
  readonly #onDrain: () => void
  readonly #calls = new Set<RemoteCall>()
  /** Callers of `room()`, in their order. */
  readonly #roomWaiters = new RoomWaiters()
  /** Callers of `room()` that were woken in this turn. */
  #promised = 0
  #onIdle: (() => void) | null = null

  constructor(limit: number, onDrain: () => void) {
    this.#limit = limit
    this.#onDrain = onDrain
  }

  get size(): number {
    return this.#calls.size
  }

  get isFull(): boolean {
    return this.#calls.size >= this.#limit
  }

  [Symbol.iterator](): Iterator<RemoteCall> {
    return [...this.#calls][Symbol.iterator]()
  }

  add(call: RemoteCall): void {
    this.#calls.add(call)
    this.counts.accepted++
  }

  delete(call: RemoteCall, answer: CallAnswer): void {
    this.#calls.delete(call)
    this.#count(answer)
  }

  /** Call it after the caller has the answer. */
  onLeft(): void {
    this.#giveRoom()
    if (this.#calls.size > 0) return
    this.#onIdle?.()
    queueMicrotask(this.#onDrain)
  }

  async room(signal: AbortSignal | null): Promise<void> {
    if (this.isFull) await this.#roomWaiters.add(signal)
  }

  /** Rejects the callers of `room()`. */
  refuse(): void {
    this.#roomWaiters.rejectAll(new PoolClosedError('closed'))
  }

  /** Resolves when all calls have settled. */
  async idle(): Promise<void> {
    if (this.#calls.size === 0) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
  }

  #count(answer: CallAnswer): void {
    const error = 'error' in answer ? answer.error : null
    const isCancelled = error instanceof TaskCancelledError || error instanceof TaskTimeoutError
    if (isCancelled) this.counts.cancelled++
    else this.counts['error' in answer ? 'rejected' : 'fulfilled']++
    if (!isCancelled && !(error instanceof PoolClosedError)) this.counts.completed++
  }

  /** A woken caller of `room()` keeps its place until the next turn, in which it has called `run()` or will not. */
  #giveRoom(): void {
    for (const waiter of this.#roomWaiters) {
      if (this.#calls.size + this.#promised >= this.#limit) return
      if (this.#promised++ === 0) {
        realClock.nextTurn(() => {
          this.#promised = 0
          this.#giveRoom()
        })
      }
      this.#roomWaiters.release(waiter)
    }
  }
}
