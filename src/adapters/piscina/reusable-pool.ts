// The pool behind the class. It may be used again after its end: the next task finds another one in its place, whose threads
// are started on demand.
import type { Pool } from '../../index.js'

export class ReusablePool {
  readonly #open: () => Pool
  readonly #onEnded: (timedOut: boolean, wasClosed: boolean) => void
  /** Keeps the time since construction, whatever pools come after it. */
  readonly #first: Pool
  #pool: Pool
  /** Tasks completed by pools that this one was before it was closed. */
  #completedBefore = 0
  /** A close or destroy under way: the pool takes no tasks until it is over, then it may be used again. */
  #ending: Promise<void> | null = null
  /** The end under way is one by `close()`, be it that `destroy()` began it. */
  #isClosed = false
  #hasEnded = false

  /**
   * @param open makes a pool; throws what its constructor throws
   * @param onEnded called after each end: whether tasks were cut off, and whether it was one by `close()`
   */
  constructor(open: () => Pool, onEnded: (timedOut: boolean, wasClosed: boolean) => void) {
    this.#open = open
    this.#onEnded = onEnded
    this.#first = open()
    this.#pool = this.#first
  }

  /** The one of the moment, which may have ended. */
  get pool(): Pool {
    return this.#pool
  }

  get isEnding(): boolean {
    return this.#ending !== null
  }

  get completed(): number {
    return this.#completedBefore + this.#pool.completed
  }

  get duration(): number {
    return this.#first.duration
  }

  /** The one that takes the next task. */
  living(): Pool {
    if (!this.#hasEnded) return this.#pool
    const pool = this.#open()
    this.#hasEnded = false
    this.#completedBefore += this.#pool.completed
    this.#pool = pool
    return pool
  }

  close(force: boolean): Promise<void> {
    const pool = this.#pool
    this.#isClosed = true
    if (this.#ending === null) return this.#end(async () => (await pool.close({ force })).timedOut)
    if (force) void pool.close({ force })
    return this.#ending
  }

  async destroy(): Promise<void> {
    const pool = this.#pool
    if (this.#ending !== null) {
      await pool.destroy()
      return await this.#ending
    }
    await this.#end(async () => {
      await pool.destroy()
      return false
    })
  }

  /** @param finish resolves to whether tasks were cut off */
  #end(finish: () => Promise<boolean>): Promise<void> {
    this.#ending = finish().then(timedOut => {
      const wasClosed = this.#isClosed
      this.#isClosed = false
      this.#ending = null
      this.#hasEnded = true
      this.#onEnded(timedOut, wasClosed)
    })
    return this.#ending
  }
}
