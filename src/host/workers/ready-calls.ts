// The calls of `pool.ready()` that wait.

export class ReadyCalls {
  #calls: { resolve: () => void; reject: (reason: unknown) => void }[] = []

  get isAny(): boolean {
    return this.#calls.length > 0
  }

  add(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ resolve, reject })
    })
  }

  resolve(): void {
    for (const { resolve } of this.#calls.splice(0)) resolve()
  }

  reject(reason: unknown): void {
    for (const { reject } of this.#calls.splice(0)) reject(reason)
  }
}
