// The pool of workerpool 10. Converts calls, options and errors; a lido pool runs the tasks.
import { AsyncResource } from 'node:async_hooks'
import {
  isPoolError,
  type Pool as LidoPool,
  type NotCloneableError,
  type QueuedTask,
  type TaskCancelledError,
  type WorkerExitError,
  type WorkerView,
} from '../../index.js'
import { createPool, ownFields, realClock } from '../../kit.js'
import { CallSignal } from './call-signal.js'
import {
  checkStartOptions,
  readOptions,
  type Settings,
  startOptions,
  toPoolOptions,
  type WorkerArg,
  type WorkerPoolOptions,
} from './options.js'
import { EVENT, type LateEvent, type TaskOrder, throughJson } from './orders.js'
import { type Resolver, WorkerpoolPromise } from './promise.js'
import { createQueue, type ExecOptions, type Task, type TaskQueue, toLidoQueue } from './queues.js'

/** The error of a task whose worker has ended. */
export class TerminateError extends Error {
  constructor(message = 'worker terminated', cause?: unknown) {
    super(message)
    this.cause = cause
  }
}

/** The pool notes when a task with a time limit starts. This limit is longer than tasks run. */
const LONGEST_MS = 2 ** 31 - 1
/** The oldest are dropped. */
const MAX_LATE_LISTENERS = 1000

let lastListenerId = 0

/** The methods of a worker as functions that return promises. */
export type Proxy<T extends { [name: string]: (...params: any[]) => any } = any> = {
  [Name in keyof T]: (...params: Parameters<T[Name]>) => WorkerpoolPromise<Awaited<ReturnType<T[Name]>>>
}

/** The figures of a pool. */
export interface PoolStatistics {
  totalWorkers: number
  busyWorkers: number
  idleWorkers: number
  pendingTasks: number
  activeTasks: number
}

/** A task that has not settled. */
interface Call extends Task {
  /** The own fields of `options`. */
  readonly given: ExecOptions
  readonly signal: CallSignal
  readonly order: TaskOrder
}

/** A pool of workers. Made by `pool()`. */
export class Pool {
  /** The script of the workers. `null`: they run functions of the program. */
  readonly script: string | null
  /** The option `workerType`. */
  readonly workerType: 'auto' | 'web' | 'process' | 'thread'
  /** The option `maxQueueSize`. */
  readonly maxQueueSize: number
  /** The option `workerTerminateTimeout`. */
  readonly workerTerminateTimeout: number
  /** The option `forkArgs`. */
  readonly forkArgs: readonly string[]
  /** The option `forkOpts`. */
  readonly forkOpts: Settings['forkOpts']
  /** The option `workerOpts`. */
  readonly workerOpts: object
  /** The option `workerThreadOpts`. */
  readonly workerThreadOpts: Settings['workerThreadOpts']
  /** The option `emitStdStreams`. */
  readonly emitStdStreams: boolean
  /** The option `minWorkers`. */
  readonly minWorkers: number
  /** The option `maxWorkers`. */
  readonly maxWorkers: number
  /** The option `onCreateWorker`. */
  readonly onCreateWorker: NonNullable<WorkerPoolOptions['onCreateWorker']>
  /** The option `onTerminateWorker`. */
  readonly onTerminateWorker: NonNullable<WorkerPoolOptions['onTerminateWorker']>
  readonly #settings: Settings
  /** `null`: the pool of lido queues the tasks, and sends them to the workers before these are idle. */
  readonly #queue: TaskQueue | null
  readonly #calls = new Set<Call>()
  readonly #args = new Map<number, WorkerArg>()
  /** The listeners of aborted tasks, by their numbers. */
  readonly #lateListeners = new Map<number, (payload: unknown) => void>()
  /** `null` before the first task, and after `terminate()`. */
  #pool: LidoPool | null = null

  constructor(script?: string | WorkerPoolOptions, given?: WorkerPoolOptions) {
    const options = ownFields((typeof script === 'string' ? given : script) || {})
    this.script = (typeof script === 'string' && script) || null
    this.#queue = createQueue(options.queueStrategy || 'fifo')
    this.#settings = readOptions(this.script, options)
    this.workerType = options.workerType || options.nodeWorker || 'auto'
    this.onCreateWorker = options.onCreateWorker || (() => null)
    this.onTerminateWorker = options.onTerminateWorker || (() => null)
    const settings = this.#settings
    this.maxQueueSize = settings.maxQueueSize
    this.workerTerminateTimeout = settings.workerTerminateTimeout
    this.forkArgs = settings.forkArgs
    this.forkOpts = settings.forkOpts
    this.workerOpts = settings.workerOpts
    this.workerThreadOpts = settings.workerThreadOpts
    this.emitStdStreams = settings.emitStdStreams
    this.minWorkers = settings.minWorkers
    this.maxWorkers = settings.maxWorkers
    if (this.minWorkers > 0) this.#open()
  }

  /** Calls a method of the worker, or a function of the program. The function may not use variables outside itself. */
  exec<F extends (...params: any[]) => any>(
    method: string | F,
    params?: Parameters<F> | any[] | null,
    options?: ExecOptions,
  ): WorkerpoolPromise<Awaited<ReturnType<F>>> {
    if (params && !Array.isArray(params)) throw new TypeError('Array expected as argument "params"')
    if (typeof method === 'function') return this.exec('run', [String(method), params], options)
    if (typeof method !== 'string') {
      throw new TypeError('Function or string expected as argument "method"')
    }
    if ((this.#pool?.queueSize ?? 0) >= this.maxQueueSize) {
      throw new Error(`Max queue size of ${this.maxQueueSize} reached`)
    }
    const pool = this.#pool ?? this.#open()
    const resolver = WorkerpoolPromise.defer()
    const { isProcess, forkOpts } = this.#settings
    const isJson = isProcess && ownFields(forkOpts).serialization !== 'advanced'
    const given = ownFields(options ?? {})
    const order: TaskOrder = {
      method,
      params: isJson ? throughJson(params ?? []) : (params ?? []),
      listenerId: typeof given.on === 'function' ? ++lastListenerId : 0,
    }
    const signal = new CallSignal()
    const call: Call = { method, params, resolver, timeout: null, options, given, signal, order }
    this.#calls.add(call)
    resolver.promise.limitRunTime(() => runTimeOf(pool, call))
    // Cancelled or timed out: the promise is rejected before the task ends.
    resolver.promise.onRejected(() => signal.abort())
    this.#run(pool, call, isProcess)
    return resolver.promise
  }

  /** Resolves to an object with the methods of the worker. */
  proxy<T extends { [name: string]: (...params: any[]) => any } = any>(
    ...none: never[]
  ): WorkerpoolPromise<Proxy<T>> {
    if (none.length > 0) throw new Error('No arguments expected')
    return this.exec('methods').then((methods: string[]) =>
      Object.fromEntries(methods.map(method => [method, (...params: any[]) => this.exec(method, params)])),
    ) as WorkerpoolPromise<Proxy<T>>
  }

  /**
   * Rejects the queued tasks, and ends the workers. With `force`, running tasks are rejected, too. With `timeout`, the promise rejects
   * if the workers have not ended within this number of milliseconds.
   */
  terminate(force = false, timeout?: number): WorkerpoolPromise<unknown[]> {
    const pool = this.#pool
    this.#pool = null
    const workers = pool?.workers.length ?? 0
    // Rejects the queued tasks.
    const closed = pool?.close({ force: true })
    if (force) for (const { signal } of this.#calls) signal.abort(new Error('Worker terminated'))
    const resolver: Resolver<unknown[]> = WorkerpoolPromise.defer()
    const onEnded = () => resolver.resolve(Array(workers).fill(undefined))
    if (closed === undefined) onEnded()
    else closed.then(onEnded, resolver.reject)
    if (timeout) resolver.promise.timeout(timeout)
    return resolver.promise
  }

  /** The figures of the pool. */
  stats(): PoolStatistics {
    const totalWorkers = this.#pool?.workers.length ?? 0
    const pendingTasks = this.#pool?.queueSize ?? 0
    const busyWorkers = Math.min(totalWorkers, this.#calls.size - pendingTasks)
    return {
      totalWorkers,
      busyWorkers,
      idleWorkers: totalWorkers - busyWorkers,
      pendingTasks,
      activeTasks: busyWorkers,
    }
  }

  /** The workers that are starting or ready. */
  get workers(): WorkerView[] {
    return this.#pool?.workers ?? []
  }

  #run(pool: LidoPool, call: Call, isProcess: boolean): void {
    const { resolver, signal, order, given } = call
    const { listenerId } = order
    const listener = listenerId > 0 ? listenerOf(given.on!) : null
    const functions = listener === null ? undefined : { [EVENT]: listener }
    const transferList = isProcess ? [] : ((given.transfer ?? []) as never[])
    const callOptions = {
      signal: signal as never,
      timeout: LONGEST_MS,
      queueOptions: call,
      transferList,
      functions,
    }
    pool.run(order, callOptions).then(
      result => {
        this.#calls.delete(call)
        resolver.resolve(result)
      },
      error => {
        this.#calls.delete(call)
        if (listener !== null && signal.aborted) this.#keepListener(listenerId, listener)
        resolver.reject(this.#inWorkerpoolTerms(error))
      },
    )
  }

  #open(): LidoPool {
    if (this.workerType === 'web') throw new Error('WorkerPool: Web Workers not supported')
    checkStartOptions(this.#settings)
    const taskOf = (task: QueuedTask) => task.queueOptions as Call
    const queue = this.#queue === null ? undefined : toLidoQueue(this.#queue, taskOf)
    const settings = this.#settings
    const pool = createPool({ ...toPoolOptions(settings), queue }, (workerOptions, workerId) =>
      startOptions(settings, workerOptions, this.#createArg(workerId)),
    )
    pool.on('workerCreate', view => this.#onCreated(view))
    // Each task that a worker fails rejects. Without a listener, the pool would write other failures to stderr.
    pool.on('error', () => {})
    pool.on('message', message => this.#onLateEvent(message))
    this.#pool = pool
    return pool
  }

  /** The abort listeners of the task may still emit events. A worker that dies never says that it has finished. */
  #keepListener(listenerId: number, listener: (payload: unknown) => void): void {
    this.#lateListeners.set(listenerId, listener)
    const [oldest] = this.#lateListeners.keys()
    if (this.#lateListeners.size > MAX_LATE_LISTENERS) this.#lateListeners.delete(oldest!)
  }

  #onLateEvent(message: unknown): void {
    const { [EVENT]: listenerId, payload, isLast } = Object(message) as Partial<LateEvent>
    const listener = listenerId === undefined ? undefined : this.#lateListeners.get(listenerId)
    if (listener === undefined) return
    if (isLast) this.#lateListeners.delete(listenerId!)
    else listener(payload)
  }

  #createArg(workerId: number): WorkerArg {
    const { forkArgs, forkOpts, workerOpts, workerThreadOpts } = this.#settings
    const arg: WorkerArg = ownFields({ forkArgs, forkOpts, workerOpts, workerThreadOpts })
    if (this.script !== null) arg.script = this.script
    const changed = ownFields(this.onCreateWorker({ ...arg }) || {})
    for (const key of Object.keys(arg) as (keyof WorkerArg)[])
      if (changed[key]) Object.assign(arg, { [key]: changed[key] })
    if (changed.script) arg.script = changed.script
    this.#args.set(workerId, arg)
    return arg
  }

  #onCreated(view: WorkerView): void {
    const { workerOpts: _, ...arg } = this.#args.get(view.id)!
    this.#args.delete(view.id)
    const worker = (view.thread ?? view.process)!
    worker.once('exit', () => this.onTerminateWorker(arg))
  }

  /** Converts an error of the pool. Returns an error of the method unchanged. */
  #inWorkerpoolTerms(error: unknown): unknown {
    if (!isPoolError(error)) return error
    switch (error.code) {
      case 'ERR_LIDO_TASK_CANCELLED':
        return (error as TaskCancelledError).reason
      case 'ERR_LIDO_POOL_CLOSED':
        return new Error('Pool terminated')
      case 'ERR_LIDO_NOT_CLONEABLE':
        return (error as NotCloneableError).cause
      case 'ERR_LIDO_WORKER_START':
      case 'ERR_LIDO_RESTART_LIMIT':
        return error.cause instanceof Error && !isPoolError(error.cause)
          ? new TerminateError(`Workerpool Worker error: ${error.cause.message}`, error.cause)
          : this.#inWorkerpoolTerms(error.cause ?? new TerminateError(error.message, error))
      case 'ERR_LIDO_WORKER_EXIT': {
        const { exitCode } = error as WorkerExitError
        return new TerminateError(
          `Workerpool Worker terminated Unexpectedly\n    exitCode: \`${exitCode}\`\n    workerpool.script: \`${this.script}\`\n`,
          error,
        )
      }
      case 'ERR_WORKER_OUT_OF_MEMORY':
        return new TerminateError(`Workerpool Worker error: ${error.message}`, error)
      default:
        return error
    }
  }
}

/**
 * A task does not wait for the listener of its events. So a call of `exec()` in the listener must not get the slot of the task, and the
 * listener runs outside the call of the task.
 */
function listenerOf(on: NonNullable<ExecOptions['on']>): (payload: unknown) => void {
  return AsyncResource.bind((payload: unknown) => void on(payload))
}

/** Milliseconds since the start of the task. 0 while it waits. */
function runTimeOf(pool: LidoPool, call: Call): number {
  for (const worker of pool.workers) {
    const task = worker.tasks.find(({ queueOptions }) => queueOptions === call)
    if (task !== undefined) return realClock.now() - (worker.startOf(task) ?? realClock.now())
  }
  return 0
}
