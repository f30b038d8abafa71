// Runs tasks: loads the handler, calls it, flushes the output, and sends the answer. Every started task gets an answer.
import type { TaskJob } from '../../api/task-context.js'
import { runCarried } from '../../shared/context/carried.js'
import { withProcessAdvice } from '../../shared/errors/only-processes.js'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { serializeError } from '../../shared/errors/serialize-error.js'
import { UnsendableError } from '../../shared/errors/uncloneable-path.js'
import type { HandlerRef, TransformOrder } from '../../shared/messages/handler-ref.js'
import type { HandlerOrigin } from '../../shared/messages/messages.js'
import { AsyncContext } from '../../shared/platform/async-context.js'
import { dateOn } from '../../shared/platform/make-clock.js'
import type { WorkerTask } from '../lane/worker-task.js'
import { workerClock } from './clock.js'
import type { LimitWatcher } from './limits.js'
import type { LogSink } from './log-sender.js'
import type { Measurement, Meter } from './meter.js'
import type { ExportNames, HandlerFunction } from './module-loader.js'
import { PackRun } from './pack-run.js'
import { isStream, runStream, runTransform, sendStream } from './streams.js'
import { contextStorage, type RunningTaskContext } from './task-context.js'
import { type CallWatch, handlerChannel, TracedCall } from './traced-call.js'

export interface ExecutorHooks {
  readonly origin: HandlerOrigin
  /** -1 for a process. */
  readonly threadId: number
  readonly loader: {
    /** Resolves to the names of its functions when the file has none of that name. Rejects with the error of the file. */
    load(handler: HandlerRef): PromiseLike<HandlerFunction | ExportNames>
    hasFailedAgain(handler: HandlerRef): boolean
  }
  /** Calls back when the promise of a handler has settled. */
  settled(
    promise: unknown,
    onFulfilled: (value: unknown) => void,
    onRejected: (reason: unknown) => void,
  ): void
  /** Calls back after the callbacks that are due now. */
  defer(callback: () => void): void
  /** A file failed to load a second time. */
  onStale(): void
  /** The worker exits. It must start no more tasks. */
  onEnd(): void
  /** Returns a promise while output is unwritten, otherwise `undefined`. */
  flush(): Promise<unknown> | undefined
}

export class Executor {
  /** `null` when the worker has no limits. */
  limits: LimitWatcher | null = null
  /** `null` when tasks are not measured. */
  meter: Meter | null = null
  readonly #hooks: ExecutorHooks
  readonly #handlers = new Map<number, HandlerFunction>()
  /** Answers that wait until the task's output is written. A worker that exits sends them immediately. */
  readonly #unsent = new Set<() => void>()

  constructor(hooks: ExecutorHooks) {
    this.#hooks = hooks
  }

  /** The handler is loaded before its first task. */
  add(handlerId: number, wanted: HandlerRef, handler: HandlerFunction): void {
    this.#handlers.set(handlerId, handler)
    this.meter?.add(handlerId, wanted)
  }

  /** Call it when the worker exits. Sends the answers that wait for output. */
  end(): void {
    this.#hooks.onEnd()
    for (const answer of this.#unsent) answer()
  }

  run(task: WorkerTask): void {
    if (this.limits !== null) this.limits.onStart()
    const handler = this.#handlers.get(task.handlerId)
    // The first task of a handler is not measured, because it includes work that happens only once.
    if (handler === undefined) this.#loadAndCall(task, task.handler)
    else {
      const measurement = this.meter === null ? null : this.meter.start(task.handlerId)
      if (task.handler.call === 'pack') this.#runPack(task, handler, measurement)
      else this.#call(task, handler, measurement)
    }
  }

  /** The pack is measured as one task. */
  #runPack(task: WorkerTask, handler: HandlerFunction, measurement: Measurement | null): void {
    let isCounted = true
    const callHandler = (item: WorkerTask) => {
      if (!isCounted && this.limits !== null) this.limits.onStart()
      isCounted = false
      this.#call(item, handler, null)
    }
    new PackRun(task, callHandler, measurement).goOn()
  }

  /** The task counts as started while its file loads, because the file may block or end this thread. */
  #loadAndCall(task: WorkerTask, wanted: HandlerRef): void {
    task.markLoading(true)
    this.#hooks.loader.load(wanted).then(
      handler => {
        task.markLoading(false)
        // Lets other tasks that wait for this file continue first, because this task may end the thread.
        this.#hooks.defer(() => this.#onLoaded(task, wanted, handler))
      },
      failure => {
        task.markLoading(false)
        task.fail('load', serializeError(failure), '')
        if (this.#hooks.loader.hasFailedAgain(wanted)) this.#hooks.onStale()
      },
    )
  }

  #onLoaded(task: WorkerTask, wanted: HandlerRef, handler: HandlerFunction | ExportNames): void {
    if (typeof handler !== 'function') return task.fail('missing', serializeError(handler), '')
    const { call } = wanted
    if (call === 'stream' || call === 'transform') {
      if (task.isCancelled) return task.succeed(undefined)
      return this.#call(task, streamHandler(task, handler, call), null)
    }
    this.add(task.handlerId, wanted, handler)
    // The task was cancelled while its file loaded, so the handler is not called.
    if (task.isCancelled) return task.succeed(undefined)
    if (call === 'pack') this.#runPack(task, handler, null)
    else this.#call(task, handler, null)
  }

  #call(task: WorkerTask, handler: HandlerFunction, measurement: Measurement | null): void {
    const traced = handlerChannel.hasSubscribers ? this.#trace(task, measurement) : null
    const watch: CallWatch | null = traced ?? measurement
    let result: unknown
    let isPending: boolean
    try {
      const isPlain = contextStorage.current === null && traced === null && task.carried === null
      result = isPlain ? handler(task.payload) : callInScope(task, handler, traced)
      if (task.handler.call === 'arguments' && isStream(result))
        result = inScope(task, () => sendStream(task, result, false))
      isPending = isThenable(result)
    } catch (thrown) {
      watch?.end(true, thrown)
      return this.#afterFlush(task, () => task.fail('thrown', serializeError(withProcessAdvice(thrown)), ''))
    }
    if (isPending) {
      watch?.onPending()
      this.#await(task, result, watch)
    } else {
      watch?.end(false, result)
      const flushed = this.#hooks.flush()
      if (flushed === undefined) task.succeed(result)
      else this.#after(flushed, task, () => task.succeed(result))
    }
  }

  #trace(task: WorkerTask, measurement: Measurement | null): TracedCall {
    const { origin, threadId } = this.#hooks
    return new TracedCall(task, origin, threadId, measurement)
  }

  #await(task: WorkerTask, promise: unknown, watch: CallWatch | null): void {
    this.#hooks.settled(
      promise,
      result => {
        if (task.handler.call === 'arguments' && isStream(result)) {
          const sent = inScope(task, () => sendStream(task, result, false))
          return this.#await(task, sent, watch)
        }
        watch?.end(false, result)
        this.#afterFlush(task, () => task.succeed(result))
      },
      thrown => {
        watch?.end(true, thrown)
        this.#afterFlush(task, () => {
          // Only a chunk of a stream throws this.
          if (thrown instanceof UnsendableError)
            task.fail('result', serializeError(thrown.cause), thrown.path)
          else task.fail('thrown', serializeError(withProcessAdvice(thrown)), '')
        })
      },
    )
  }

  #afterFlush(task: WorkerTask, answer: () => void): void {
    const flushed = this.#hooks.flush()
    if (flushed === undefined) answer()
    else this.#after(flushed, task, answer)
  }

  /** Pauses the task's time until the host has read the output, because the host may be busy. */
  #after(flushed: Promise<unknown>, task: WorkerTask, answer: () => void): void {
    const resumeTime = task.pauseTime()
    const once = () => {
      if (!this.#unsent.delete(once)) return
      resumeTime()
      answer()
    }
    this.#unsent.add(once)
    void flushed.then(once)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as PromiseLike<unknown>).then === 'function'
}

/**
 * Calls the handler in the scope of its task: with the task's context, the carried stores of the caller, and the stores that subscribers
 * bound to the channel. All code that the handler starts is in this scope.
 */
export function callInScope(task: WorkerTask, handler: HandlerFunction, traced: TracedCall | null): unknown {
  const { payload, carried } = task
  // A timer or a socket that outlives the task keeps its context alive, but must not keep its payload.
  task.payload = undefined
  const storage = contextStorage.current
  const call = () => {
    if (task.handler.call === 'arguments') task.scope = new AsyncContext('lido.task')
    return handler(payload)
  }
  const followed = traced === null ? call : () => traced.start(call)
  const carrying = carried === null ? followed : () => runCarried(carried, followed)
  return storage === null ? carrying() : storage.run(new RunningContext(task), carrying)
}

/** For the chunks of a stream: its handler has returned, and the generator runs in the scope of the call. */
function inScope<T>({ scope }: WorkerTask, part: () => T): T {
  return scope === null ? part() : scope.run(part)
}

/** Calls the handler of a stream. The promise settles after the last chunk. */
function streamHandler(
  task: WorkerTask,
  handler: HandlerFunction,
  call: 'stream' | 'transform',
): HandlerFunction {
  return payload =>
    call === 'stream'
      ? runStream(task, handler, payload)
      : runTransform(task, handler, payload as TransformOrder)
}

class RunningContext implements RunningTaskContext {
  job: TaskJob | undefined = undefined
  readonly #task: WorkerTask
  #signal: AbortSignal | null = null
  #deadline: Date | undefined
  #logs: LogSink | null = null

  constructor(task: WorkerTask) {
    this.#task = task
  }

  /** Created when the handler first reads it. */
  get signal(): AbortSignal {
    this.#signal ??= this.#task.makeSignal()
    return this.#signal
  }

  get cancelled(): boolean {
    return this.#task.isCancelled
  }

  get deadline(): Date | undefined {
    const { deadline } = this.#task
    if (deadline === null || deadline === Number.POSITIVE_INFINITY) return undefined
    this.#deadline ??= dateOn(workerClock, deadline)
    return this.#deadline
  }

  /** Created when the handler first logs. */
  get logs(): LogSink {
    this.#logs ??= this.#task.makeLogSink()
    return this.#logs
  }

  progress(value: unknown): void {
    this.#task.report(value)
  }

  /** Not an async function: the promise of the link is never an unhandled rejection. */
  call(name: string, args: unknown[]): Promise<unknown> {
    try {
      if (this.#task.state !== 'running') throw new Error(`The task has ended, so it cannot call '${name}'.`)
      this.throwIfCancelled()
      return this.#task.link.call(name, args)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  throwIfCancelled(): void {
    if (this.#task.isCancelled) throw new TaskCancelledError(this.#task.cancelReason)
  }
}

const resolved = Promise.resolve()

/** The hooks of a worker that runs real promises. */
export const promiseHooks: Pick<ExecutorHooks, 'settled' | 'defer'> = {
  /** `await`, because it does not call the own `then()` of a promise. */
  async settled(promise, onFulfilled, onRejected) {
    let value: unknown
    try {
      value = await promise
    } catch (reason) {
      return onRejected(reason)
    }
    onFulfilled(value)
  },
  defer(callback) {
    void resolved.then(callback)
  },
}
