// The class of Piscina 5.3, with its API of 2020. Converts calls, options, events and errors; a lido pool runs the
// tasks.
import { AsyncResource } from 'node:async_hooks'
import {
  InvalidOptionError,
  move,
  Pool,
  type PoolOptions,
  transferableSymbol,
  valueSymbol,
} from '../../index.js'
import { ownFields } from '../../kit.js'
import { isWorkerThread, workerData } from '../../worker.js'
import { type AbortSignalAny, bridgeSignal } from './abort-signal.js'
import {
  AbortError,
  closeTimedOut,
  filenameMissing,
  inPiscinaTerms,
  noHandler,
  QUEUE_IS_ENDING,
  queueIsTaken,
} from './errors.js'
import { adaptBalancer, WorkerViews } from './load-balancer.js'
import {
  checkOptions,
  type FilledOptions,
  fillOptions,
  type PiscinaOptions,
  toPath,
  toPoolOptions,
} from './options.js'
import { type PiscinaParts, PiscinaProperties } from './properties.js'
import { ArrayTaskQueue, FixedQueue } from './queues.js'
import { ReusablePool } from './reusable-pool.js'
import { type RunOptions, shiftArguments } from './run-task.js'
import { queueOptionsSymbol, type TaskQueue, toLidoQueue } from './task-queue.js'
import { TerminateOnAbort } from './terminate-on-abort.js'

/** Programs compare this with the version of Piscina that they need. */
export const version = '5.3.2'

/** Queues that pools created. If a copy of `pool.options` has one of them, the user gave no queue. */
const ownQueues = new WeakSet<TaskQueue>()

/** The class of Piscina 5.3, with its options, error texts, events and statics. `T` is the type of tasks, `R` of results. */
export class Piscina<T = any, R = any> extends PiscinaProperties {
  readonly #options: FilledOptions
  readonly #workers = new WorkerViews()
  /** `null` without a load balancer of the user. */
  readonly #terminateOnAbort: TerminateOnAbort | null
  readonly #reusable: ReusablePool

  /** Throws the `TypeError` or `RangeError` of Piscina for a wrong option. */
  constructor(options: PiscinaOptions = {}) {
    const checked = checkOptions(options)
    if (ownQueues.has(checked.taskQueue!)) delete checked.taskQueue
    const parts = { options: fillOptions(checked) } as PiscinaParts
    super(ownFields({ ...(options as object), name: 'Piscina' }), parts)
    this.#options = parts.options
    const poolOptions = toPoolOptions(this.#options)
    if (checked.taskQueue !== undefined) poolOptions.queue = toLidoQueue(checked.taskQueue)
    if (checked.loadBalancer !== undefined) {
      poolOptions.loadBalancer = adaptBalancer(checked.loadBalancer, this.#workers)
    }
    this.#reusable = new ReusablePool(
      () => this.#start(poolOptions),
      (timedOut, wasClosed) => this.#emitEnd(timedOut, wasClosed),
    )
    parts.reusable = this.#reusable
    if (checked.taskQueue === undefined) {
      this.#options.taskQueue = this.#pool.options.queue as unknown as TaskQueue
      ownQueues.add(this.#options.taskQueue)
    }
    this.#terminateOnAbort =
      checked.loadBalancer === undefined ? null : new TerminateOnAbort(() => this.#pool.workers)
  }

  /**
   * Runs the handler with the task in a thread. Resolves with the handler's result. Never throws. Rejects with the handler's own
   * error, or with the errors of Piscina: an `AbortError` when `signal` is aborted or the pool ends, and an `Error` when the queue is
   * full or the thread ends.
   */
  run(task: T, options: RunOptions = {}): Promise<R> {
    if (options === null || typeof options !== 'object')
      return Promise.reject(new TypeError('options must be an object'))
    const { transferList, filename, name, signal } = ownFields(options)
    if (transferList !== undefined && !Array.isArray(transferList)) {
      return Promise.reject(new TypeError('transferList argument must be an Array'))
    }
    if (isWrongText(filename)) return Promise.reject(new TypeError('filename argument must be a string'))
    if (isWrongText(name)) return Promise.reject(new TypeError('name argument must be a string'))
    if (signal !== null && signal !== undefined && typeof signal !== 'object') {
      return Promise.reject(new TypeError('signal argument must be an object'))
    }
    let file = this.#options.filename
    try {
      if (filename) file = toPath(filename)
    } catch (problem) {
      return Promise.reject(problem)
    }
    if (!file) return Promise.reject(filenameMissing())
    if (this.#reusable.isEnding) return Promise.reject(new AbortError(QUEUE_IS_ENDING))
    const handlerName = name ?? this.#options.name
    if (handlerName === '') return Promise.reject(noHandler(file))
    return this.#submit(task, file, handlerName, signal ?? null, transferList)
  }

  /**
   * The call of Piscina before 3.1. A string or an object in an earlier place shifts the rest.
   * @deprecated use `run(task, { transferList, filename, signal })`
   */
  runTask(task: T, ...rest: unknown[]): Promise<R> {
    try {
      return this.run(task, { name: 'default', ...shiftArguments(rest) })
    } catch (problem) {
      return Promise.reject(problem)
    }
  }

  /**
   * Waits for the accepted tasks, for `closeTimeout` at most, and ends the threads. With `force`, queued tasks reject. The next
   * task starts the pool again.
   */
  async close(options: { force?: boolean } = { force: false }): Promise<void> {
    if (options === null || typeof options !== 'object') throw new TypeError('options must be an object')
    const { force = false } = ownFields(options)
    if (typeof force !== 'boolean') throw new TypeError('force argument must be a boolean')
    await this.#reusable.close(force)
  }

  /** Rejects all tasks and ends all threads at once. The next task starts the pool again. */
  destroy(): Promise<void> {
    return this.#reusable.destroy()
  }

  [Symbol.dispose](): void {
    void this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** True in a worker of a pool. */
  static get isWorkerThread(): boolean {
    return isWorkerThread
  }

  /** The option `workerData` of the pool, in a worker. */
  static get workerData(): any {
    return workerData
  }

  /** The version of Piscina whose interface this is. */
  static get version(): string {
    return version
  }

  /** This class, for programs that read it from the module. */
  static get Piscina(): typeof Piscina {
    return classOf()
  }

  /** A queue: first in, first out. */
  static get FixedQueue(): typeof FixedQueue {
    return FixedQueue
  }

  /** A queue on an array: first in, first out. */
  static get ArrayTaskQueue(): typeof ArrayTaskQueue {
    return ArrayTaskQueue
  }

  /** Marks a value that is transferred, not copied. */
  static move<V>(value: V): V {
    return move(value)
  }

  /** The property with the item that `move()` transfers. */
  static get transferableSymbol(): typeof transferableSymbol {
    return transferableSymbol
  }

  /** The property with the value that the other side receives. */
  static get valueSymbol(): typeof valueSymbol {
    return valueSymbol
  }

  /** The property of a task that a queue reads. */
  static get queueOptionsSymbol(): typeof queueOptionsSymbol {
    return queueOptionsSymbol
  }

  async #submit(
    task: T,
    filename: string,
    name: string,
    given: AbortSignalAny | null,
    transferList: RunOptions['transferList'],
  ): Promise<R> {
    const bridge = given === null ? null : bridgeSignal(given)
    const signal = bridge?.signal
    if (signal !== undefined) this.#terminateOnAbort?.watch(signal)
    const release = () => {
      if (signal !== undefined) this.#terminateOnAbort?.release(signal)
      try {
        bridge?.release()
      } catch (problem) {
        this.#emitError(problem)
      }
    }
    let answer: Promise<R>
    try {
      // `move()` may have put the task into a wrapper.
      const queueOptions =
        (task as any)?.[queueOptionsSymbol] ?? (task as any)?.[valueSymbol]?.[queueOptionsSymbol]
      answer = this.#reusable.openPool().run(task, {
        filename,
        name,
        signal,
        // An abort kills the thread at once, so no other task may run on it.
        exclusive: signal !== undefined,
        transferList,
        queueOptions,
      })
    } catch (problem) {
      release()
      throw problem
    }
    const resource = new AsyncResource('Piscina.Task', {
      requireManualDestroy: true,
      triggerAsyncId: this.asyncId,
    })
    return await new Promise<R>((resolve, reject) => {
      answer.then(
        result => {
          release()
          resource.runInAsyncScope(resolve, null, result)
          resource.emitDestroy()
        },
        error => {
          release()
          resource.runInAsyncScope(reject, null, inPiscinaTerms(error))
          resource.emitDestroy()
        },
      )
    })
  }

  get #pool(): Pool {
    return this.#reusable.pool
  }

  #start(options: PoolOptions): Pool {
    let pool: Pool
    try {
      pool = new Pool(options)
    } catch (problem) {
      if (!(problem instanceof InvalidOptionError)) throw inPiscinaTerms(problem)
      if (problem.option === 'queue') throw queueIsTaken()
      throw problem.cause ?? new TypeError(problem.message)
    }
    pool.on('drain', () => this.emit('drain'))
    pool.on('needsDrain', () => this.emit('needsDrain'))
    pool.on('message', value => this.emit('message', value))
    pool.on('workerCreate', worker => this.emit('workerCreate', this.#workers.workerOf(worker)))
    pool.on('workerDestroy', worker => this.emit('workerDestroy', this.#workers.workerOf(worker)))
    pool.on('error', error => this.#emitError(inPiscinaTerms(error)))
    return pool
  }

  /** Without a listener, the event 'error' would end the process. */
  #emitError(problem: unknown): void {
    if (this.listenerCount('error') > 0) this.emit('error', problem)
  }

  #emitEnd(timedOut: boolean, wasClosed: boolean): void {
    try {
      if (timedOut) this.emit('error', closeTimedOut())
    } finally {
      if (wasClosed) this.emit('close')
    }
  }
}

/** Outside the class, because bundlers rename a class that refers to itself, and programs read the class name. */
function classOf(): typeof Piscina {
  return Piscina
}

/** Types that CommonJS programs use as members of the class or import by name. */
export declare namespace Piscina {
  type Piscina<T = any, R = any> = import('./piscina.js').Piscina<T, R>
  type ArrayTaskQueue = import('./queues.js').ArrayTaskQueue
  type FilledOptions = import('./options.js').FilledOptions
  type FixedQueue = import('./queues.js').FixedQueue
  type Options = import('./options.js').PiscinaOptions
  type PiscinaHistogram = import('./histogram.js').PiscinaHistogram
  type PiscinaHistogramSummary = import('./histogram.js').PiscinaHistogramSummary
  type PiscinaTask = import('./task-queue.js').PiscinaTask
  type RunOptions = import('./run-task.js').RunOptions
  type TaskQueue = import('./task-queue.js').TaskQueue
  type PiscinaWorker = import('./load-balancer.js').PiscinaWorker
  type PiscinaLoadBalancer = import('./load-balancer.js').PiscinaLoadBalancer
}

function isWrongText(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== 'string'
}
