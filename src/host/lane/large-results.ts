// Decodes large results in slices, one slice in each turn of the event loop, so that the host stays responsive. Several
// results take turns. The workers that sent them are free meanwhile.

import { decodeLarge, type Steps } from '../../shared/codec/decoder.js'
import type { LargeMessage } from '../../shared/codec/format.js'
import type { ShapeReader } from '../../shared/codec/shapes.js'
import { NotCloneableError, type PoolClosedError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import { NewSpace } from './new-space.js'

/** How long one slice may block the event loop. A turn costs some microseconds, so longer slices save nothing. */
export const DECODE_SLICE_MS = 2

export interface LargeResultsParts {
  clock: Clock
  settler: Settler
  /** Default: `DECODE_SLICE_MS`. */
  sliceMs?: number | undefined
  /** Called when a result is decoded, or cannot be. */
  onDecoded: () => void
}

export class LargeResults {
  readonly #parts: LargeResultsParts
  /** In the order of their next slices. */
  readonly #decoding = new Map<Task, Steps>()
  readonly #newSpace = new NewSpace()
  /** Set when this turn has had its slice. The next slice runs in the next turn. */
  #nextSlice: Timer | null = null

  constructor(parts: LargeResultsParts) {
    this.#parts = parts
  }

  get count(): number {
    return this.#decoding.size
  }

  /** Settles the task before it returns if the slice of this turn is long enough. */
  add(task: Task, message: LargeMessage, shapes: ShapeReader): void {
    moveTask(task, 'decoding')
    try {
      this.#decoding.set(task, decodeLarge(message, shapes))
    } catch (failure) {
      return this.#fail(task, failure)
    }
    if (this.#nextSlice === null) this.#decodeSlice()
  }

  /** Call it when the task was cancelled. */
  drop(task: Task): void {
    this.#decoding.delete(task)
  }

  /** Call it when the pool closes. */
  cutOff(error: PoolClosedError): void {
    const tasks = [...this.#decoding.keys()]
    this.#decoding.clear()
    for (const task of tasks) this.#parts.settler.cutOff(task, error)
  }

  #decodeSlice(): void {
    const mayGoOn = this.#newSlice()
    // Set first: a result that arrives later in this turn waits for the next turn.
    this.#nextSlice = this.#parts.clock.nextTurn(() => this.#onTurn())
    for (const [task, steps] of this.#decoding) {
      this.#decoding.delete(task)
      if (!this.#decode(task, steps, mayGoOn)) {
        this.#decoding.set(task, steps)
        return
      }
      if (!mayGoOn()) return
    }
  }

  #onTurn(): void {
    this.#nextSlice = null
    if (this.#decoding.size === 0) return
    if (!this.#newSpace.isFull) return this.#decodeSlice()
    // A garbage collection takes longer than a slice, so it gets one or more turns of its own.
    this.#nextSlice = this.#parts.clock.nextTurn(() => this.#onTurn())
    this.#newSpace.collect(this.#newSlice())
  }

  #newSlice(): () => boolean {
    const { clock, sliceMs = DECODE_SLICE_MS } = this.#parts
    const until = clock.now() + sliceMs
    return () => clock.now() < until
  }

  /** True when the task is settled. */
  #decode(task: Task, steps: Steps, mayGoOn: () => boolean): boolean {
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
    this.#parts.onDecoded()
    return true
  }

  #fail(task: Task, failure: unknown): void {
    this.#parts.settler.reject(task, new NotCloneableError('result', failure))
    this.#parts.onDecoded()
  }
}
