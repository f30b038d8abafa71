// The objects that calls of a pool return.

/**
 * The results of `pool.map()`. It starts when the first result is asked for. Each result is given once, to one consumer.
 * `await` gives an array of all results. A map that nobody reads runs nothing, and the program gets the warning `LIDO_UNREAD_MAP`.
 */
export interface PoolMap<Result> extends AsyncIterableIterator<Result>, PromiseLike<Result[]> {
  [Symbol.asyncIterator](): this
  /** The next result. Rejects with the error of the first item that fails, unless `onError` says to go on. */
  next(): Promise<IteratorResult<Result, undefined>>
  /** Ends the map: cancels the tasks that are queued or running, and closes the input. `break` in a loop calls it. */
  return(): Promise<IteratorResult<Result, undefined>>
  /** Ends the map, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
  /** Resolves to all results. Rejects as the iteration does. */
  toArray(): Promise<Result[]>
  /** For `await`: resolves to all results that nobody took before. Rejects as the iteration does. Later calls give the same array. */
  then<Fulfilled = Result[], Rejected = never>(
    onFulfilled?: ((results: Result[]) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: any) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected>
  /** Calls `use` with each result, and waits for the promise that it returns. Rejects as the iteration does, or with what `use` throws. */
  forEach(use: (result: Result) => unknown): Promise<void>
}

/** The chunks of a handler's stream. Each chunk is given once, to one consumer. */
export interface PoolStream<Chunk = any> extends AsyncIterableIterator<Chunk> {
  [Symbol.asyncIterator](): this
  /** The next chunk. Rejects with the error that `run()` would give. */
  next(): Promise<IteratorResult<Chunk, undefined>>
  /** Cancels the task. Its generator runs its `finally` blocks in the worker. `break` in a loop calls it. */
  return(): Promise<IteratorResult<Chunk, undefined>>
  /** Cancels the task, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
  /** Resolves to all chunks. Rejects as the iteration does. */
  toArray(): Promise<Chunk[]>
  /** Calls `use` with each chunk, and waits for the promise that it returns. Rejects as the iteration does, or with what `use` throws. */
  forEach(use: (chunk: Chunk) => unknown): Promise<void>
}

/** Two web streams. Pass the object to `pipeThrough()`, or make a Node stream of it with `Duplex.fromWeb()`. */
export interface PoolTransform<Input = any, Output = any> {
  /** Gives the chunks of the handler. */
  readonly readable: ReadableStream<Output>
  /** Takes the chunks for the handler. */
  readonly writable: WritableStream<Input>
}

/** The handle of a shared value. Its type is also that of the value, because the handler receives the value. */
export interface SharedValue {
  /**
   * Frees the memory of the value, in the workers too, when the calls that were made before have settled. A later call whose payload
   * contains the handle rejects with `NotCloneableError`. Calling it again does nothing.
   */
  release(): void
  [Symbol.dispose](): void
}
