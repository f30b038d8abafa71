// The public class: documents what a pool does, and hands each call to `calls/` or to the engine.
import type {
  BroadcastOptions,
  CallOptions,
  CloseOptions,
  CloseReport,
  FunctionOptions,
  MapOptions,
  MapSource,
  RoomOptions,
  RunOptions,
  StreamOptions,
  TransformOptions,
} from '../api/call-options.js'
import type {
  AcceptedPayload,
  ApiResult,
  CheckedName,
  Chosen,
  ChunkOf,
  DefaultName,
  HandlerName,
  PoolApi,
  ResultOf,
  RunArguments,
} from '../api/handler-types.js'
import type { PoolLike } from '../api/pool-like.js'
import type { PoolOptions, ResizeOptions } from '../api/pool-options.js'
import type { PoolMap, PoolStream, PoolTransform, SharedValue } from '../api/results.js'
import type { CpuProfile, ProfileOptions, Trace, TraceOptions } from '../api/trace.js'
import { PoolClosedError, type PublicFunction, withCallerFrames } from '../shared/errors/pool-errors.js'
import type { Backend } from './backend/backend.js'
import { apiOf } from './calls/api.js'
import { broadcast } from './calls/broadcast.js'
import { FunctionCalls } from './calls/call-function.js'
import { resolveClose, resolveRoom } from './calls/call-options.js'
import { callerFile, callerPlace, forCaller } from './calls/caller-stack.js'
import { profile, trace } from './calls/inspect.js'
import { mapOf } from './calls/map.js'
import { Runs, rejectCall } from './calls/run.js'
import { share } from './calls/share.js'
import { streamOf } from './calls/stream.js'
import { transformOf } from './calls/transform.js'
import { Engine, type EngineParts, startAhead } from './engine/engine.js'
import { resolveOptions, resolveResize } from './options/settings.js'
import { engineOf, PoolProperties } from './pool-properties.js'

/**
 * Runs the functions of a module in workers.
 *
 * ```ts
 * const pool = new Pool({ module: () => import('./work.js'), base: import.meta.url })
 * const result = await pool.run(payload)
 * await pool.close()
 * ```
 *
 * `Module` is the type of the handlers' module: it gives the types of payloads and results. A call without `name` runs the export
 * named `Default`. Give it when the pool's option `name` is not `'default'`.
 * @see [Pool](https://OWNER.github.io/lido/reference/pool.html)
 */
export class Pool<Module = any, Default extends HandlerName<Module> = DefaultName<Module>>
  extends PoolProperties
  implements PoolLike<Module, Default>
{
  readonly #engine: Engine
  readonly #runs: Runs
  #calls: FunctionCalls | null = null
  #api: PoolApi<Module> | null = null

  /**
   * Starts `minWorkers` workers. Throws `InvalidOptionError` for an option that is unknown, wrong or contradicts another one, and
   * `WorkerStartError` when the system refuses to start a worker.
   * @example
   * const pool = new Pool({ module: () => import('./image.js'), base: import.meta.url, maxQueue: 1_000 })
   * @see [Options](https://OWNER.github.io/lido/reference/pool.html#options)
   */
  constructor(options?: PoolOptions<Module>)
  /** @internal */
  constructor(options?: PoolOptions<Module>, parts?: EngineParts)
  constructor(options?: PoolOptions, parts?: EngineParts) {
    const entry = new.target
    let engine!: Engine
    super(pool => {
      let backend: Backend | undefined
      const settings = resolveOptions(
        options,
        () => callerFile(entry),
        workerOptions => {
          // An adapter changes the options of each worker, so its thread cannot start yet.
          if (parts === undefined) backend = startAhead(workerOptions)
        },
      )
      engine = new Engine(settings, pool, callerPlace(entry), parts ?? { backend })
      return engine
    }, Pool)
    this.#engine = engine
    this.#runs = new Runs(engine)
    engine.announce()
  }

  /**
   * Runs the handler with the payload in a worker. Resolves with the handler's result. Payload and result are copied as by
   * `structuredClone()`: a `Buffer` arrives as a `Uint8Array`. `move()` transfers a value in place of the copy.
   *
   * Never throws. Rejects with the handler's own error, or with a `PoolError`:
   * - `InvalidTaskError`: an option of the call is wrong, or nothing names a file
   * - `QueueFullError`: `maxQueue` tasks are queued
   * - `PoolClosedError`: the pool is closing or closed, or ended before the task finished
   * - `TaskCancelledError`: `signal` was aborted
   * - `TaskTimeoutError`: `timeout`, `queueTimeout` or `deadline` is over
   * - `WorkerStartError`, `RestartLimitError`: no worker could load the handler
   * - `WorkerExitError`, `WorkerMemoryError`: the worker ended while it ran the task
   * - `TaskQuarantinedError`: with `retry`, two or more workers ended while they ran the task
   * - `NotCloneableError`: the payload or the result cannot be copied or transferred
   * - `InvalidOptionError`: an option of the pool proves wrong only now, as a `loadBalancer` that returns no worker
   * @example
   * const small = await pool.run(bytes, { name: 'resize', timeout: 5_000 })
   * @see [pool.run()](https://OWNER.github.io/lido/reference/pool.html#poolrunpayload-options)
   */
  run<Name extends string | undefined = Default>(
    ...args: RunArguments<Module, Name, Default>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>>
  run(payload?: unknown, options?: RunOptions): Promise<unknown> {
    return this.#runs.run(payload, options, Pool.prototype.run)
  }

  /**
   * Runs a function of this program in a worker: `pool.call((a, b) => a + b, 2, 3)`. The function is sent as text, so it must not use
   * variables around it: pass values as arguments, and import modules in the function. It runs in strict mode. An argument given to
   * `move()` is transferred. Options may be the first argument, before the function.
   *
   * Rejects as `run()` does. `InvalidTaskError` also says that the function cannot be sent, and names the variable that it uses.
   * @example
   * const sum = await pool.call((a, b) => a + b, 2, 3)
   * @see [Run a function without a file](https://OWNER.github.io/lido/guides/functions.html)
   */
  call<Sent extends (...args: any[]) => unknown>(
    fn: Sent,
    ...args: Parameters<Sent>
  ): ApiResult<Awaited<ReturnType<Sent>>>
  /**
   * The same with options for the call.
   * @example
   * const sum = await pool.call({ timeout: 1_000 }, (a, b) => a + b, 2, 3)
   * @see [Run a function without a file](https://OWNER.github.io/lido/guides/functions.html)
   */
  call<Sent extends (...args: any[]) => unknown>(
    options: FunctionOptions | undefined,
    fn: Sent,
    ...args: Parameters<Sent>
  ): ApiResult<Awaited<ReturnType<Sent>>>
  call(...given: unknown[]): Promise<unknown> {
    this.#calls ??= new FunctionCalls(this.#engine)
    return this.#calls.call(given, Pool.prototype.call)
  }

  /**
   * The functions of the module, each with its own parameters: `pool.api.resize(bytes, { width: 200 })`. A call rejects as
   * `run()` does. An argument given to `move()` is transferred.
   * @example
   * const small = await pool.api.resize(bytes, { width: 200 })
   * @see [Call the functions of a module with types](https://OWNER.github.io/lido/guides/typed-calls.html)
   */
  get api(): PoolApi<Module> {
    this.#api ??= apiOf(this.#engine, undefined) as PoolApi<Module>
    return this.#api
  }

  /**
   * The same functions, called with these options: `pool.with({ timeout: 5_000 }).api.resize(bytes)`. The object may be kept
   * and used for any number of calls. Throws `InvalidTaskError`.
   * @example
   * const small = await pool.with({ signal, timeout: 5_000 }).api.resize(bytes, { width: 200 })
   * @see [pool.with()](https://OWNER.github.io/lido/reference/pool.html#poolwithoptions)
   */
  with(options: CallOptions): { readonly api: PoolApi<Module> } {
    return { api: forCaller(Pool.prototype.with, () => apiOf(this.#engine, options)) as PoolApi<Module> }
  }

  /**
   * Runs one task for each item of the input, and gives the results as an async iterable. It pulls an item only when a place is
   * free (`concurrency`), so the input may be endless. Iterate over it, `await` it for an array, or call
   * `forEach()`.
   *
   * Throws `InvalidTaskError`. The iteration rejects with the error of the first task that fails, unless `onError` says to go on;
   * with the error of the input; with `TaskCancelledError` when `signal` is aborted; with `PoolClosedError`.
   * @example
   * for await (const small of pool.map(images, { name: 'resize', concurrency: 8 })) await save(small)
   * @see [Run a task for each item of a list or stream](https://OWNER.github.io/lido/guides/map.html)
   */
  map<Name extends string | undefined = Default, Replacement = never>(
    source: MapSource<AcceptedPayload<Module, Name, Default>>,
    options?: MapOptions<AcceptedPayload<Module, Name, Default>, Replacement> & {
      name?: CheckedName<Module, Name>
    },
  ): PoolMap<ResultOf<Module, Chosen<Name, Default>> | Awaited<Replacement>> {
    const { map } = Pool.prototype
    return forCaller(map, () => mapOf(this.#engine, source, options, map))
  }

  /**
   * Runs a handler whose result is a stream: a generator, an async iterable or a web stream. Gives its chunks as an async iterable.
   * The task is submitted when the first chunk is asked for, and occupies a slot until its stream has ended. The handler pauses while
   * `highWaterMark` chunks wait for the reader. `break` cancels the task, and its generator runs its `finally` blocks in the worker.
   *
   * Throws `InvalidTaskError`. The iteration rejects with the errors of `run()`. After a `TaskCancelledError`, a `TaskTimeoutError` or
   * a `PoolClosedError`, the chunks that wait are dropped. Other errors come after them.
   * @example
   * for await (const row of pool.stream(file, { name: 'parseCsv' })) await insert(row)
   * @see [Receive results piece by piece](https://OWNER.github.io/lido/guides/streams.html)
   */
  stream<Name extends string | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, StreamOptions>
  ): PoolStream<ChunkOf<Module, Chosen<Name, Default>>>
  stream(payload?: unknown, options?: StreamOptions): PoolStream {
    const { stream } = Pool.prototype
    return forCaller(stream, () => streamOf(this.#engine, payload, options, stream))
  }

  /**
   * Runs a handler that reads a stream and gives a stream: `async function* (source)`. Returns two web streams, for `pipeThrough()`. The
   * task is submitted with the first write or read. Both directions pause while `highWaterMark` chunks wait for their reader.
   *
   * Throws `InvalidTaskError`. Errors of the task, as of `run()`, end both streams.
   * @example
   * const smaller = source.pipeThrough(pool.transform({ name: 'compress' }))
   * @see [Transform a stream](https://OWNER.github.io/lido/guides/streams.html)
   */
  transform<Input = any, Output = any>(
    options?: TransformOptions & { name?: HandlerName<Module> | undefined },
  ): PoolTransform<Input, Output> {
    const { transform } = Pool.prototype
    return forCaller(transform, () => transformOf(this.#engine, options, transform))
  }

  /**
   * Encodes a large value once, for the payloads of many calls. Put the returned handle anywhere in a payload: the handler receives the
   * value. Each worker decodes it once, at its first use. Typed arrays in it are views on shared memory, and must only be read; in
   * processes they are copies. On this side the handle has no members of the value. Blocks this thread while it encodes.
   *
   * Throws `NotCloneableError` for a value that structured clone refuses.
   * @example
   * const table = pool.share(largeTable)
   * await pool.run({ table, word: 'lido' })
   * table.release()
   * @see [Share large data between tasks](https://OWNER.github.io/lido/guides/share.html)
   */
  share<T>(value: T): T & SharedValue {
    return forCaller(Pool.prototype.share, () => share(value))
  }

  /**
   * Runs the handler once on every worker that is starting or ready. A busy worker runs it after its task, before any other.
   * Resolves to all results, in the order in which the workers were started. A worker that ends before it starts the call has no
   * result. Without workers, resolves to `[]`. Each worker gets a copy of the payload.
   *
   * With `alsoNew`, workers that start later run it before their first task, until `signal` is aborted, or until a newer call with
   * `alsoNew` of the same file and name. If the handler fails there, the start of that worker has failed (`WorkerStartError`).
   *
   * Never throws. Rejects when all workers have settled, with the first error of any of them, as `run()` does. Rejects at once with
   * `InvalidTaskError` for a wrong option, with `NotCloneableError` for a payload that cannot be copied, with `TaskCancelledError`
   * when `signal` is already aborted, and with `PoolClosedError` when the pool is closing or closed.
   * @example
   * await pool.broadcast(newPrices, { name: 'setPrices', alsoNew: true })
   * @see [Call a function on every worker](https://OWNER.github.io/lido/guides/broadcast.html)
   */
  broadcast<Name extends string | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, BroadcastOptions>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>[]>
  broadcast(payload?: unknown, options?: BroadcastOptions): Promise<unknown[]> {
    return broadcast(this.#engine, payload, options, Pool.prototype.broadcast)
  }

  /**
   * Resolves when the next `run()` will find a free place: with a finite `maxQueue`, when fewer tasks are queued; otherwise, when
   * fewer tasks are queued than the pool has slots. Callers are served in order, one for each place. Call `run()` in the same turn
   * of the event loop.
   *
   * Rejects with `PoolClosedError` when the pool closes, with `TaskCancelledError` when `signal` is aborted, and with
   * `InvalidTaskError` for a wrong option.
   * @example
   * await pool.room()
   * void pool.run(job).then(save)
   * @see [Limit the queue](https://OWNER.github.io/lido/guides/queue.html)
   */
  room(options?: RoomOptions): Promise<void> {
    try {
      if (this.#engine.state !== 'open') throw new PoolClosedError('closed')
      return this.#engine.room(resolveRoom(options))
    } catch (problem) {
      return rejectCall(problem, Pool.prototype.room)
    }
  }

  /**
   * Refuses new tasks, waits for the accepted ones, runs the teardowns and ends the workers. After `closeTimeout` the remaining
   * tasks reject with `PoolClosedError`, and the host kills the workers. Calling it again is no error.
   *
   * Rejects with `InvalidTaskError` for a wrong option.
   * @example
   * process.once('SIGTERM', () => pool.close())
   * @see [Close a pool](https://OWNER.github.io/lido/guides/closing.html)
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    const { force } = forCaller(Pool.prototype.close, () => resolveClose(options))
    return await this.#engine.close(force)
  }

  /**
   * Rejects all tasks with `PoolClosedError` and kills all workers at once, without teardowns. Resolves when they have ended; never
   * rejects. Calling it again, or during `close()`, is no error.
   * @example
   * await pool.destroy()
   * @see [Close a pool](https://OWNER.github.io/lido/guides/closing.html)
   */
  async destroy(): Promise<void> {
    await this.#engine.destroy()
  }

  /**
   * Replaces every worker, one after another. The new worker is ready before the old one leaves, and the old one finishes its
   * started tasks. Resolves when all old workers have ended and a new one is ready. A second call meanwhile joins the first one.
   *
   * Rejects with `WorkerStartError` when a new worker does not start: the workers that are not replaced yet stay. Rejects with
   * `PoolClosedError` when the pool closes.
   *
   * With `minWorkers: 0` and no worker alive, the call resolves at once. With a higher `minWorkers` it starts a worker, also when all
   * others have failed.
   * @example
   * await pool.recycle()
   * @see [pool.recycle()](https://OWNER.github.io/lido/reference/pool.html#poolrecycle)
   */
  recycle(): Promise<void> {
    return this.#whileOpen(Pool.prototype.recycle, () => this.#engine.replaceAll('recycle'))
  }

  /**
   * Does the same as `recycle()` for handler files that have changed, and rejects with the same errors. After it has resolved, no
   * task runs on a worker that was started before the call. Ends a pause after failed starts. Inline workers keep the modules
   * that the program has loaded.
   * @example
   * watch(new URL('./image.js', import.meta.url), () => pool.reload())
   * @see [pool.reload()](https://OWNER.github.io/lido/reference/pool.html#poolreload)
   */
  reload(): Promise<void> {
    return this.#whileOpen(Pool.prototype.reload, () => this.#engine.replaceAll('reload'))
  }

  /**
   * Resolves when `minWorkers` workers are ready: they run, have loaded the handler's file, and its `setup()` has finished.
   *
   * Rejects with `WorkerStartError` when a worker does not start, with `RestartLimitError` while the pool starts none, and with
   * `PoolClosedError` when the pool closes.
   * @example
   * await pool.ready()
   * server.listen(8080)
   * @see [Prepare workers before the first task](https://OWNER.github.io/lido/guides/warm-up.html)
   */
  ready(): Promise<void> {
    return this.#whileOpen(Pool.prototype.ready, () => this.#engine.ready())
  }

  /**
   * Changes the number of workers while the pool runs. The pool starts workers up to the new minimum at once. Surplus workers finish
   * their started tasks and stop, idle ones first. `maxQueue` stays as it is.
   *
   * Throws `InvalidOptionError`, and `PoolClosedError` when the pool is closing or closed.
   * @example
   * pool.resize({ minWorkers: 2, maxWorkers: 8 })
   * @see [pool.resize()](https://OWNER.github.io/lido/reference/pool.html#poolresizeoptions)
   */
  resize(options: ResizeOptions): void {
    forCaller(Pool.prototype.resize, () => {
      if (this.#engine.state !== 'open') throw new PoolClosedError('closed')
      this.#engine.resize(resolveResize(options, this.#engine.settings.size))
    })
  }

  /**
   * Records the tasks of the pool and the CPU profiles of all threads, for 5 seconds or `seconds`. Resolves to a trace with a track for
   * the queue, the host and each worker. `save()` writes a file for Chrome DevTools, Perfetto and Firefox Profiler. The recording
   * ends early when `signal` is aborted or when the pool has closed. Several recordings may run at once.
   *
   * Rejects with `InvalidTaskError` for a wrong option, and with `PoolClosedError` when the pool is closed.
   * @example
   * const trace = await pool.trace({ seconds: 10 })
   * await trace.save('pool.trace.json')
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  trace(options?: TraceOptions): Promise<Trace> {
    return trace([this.#engine], options, Pool.prototype.trace)
  }

  /**
   * Records several pools in one trace. Rejects as `pool.trace()` does.
   * @example
   * const trace = await Pool.trace([images, mails])
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  static trace(pools: readonly object[], options?: TraceOptions): Promise<Trace> {
    const engines = Array.isArray(pools) ? pools.map(pool => engineOf(pool)) : []
    return trace(engines, options, Pool.trace)
  }

  /**
   * Records the CPU profiles of the host and of all workers, as `trace()` does. Resolves to one profile in the format of `.cpuprofile`
   * files, with a subtree for the host, for each handler and for idle workers. Rejects as `trace()` does.
   * @example
   * const profile = await pool.profile({ seconds: 10 })
   * await profile.save('pool.cpuprofile')
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  profile(options?: ProfileOptions): Promise<CpuProfile> {
    return profile(this.#engine, options, Pool.prototype.profile)
  }

  /**
   * Rejects all queued tasks with `TaskCancelledError`, whose `reason` is the given value. Tasks that have a slot continue, and the
   * pool stays open.
   * @example
   * pool.cancelQueued(new Error('The server stops.'))
   * @see [pool.cancelQueued()](https://OWNER.github.io/lido/reference/pool.html#poolcancelqueuedreason)
   */
  cancelQueued(reason?: unknown): void {
    this.#engine.cancelQueued(reason)
  }

  /**
   * Calls `close()`, for `await using`.
   * @example
   * await using pool = new Pool({ filename })
   * @see [await using](https://OWNER.github.io/lido/reference/pool.html#await-using)
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #whileOpen(entry: PublicFunction, work: () => Promise<void>): Promise<void> {
    if (this.#engine.state !== 'open') throw withCallerFrames(new PoolClosedError('closed'), entry)
    await work()
  }
}
