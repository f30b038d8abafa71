// What the results of maps, streams and remote maps have in common: an async iterator with the usual ways to use it up.

export const END = { value: undefined, done: true } as const

export abstract class ResultIterator<Result> implements AsyncIterableIterator<Result> {
  /** The next result. */
  abstract next(): Promise<IteratorResult<Result, undefined>>
  /** Ends the iteration. */
  abstract return(): Promise<IteratorResult<Result, undefined>>

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /** Resolves to all results. */
  async toArray(): Promise<Result[]> {
    const results: Result[] = []
    for await (const result of this) results.push(result)
    return results
  }

  /** Calls `use` with each result. */
  async forEach(use: (result: Result) => unknown): Promise<void> {
    for await (const result of this) {
      const used = use(result)
      if (isThenable(used)) await used
    }
  }
}

export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as PromiseLike<T>).then === 'function'
}
