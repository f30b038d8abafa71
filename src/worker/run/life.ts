// The life of a worker: it loads the pool's file, runs the start calls, runs tasks, and exits when the host asks for it. All that
// depends on a thread or a process is in its environment, so tests run this code without either.
import { serializeError } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import {
  type HostPort,
  type MessageOfLife,
  type MessageToTasks,
  receiversInWorker,
  type ToHost,
  type ToWorker,
  UNFINISHED_MS,
  type WorkerOrder,
} from '../../shared/messages/messages.js'
import type { TaskSource } from '../lane/task-source.js'
import { workerClock } from './clock.js'
import { Executor, type ExecutorHooks } from './executor.js'
import { heapExcess, heldMemory, LimitWatcher } from './limits.js'
import { Meter } from './meter.js'
import type { ExportNames, HandlerFunction } from './module-loader.js'
import { Questions } from './questions.js'
import { runStartCall } from './start-calls.js'
import { FLUSH_AT_END_MS, FLUSH_AT_STOP_MS } from './stdio.js'
import { contextStorage } from './task-context.js'
import { TeardownCallbacks } from './teardown-callbacks.js'
import type { UnfinishedWork } from './unfinished-work.js'

/** Loads the files of handlers. */
export interface Loader {
  load(handler: HandlerRef): PromiseLike<HandlerFunction | ExportNames>
  /** True when the file has failed again on a later attempt. A new worker can help, because a thread caches a broken import. */
  hasFailedAgain(handler: HandlerRef): boolean
  takeTeardowns(): (() => unknown)[]
}

/** The thread or process of a worker. Each entry file creates one. */
export interface WorkerEnvironment extends Pick<ExecutorHooks, 'settled' | 'defer'> {
  readonly port: HostPort
  /** -1 for a process. */
  readonly threadId: number
  /** `null` for an inline worker, which shares its thread with the program. */
  readonly work: UnfinishedWork | null
  /** @param onTeardown called when a module with a teardown was loaded */
  makeLoader(setupTimeoutMs: number, onTeardown: () => void): Loader
  makeSource(executor: Executor): TaskSource
  /** Returns a promise while output is unwritten, otherwise `undefined`. The promise settles within `longestMs`. */
  flush(longestMs?: number): Promise<unknown> | undefined
  /** The time for which the worker used cores; `null` where Node cannot measure it. */
  cpuMs(): number | null
  /** Calls back when the worker exits by itself. */
  onEnd(callback: () => void): void
  /** Calls back with an uncaught exception. It ends the worker, unless a listener of the user gets it and does not throw. */
  onCrash(callback: (failure: unknown, isCaught: boolean) => void): void
  end(exitCode?: number): void
}

export class WorkerLife {
  readonly #order: WorkerOrder
  readonly #environment: WorkerEnvironment
  readonly #loader: Loader
  readonly #executor: Executor
  readonly #source: TaskSource
  readonly #callbacks = new TeardownCallbacks(() => this.#say({ kind: 'has-teardown' }))
  readonly #questions: Questions
  readonly #plannedEnd: PlannedEnd
  #isLeaving = false
  #isLoading = false
  /** `null` until the host asks the worker to exit. A later request replaces an earlier one. */
  #requestedEnd: (() => unknown) | null = null

  constructor(order: WorkerOrder, environment: WorkerEnvironment) {
    this.#order = order
    this.#environment = environment
    this.#loader = environment.makeLoader(order.setupTimeoutMs, () => this.#say({ kind: 'has-teardown' }))
    this.#executor = new Executor({
      onStale: () => this.#leave(),
      onEnd: () => this.#source.stop(),
      flush: () => this.#flush(),
      loader: this.#loader,
      settled: environment.settled,
      defer: environment.defer,
      origin: order.origin,
      threadId: environment.threadId,
    })
    if (order.measures) {
      this.#executor.meter = new Meter(handlers =>
        this.#say({ kind: 'measured', handlers, ...heldMemory(), cpuMs: environment.cpuMs() }),
      )
    }
    this.#questions = new Questions(this.#loader, (filename, result) =>
      this.#say({ kind: 'asked', filename, result }),
    )
    this.#plannedEnd = new PlannedEnd(environment, {
      loader: this.#loader,
      callbacks: this.#callbacks,
      questions: this.#questions,
      flush: longestMs => this.#flush(longestMs),
    })
    this.#source = environment.makeSource(this.#executor)
    // An inline worker shares its thread with the program, whose code outside tasks is not part of the worker.
    if (environment.work !== null) contextStorage.logs = this.#source.logs
    this.#source.receive = message => this.#receive(message)
    environment.onEnd(() => {
      this.#source.logs.end()
      this.#executor.end()
      this.#loader.takeTeardowns()
      this.#callbacks.take()
    })
    // Node's own report loses the error's class and the parts that cannot be cloned.
    environment.onCrash((failure, isCaught) =>
      this.#say({ kind: 'crashed', error: serializeError(failure), isCaught }),
    )
  }

  async start(): Promise<void> {
    if (this.#order.niceIncrement !== 0) await lowerPriority(this.#order.niceIncrement)
    this.begin()
  }

  /** Listens before it loads the file. When the host asks the worker to exit, it limits the time that loading may take. */
  begin(): void {
    const { port } = this.#environment
    const { preload } = this.#order
    port.on('message', message => this.#receive(message))
    port.on('messageerror', () => this.#source.onUnreadable())
    if (preload === null) this.#runStartCalls(0)
    else
      this.#load(preload, null, handler => {
        if (typeof handler === 'function') this.#executor.add(this.#order.preloadId, preload, handler)
        this.#runStartCalls(0)
      })
  }

  /** @param caller the handler of a start call; `null`: the pool's file */
  #load(
    handler: HandlerRef,
    caller: HandlerRef | null,
    onLoaded: (loaded: HandlerFunction | ExportNames) => void,
  ): void {
    this.#isLoading = true
    this.#loader.load(handler).then(
      loaded => {
        this.#isLoading = false
        if (this.#requestedEnd === null) onLoaded(loaded)
        else this.#requestedEnd()
      },
      failure => {
        this.#isLoading = false
        this.#fail({ error: serializeError(failure), handler: caller, isMissing: false })
      },
    )
  }

  #runStartCalls(from: number): void {
    const call = this.#order.startCalls[from]
    if (call === undefined) return this.#open()
    const { handler } = call
    // Loads the file first, because the host must not end the worker while it loads a file.
    this.#load(handler, handler, () => {
      const startCall = { ...call, payload: this.#source.withResources(call.payload) }
      void runStartCall(startCall, this.#executor, this.#source.logs, this.#order.setupTimeoutMs).then(
        failure => {
          if (failure !== null) {
            const { error, reason } = failure
            return this.#fail({ error, handler, isMissing: reason === 'missing' })
          }
          if (this.#requestedEnd === null) this.#runStartCalls(from + 1)
        },
      )
    })
  }

  #open(): void {
    const { limits, checksHeap } = this.#order
    // The start calls do not count as tasks.
    if (limits !== null)
      this.#executor.limits = new LimitWatcher(
        limits,
        () => this.#leave(),
        memoryBytes => this.#say({ kind: 'memory-exceeded', memoryBytes }),
      )
    this.#callbacks.open()
    this.#say({ kind: 'ready', heapExcess: checksHeap ? heapExcess() : null })
    this.#source.open()
  }

  #fail(failure: Omit<Extract<ToHost, { kind: 'start-failed' }>, 'kind'>): void {
    this.#say({ kind: 'start-failed', ...failure })
    this.#environment.end()
  }

  #receive(message: ToWorker): void {
    if (message === 'bell' || receiversInWorker[message.kind] === 'tasks')
      this.#source.onMessage(message as MessageToTasks)
    else this.#obey(message as MessageOfLife)
  }

  #obey(message: MessageOfLife): void {
    switch (message.kind) {
      case 'log-level':
        this.#source.logs.level = message.level
        return
      case 'ask':
        return this.#questions.add(message.filename)
      case 'leave':
        this.#leave()
        return this.#source.resume()
      case 'stop':
        this.#source.stop()
        return this.#endWhenLoaded(() => this.#plannedEnd.run())
      case 'exit':
        this.#source.stop()
        return this.#endWhenLoaded(() => this.#plannedEnd.cutOff())
    }
  }

  /** Call it before an answer, and at the end. Lines of loggers are sent at once. */
  #flush(longestMs?: number): Promise<unknown> | undefined {
    this.#source.logs.flush()
    return this.#environment.flush(longestMs)
  }

  #leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#source.leave()
    this.#say({ kind: 'leaving' })
  }

  /** Waits until the file is loaded, because Node never closes a file that a thread was reading when it exited. */
  #endWhenLoaded(how: () => unknown): void {
    this.#requestedEnd = how
    if (!this.#isLoading) how()
  }

  #say(message: ToHost): void {
    this.#environment.port.postMessage(message)
  }
}

interface PlannedEndParts {
  loader: Loader
  callbacks: TeardownCallbacks
  questions: Questions
  flush: WorkerEnvironment['flush']
}

/** The end of a worker that the host does not kill. Open timers, servers and sockets do not keep the worker alive. */
class PlannedEnd {
  readonly #environment: WorkerEnvironment
  readonly #parts: PlannedEndParts
  #isWaiting = false

  constructor(environment: WorkerEnvironment, parts: PlannedEndParts) {
    this.#environment = environment
    this.#parts = parts
  }

  /** Finishes the work of handlers, runs the teardowns, finishes their work, runs the callbacks, flushes the output and exits. */
  async run(): Promise<void> {
    const { loader, callbacks, questions, flush } = this.#parts
    // A worker that stops before its file is loaded has not opened them.
    callbacks.open()
    const deadline = workerClock.now() + UNFINISHED_MS
    await this.#finishWork(deadline)
    await Promise.all(loader.takeTeardowns().map(teardown => this.#tearDown(teardown)))
    const unfinished = await this.#finishWork(deadline)
    if (unfinished.length > 0) this.#say({ kind: 'unfinished', requests: unfinished, isCutOff: true })
    await Promise.all(callbacks.take().map(callback => this.#tearDown(callback)))
    await questions.answerAgain()
    await flush(FLUSH_AT_END_MS)
    this.#environment.end(0)
  }

  async #tearDown(teardown: () => unknown): Promise<void> {
    try {
      await teardown()
    } catch (thrown) {
      this.#say({ kind: 'teardown-failed', error: serializeError(thrown) })
    }
  }

  /** Flushes the output and exits: the host does not wait any longer. */
  async cutOff(): Promise<void> {
    const requests = this.#isWaiting ? this.#environment.work!.list() : []
    if (requests.length > 0) this.#say({ kind: 'unfinished', requests, isCutOff: true })
    await this.#parts.flush(FLUSH_AT_STOP_MS)
    this.#environment.end()
  }

  async #finishWork(deadline: number): Promise<string[]> {
    const { work } = this.#environment
    if (work === null) return []
    return work.finish(deadline, () => {
      this.#isWaiting = true
      this.#say({ kind: 'unfinished', requests: work.list(), isCutOff: false })
    })
  }

  #say(message: ToHost): void {
    this.#environment.port.postMessage(message)
  }
}

/** The package is optional. Without it the priority does not change. */
async function lowerPriority(niceIncrement: number): Promise<void> {
  try {
    const { nice } = await import('@napi-rs/nice')
    nice(niceIncrement)
  } catch (failure) {
    const why = failure instanceof Error ? failure.message : String(failure)
    process.emitWarning(
      `The option 'niceIncrement' has no effect: the package @napi-rs/nice could not be loaded (${why}). Install the package, or remove the option.`,
    )
  }
}
