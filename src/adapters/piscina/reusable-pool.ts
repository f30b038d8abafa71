// Keeps the pool of a Piscina object. After the pool has been closed or destroyed, the next task opens a new pool.
import type { Pool } from '../../index.js'

export class ReusablePool {
  readonly #open: () => Pool
  readonly #onEnded: (timedOut: boolean, wasClosed: boolean) => void
  /** Kept because its `duration` counts from the construction of the Piscina object. */
  readonly #first: Pool
  #pool: Pool
  /** Tasks that earlier pools completed. */
  #completedBefore = 0
  /** A running close or destroy. Until it has finished, `run()` rejects. */
  #ending: Promise<void> | null = null
  /** `close()` was called, perhaps after `destroy()` had started the end. */
  #isClosed = false
  #hasEnded = false

  /**
   * @param open creates a pool; throws the error of its constructor
   * @param onEnded called after each end: whether `closeTimeout` killed tasks, and whether `close()` was called
   */
  constructor(open: () => Pool, onEnded: (timedOut: boolean, wasClosed: boolean) => void) {
    this.#open = open
    this.#onEnded = onEnded
    this.#first = open()
    this.#pool = this.#first
  }

  /** The current pool, which may have been closed. */
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

  /** The pool for the next task. Opens a new pool if the current one has been closed or destroyed. */
  openPool(): Pool {
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

  /** @param finish resolves to true if `closeTimeout` killed tasks */
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
