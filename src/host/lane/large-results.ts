// Decodes results that are too large to be decoded at once: in slices, one in each turn of the event loop. Several results take
// turns. The workers that sent them are free meanwhile.

import { decodeLarge, type Steps } from '../../shared/codec/decoder.js'
import type { LargeMessage } from '../../shared/codec/format.js'
import type { ShapeReader } from '../../shared/codec/shapes.js'
import { NotCloneableError, type PoolClosedError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import { NewSpace } from './new-space.js'

/** How long one slice may hold the event loop. A turn costs some microseconds, so longer slices save nothing. */
export const DECODE_SLICE_MS = 2

export interface LargeResultsParts {
  clock: Clock
  settler: Settler
  /** Default: `DECODE_SLICE_MS`. */
  sliceMs?: number | undefined
  /** Called when a result is decoded. */
  onRead: () => void
}

export class LargeResults {
  readonly #parts: LargeResultsParts
  /** In the order of their next slices. */
  readonly #reading = new Map<Task, Steps>()
  readonly #newSpace = new NewSpace()
  /** Set while the slice of this turn is used up. */
  #turn: Timer | null = null

  constructor(parts: LargeResultsParts) {
    this.#parts = parts
  }

  /** Results that are being decoded. */
  get count(): number {
    return this.#reading.size
  }

  /** Answers the caller in this call if the result can be decoded in the slice of this turn. */
  add(task: Task, message: LargeMessage, shapes: ShapeReader): void {
    moveTask(task, 'decoding')
    try {
      this.#reading.set(task, decodeLarge(message, shapes))
    } catch (failure) {
      return this.#fail(task, failure)
    }
    if (this.#turn === null) this.#readSlice()
  }

  /** The task was cancelled. */
  drop(task: Task): void {
    this.#reading.delete(task)
  }

  /** The pool ends. */
  cutOff(error: PoolClosedError): void {
    const tasks = [...this.#reading.keys()]
    this.#reading.clear()
    for (const task of tasks) this.#parts.settler.cutOff(task, error)
  }

  #readSlice(): void {
    const mayGoOn = this.#newSlice()
    // Set first, so that a result that arrives later in this turn waits for the next one.
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
    if (!this.#newSpace.isFull) return this.#readSlice()
    // A collection takes longer than a slice: it has a turn to itself, or several.
    this.#turn = this.#parts.clock.nextTurn(() => this.#onTurn())
    this.#newSpace.collect(this.#newSlice())
  }

  #newSlice(): () => boolean {
    const { clock, sliceMs = DECODE_SLICE_MS } = this.#parts
    const until = clock.now() + sliceMs
    return () => clock.now() < until
  }

  /** True when the task is settled. */
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
