// Results too large to be read in one go: they are read in slices, one a turn of the event loop, and then their callers are
// answered. Where there are several, they take turns. What happens to the workers meanwhile is no concern of theirs.

import { decodeLarge, type Steps } from '../../shared/codec/decoder.js'
import type { LargeMessage } from '../../shared/codec/format.js'
import type { ShapeReader } from '../../shared/codec/shapes.js'
import { NotCloneableError, type PoolClosedError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import { Nursery } from './nursery.js'

/** A turn of the event loop costs some microseconds, so longer slices save nothing. */
export const DECODE_SLICE_MS = 2

export interface ArrivalsParts {
  clock: Clock
  settler: Settler
  /** How long the host may decode in one turn of the event loop. Default: `DECODE_SLICE_MS`. */
  sliceMs?: number | undefined
  /** Called when one has been read. */
  onRead: () => void
}

export class Arrivals {
  readonly #parts: ArrivalsParts
  /** The next to be read first. */
  readonly #reading = new Map<Task, Steps>()
  readonly #nursery = new Nursery()
  /** This turn has had its slice. */
  #turn: Timer | null = null

  constructor(parts: ArrivalsParts) {
    this.#parts = parts
  }

  /** Results that are being read. */
  get count(): number {
    return this.#reading.size
  }

  /** The answer of the task is here, and its worker free. What can be read in this turn's slice is answered in this call. */
  add(task: Task, message: LargeMessage, shapes: ShapeReader): void {
    moveTask(task, 'arriving')
    try {
      this.#reading.set(task, decodeLarge(message, shapes))
    } catch (failure) {
      return this.#fail(task, failure)
    }
    if (this.#turn === null) this.#readSlice()
  }

  /** Nobody wants it any more. */
  drop(task: Task): void {
    this.#reading.delete(task)
  }

  /** The pool is at its end. */
  cutOff(error: PoolClosedError): void {
    const tasks = [...this.#reading.keys()]
    this.#reading.clear()
    for (const task of tasks) this.#parts.settler.cutOff(task, error)
  }

  #readSlice(): void {
    const mayGoOn = this.#newSlice()
    // Set first: what one leaves of the slice is the next one's, and what arrives later in this turn waits for its own.
    this.#turn = this.#parts.clock.nextTurn(() => this.#onTurn())
    for (const [task, steps] of this.#reading) {
      this.#reading.delete(task)
      if (!this.#read(task, steps, mayGoOn)) {
        this.#reading.set(task, steps)
        return
      }
      if (!mayGoOn()) return
    }
  }

  #onTurn(): void {
    this.#turn = null
    if (this.#reading.size === 0) return
    if (!this.#nursery.isFull) return this.#readSlice()
    // A collection takes longer than a slice: it has a turn to itself, or several.
    this.#turn = this.#parts.clock.nextTurn(() => this.#onTurn())
    this.#nursery.collect(this.#newSlice())
  }

  #newSlice(): () => boolean {
    const { clock, sliceMs = DECODE_SLICE_MS } = this.#parts
    const until = clock.now() + sliceMs
    return () => clock.now() < until
  }

  /** True when it is done with, one way or the other. */
  #read(task: Task, steps: Steps, mayGoOn: () => boolean): boolean {
    let step: IteratorResult<undefined, unknown>
    try {
      do step = steps.next()
      while (step.done !== true && mayGoOn())
      if (step.done !== true) return false
    } catch (failure) {
      this.#fail(task, failure)
      return true
    }
    this.#parts.settler.fulfil(task, step.value)
    this.#parts.onRead()
    return true
  }

  #fail(task: Task, failure: unknown): void {
    this.#parts.settler.reject(task, new NotCloneableError('result', failure))
    this.#parts.onRead()
  }
}
