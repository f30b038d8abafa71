// How the parts of a pool refer to it. Running threads keep these parts alive, and must not keep alive a pool that nobody
// holds any more: the pool is stopped when it is collected.

export class PoolRef<Pool extends object> {
  readonly #weak: WeakRef<Pool>
  /** Reading a `WeakRef` takes longer, so a busy pool is held. Its calls need it, too. */
  #busy: Pool | null = null

  constructor(pool: Pool) {
    this.#weak = new WeakRef(pool)
  }

  /** Call it when the pool has work. */
  hold(): void {
    this.#busy ??= this.#weak.deref() ?? null
  }

  /** Call it when the pool has no work. */
  release(): void {
    this.#busy = null
  }

  /** Does nothing when the pool was collected. */
  tell(action: (pool: Pool) => void): void {
    const { pool } = this
    if (pool !== undefined) action(pool)
  }

  /** `undefined`: the pool was collected. */
  get pool(): Pool | undefined {
    return this.#busy ?? this.#weak.deref()
  }
}
