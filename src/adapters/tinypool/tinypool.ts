// The class of Tinypool 2.2. Converts calls, options, events and errors; a lido pool runs the tasks.
import { EventEmitterAsyncResource } from 'node:events'
import type { Transferable as TransferItem } from 'node:worker_threads'
import { type RunOptions as LidoRunOptions, type Pool, TeardownError, type WorkerView } from '../../index.js'
import { createPool, deserializeError, ownFields, realClock, within } from '../../kit.js'
import {
  AbortError,
  CancelError,
  channelRefused,
  failedToTerminate,
  filenameMissing,
  inTinypoolTerms,
  threadTermination,
} from './errors.js'
import { kTransferable, kValue, move, unwrap } from './movable.js'
import {
  type FilledOptions,
  fillOptions,
  type Options,
  startOptions,
  toPath,
  toPoolOptions,
} from './options.js'
import { ISOLATED_END, type IsolatedEnd, type TaskOrder, throughJson, tinypoolState } from './orders.js'
import { kQueueOptions, type TaskQueue, toLidoQueue } from './task-queue.js'
import { type TinypoolChannel, type TinypoolWorker, Workers } from './workers.js'

/** The version of Tinypool whose interface this is. */
export const version = '2.2.0'

/** Tinypool gives a process this time to end. */
const EXIT_MS = 1000

interface SignalTarget {
  addEventListener(name: 'abort', listener: () => void): void
  removeEventListener(name: 'abort', listener: () => void): void
  aborted?: boolean
}

interface SignalEmitter {
  once(name: 'abort', listener: () => void): unknown
  off(name: 'abort', listener: () => void): unknown
  aborted?: boolean
}

/** The options of `run()`. */
export interface RunOptions {
  /** Parts of the task that are transferred, not copied. */
  transferList?: readonly TransferItem[]
  /** For messages between the program and the task. Threads use only `onClose`. */
  channel?: TinypoolChannel
  /** The module with the function. Default: the pool's. */
  filename?: string | URL | null
  /** Aborting it rejects the call and ends the worker of a running task. */
  signal?: SignalTarget | SignalEmitter | null
  /** The name of the function. Default: the pool's. */
  name?: string | null
  /** Has no effect, as in Tinypool. */
  runtime?: Options['runtime']
}

/** The class of Tinypool 2.2, with its options, error texts, events and statics. */
export class Tinypool extends EventEmitterAsyncResource {
  readonly #options: FilledOptions
  readonly #workers: Workers
  /** `null`: the pool has its own queue. It can then send tasks to the workers before they are idle. */
  readonly #userQueue: TaskQueue | null
  /** `destroy()` aborts it. Calls share its signal unless they need their own. */
  #ending = new AbortController()
  /** Of the calls that the program or its queue may cancel one by one. */
  readonly #controllers = new Set<AbortController>()
  readonly #controllerOf = new WeakMap<object, AbortController>()
  readonly #startedAt = realClock.now()
  /** `null` after `destroy()`, until the next call. */
  #pool: Pool | null
  #completed = 0

  constructor(given: Options = {}) {
    const options = ownFields(given)
    super(ownFields({ ...(options as object), name: 'Tinypool' }))
    this.#userQueue = options.taskQueue ?? null
    this.#options = fillOptions(options)
    this.#workers = new Workers(Math.ceil(this.#options.maxThreads))
    this.#pool = this.#open()
  }

  /** Runs the function with the task in a worker. Rejects with the function's own error, or with the errors of Tinypool. */
  run(task: any, options: RunOptions = {}): Promise<any> {
    const given = ownFields(options)
    const { filename, signal, channel } = given
    const file = filename ?? this.#options.filename
    if (typeof file !== 'string' && !(file instanceof URL)) return Promise.reject(filenameMissing())
    if (signal?.aborted) return Promise.reject(new AbortError())
    if (channel !== undefined && this.#options.runtime === 'worker_threads') {
      if (channel.onMessage) return Promise.reject(channelRefused('onMessage', 'listening to'))
      if (channel.postMessage) return Promise.reject(channelRefused('postMessage', 'sending to'))
    }
    return this.#submit(task, toPath(file), given)
  }

  /** Rejects all tasks, and ends all workers. Idle workers run their teardown first. The next call starts the pool again. */
  async destroy(): Promise<void> {
    const pool = this.#pool
    this.#pool = null
    this.#ending.abort(threadTermination())
    this.#ending = new AbortController()
    for (const controller of this.#controllers) controller.abort(threadTermination())
    await pool?.close({ force: true })
    this.emitDestroy()
  }

  /** Rejects the queued tasks with `CancelError`. Running tasks continue. */
  cancelPendingTasks(): void {
    if (this.#userQueue === null) this.#pool?.cancelQueued(new CancelError())
    else this.#userQueue.cancel()
  }

  /**
   * Replaces all workers. Resolves when the idle ones have ended. A busy worker is replaced after its task, later. With another `runtime`,
   * later tasks run there.
   */
  async recycleWorkers(options: Pick<Options, 'runtime'> = {}): Promise<void> {
    const { runtime = this.#options.runtime } = ownFields(options)
    const pool = this.#pool ?? this.#open()
    this.#pool = pool
    if (runtime !== this.#options.runtime) {
      this.#options.runtime = runtime
      this.#pool = this.#open()
      await endIdleWorkers(pool, () => pool.close())
    } else if (!this.#options.isolateWorkers) {
      await endIdleWorkers(pool, () => pool.recycle())
    }
  }

  /** All options with their defaults. */
  get options(): FilledOptions {
    return this.#options
  }

  /** The workers. */
  get threads(): TinypoolWorker[] {
    return (this.#pool?.workers ?? []).map(view => this.#workers.workerOf(view))
  }

  /** Queued tasks. */
  get queueSize(): number {
    return this.#pool?.queueSize ?? 0
  }

  /** Settled tasks. */
  get completed(): number {
    return this.#completed
  }

  /** Milliseconds since the pool was created. */
  get duration(): number {
    return realClock.now() - this.#startedAt
  }

  /** True in a worker of a pool. */
  static get isWorkerThread(): boolean {
    return tinypoolState()?.isWorkerThread || false
  }

  /** The option `workerData` of the pool, in a worker. */
  static get workerData(): any {
    return tinypoolState()?.workerData || undefined
  }

  /** The version of Tinypool whose interface this is. */
  static get version(): string {
    return version
  }

  /** Marks a value that is transferred, not copied. */
  static move<V>(value: V): V {
    return move(value)
  }

  /** The property with the item that `move()` transfers. */
  static get transferableSymbol(): typeof kTransferable {
    return kTransferable
  }

  /** The property with the value that the other side receives. */
  static get valueSymbol(): typeof kValue {
    return kValue
  }

  /** The property of a task that a queue reads. */
  static get queueOptionsSymbol(): typeof kQueueOptions {
    return kQueueOptions
  }

  async #submit(given: any, filename: string, options: RunOptions): Promise<any> {
    const pool = this.#pool ?? this.#open()
    this.#pool = pool
    const [task, transferList] = unwrap(given, options.transferList ?? [])
    const { runtime, serialization = 'json', isolateWorkers } = this.#options
    const order: TaskOrder = {
      task: runtime === 'child_process' && serialization === 'json' ? throughJson(task) : task,
    }
    if (filename !== this.#options.filename) order.filename = filename
    const name = options.name ?? this.#options.name
    if (name !== this.#options.name) order.name = name
    const { signal, channel } = options
    const isPlain = !signal && channel === undefined && !isolateWorkers && this.#userQueue === null
    try {
      return isPlain
        ? await pool.run(order, { transferList, signal: this.#ending.signal })
        : await this.#runSpecial(pool, order, transferList, options)
    } catch (error) {
      throw inTinypoolTerms(error)
    } finally {
      this.#completed++
    }
  }

  /** Runs a task that has a channel, that may be cancelled alone, or that ends its worker. */
  async #runSpecial(
    pool: Pool,
    order: TaskOrder,
    transferList: readonly TransferItem[],
    { signal, channel }: RunOptions,
  ): Promise<unknown> {
    const controller = new AbortController()
    const onAbort = () => controller.abort(new AbortError())
    // Messages of a process have their own channel, so the last ones may arrive after the result.
    let onEnded = () => {}
    const allMessages = new Promise<void>(resolve => {
      onEnded = resolve
    })
    const callId = channel === undefined ? null : this.#workers.addCall({ channel, onEnded })
    if (callId !== null) order.channel = callId
    this.#controllers.add(controller)
    this.#controllerOf.set(order, controller)
    if (signal) listen(signal, onAbort)
    const callOptions = { transferList, signal: controller.signal }
    try {
      const result = this.#options.isolateWorkers
        ? await this.#runIsolated(pool, order, callOptions)
        : await pool.run(order, { ...callOptions, exclusive: Boolean(signal) })
      if (channel !== undefined && this.#options.runtime === 'child_process') await allMessages
      return result
    } finally {
      this.#controllers.delete(controller)
      if (callId !== null) this.#workers.removeCall(callId)
      if (signal) unlisten(signal, onAbort)
    }
  }

  /** The worker reports the end of the task and exits. The call settles after that. */
  async #runIsolated(pool: Pool, order: TaskOrder, callOptions: LidoRunOptions): Promise<unknown> {
    let onEnd!: (end: IsolatedEnd) => void
    const ended = new Promise<IsolatedEnd>(resolve => {
      onEnd = resolve
    })
    const exit = pool.run(order, {
      ...callOptions,
      exclusive: true,
      functions: { [ISOLATED_END]: (end: IsolatedEnd) => onEnd(end) },
    })
    const end = await Promise.race([ended, exit])
    const view = pool.workers.find(({ tasks }) => tasks.some(({ payload }) => payload === order))
    if (view !== undefined) await this.#exited(view)
    // The task itself rejects, because its worker exits.
    await exit.catch(() => {})
    if ('error' in end) throw deserializeError(end.error)
    return end.result
  }

  async #exited(view: WorkerView): Promise<void> {
    const { terminateTimeout } = this.#options
    const kill = realClock.after(EXIT_MS, () => void view.terminate(), true)
    try {
      await within(
        realClock,
        terminateTimeout || Number.POSITIVE_INFINITY,
        this.#workers.exitOf(view),
        () => {
          throw failedToTerminate()
        },
      )
    } finally {
      kill.cancel()
    }
  }

  #open(): Pool {
    const cancel = (payload: object) => this.#controllerOf.get(payload)?.abort(new CancelError())
    const queue = this.#userQueue === null ? undefined : toLidoQueue(this.#userQueue, this.#options, cancel)
    let pool: Pool
    try {
      const options = this.#options
      pool = createPool({ ...toPoolOptions(options), queue }, (workerOptions, workerId) =>
        startOptions(options, workerOptions, this.#workers.reserve(workerId)),
      )
    } catch (error) {
      throw inTinypoolTerms(error)
    }
    pool.on('drain', () => this.emit('drain'))
    pool.on('message', (message, view) => this.#workers.onMessage(message, view))
    pool.on('workerCreate', view => this.#workers.workerOf(view))
    pool.on('workerDestroy', view => this.#workers.onLeft(view))
    pool.on('error', error => {
      const isLate = error instanceof TeardownError && error.cause === undefined
      // Without a listener, the event 'error' would end the process.
      if (this.listenerCount('error') > 0)
        this.emit('error', isLate ? failedToTerminate() : inTinypoolTerms(error))
    })
    return pool
  }
}

function listen(signal: SignalTarget | SignalEmitter, listener: () => void): void {
  if ('addEventListener' in signal) signal.addEventListener('abort', listener)
  else signal.once('abort', listener)
}

function unlisten(signal: SignalTarget | SignalEmitter, listener: () => void): void {
  if ('removeEventListener' in signal) signal.removeEventListener('abort', listener)
  else signal.off('abort', listener)
}

/** Resolves when all workers that are idle now have ended. Rejects with the error of `endAll`, if it comes before. */
async function endIdleWorkers(pool: Pool, endAll: () => Promise<unknown>): Promise<void> {
  const { workers } = pool
  const idle = new Set(workers.filter(({ isIdle }) => isIdle))
  const isBusy = idle.size < workers.length
  const ended = new Promise<void>(resolve => {
    const onEnd = (worker: WorkerView) => {
      idle.delete(worker)
      if (idle.size > 0) return
      pool.off('workerDestroy', onEnd)
      resolve()
    }
    if (idle.size > 0) pool.on('workerDestroy', onEnd)
    else resolve()
  })
  const allEnded = endAll().catch(error => {
    throw inTinypoolTerms(error)
  })
  await (isBusy ? Promise.race([allEnded, ended]) : allEnded)
}
