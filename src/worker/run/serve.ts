// The life of a worker: it loads the pool's file, runs tasks, and exits when the host asks for it.
import { serializeError } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import {
  type HostPort,
  type ToHost,
  type ToWorker,
  UNFINISHED_MS,
  type WorkerOrder,
} from '../../shared/messages/messages.js'
import { unreachable } from '../../shared/platform/invariant.js'
import type { TaskSource } from '../lane/task-source.js'
import { workerClock } from './clock.js'
import { Executor } from './executor.js'
import { heapExcess, heldBytes, LimitWatcher } from './limits.js'
import { Meter } from './meter.js'
import { ModuleLoader } from './module-loader.js'
import { runStartCall } from './start-calls.js'
import { FLUSH_AT_END_MS, FLUSH_AT_STOP_MS } from './stdio.js'
import type { UnfinishedWork } from './unfinished-work.js'

/** The thread or process of a worker. Each entry file creates one. */
export interface WorkerEnvironment {
  /** No other worker runs on this thread. */
  readonly ownsThread: boolean
  /** The pool's option `module`. Only an inline worker has it. */
  readonly module?: object | null
  readonly port: HostPort
  /** `null` for an inline worker, which shares its thread with the program. */
  readonly work: UnfinishedWork | null
  makeSource(executor: Executor): TaskSource
  /** Returns a promise while output is unwritten, otherwise `undefined`. The promise settles within `longestMs`. */
  flush(longestMs?: number): Promise<unknown> | undefined
  /** Calls back when the worker exits by itself. */
  onEnd(callback: () => void): void
  /** Calls back with an uncaught exception. It ends the worker, unless a listener of the user gets it and does not throw. */
  onCrash(callback: (failure: unknown, isCaught: boolean) => void): void
  end(exitCode?: number): void
}

export async function serve(
  { niceIncrement, preload, startCalls, limits, checksHeap, measures, setupTimeoutMs }: WorkerOrder,
  environment: WorkerEnvironment,
): Promise<void> {
  const { port } = environment
  const end = () => environment.end()
  let isLeaving = false
  /** `null` until the host asks the worker to exit. A later request replaces an earlier one. */
  let requestedEnd: (() => unknown) | null = null
  const leave = () => {
    if (isLeaving) return
    isLeaving = true
    source.leave()
    say(port, { kind: 'leaving' })
  }
  const loader = new ModuleLoader(
    environment.ownsThread,
    setupTimeoutMs,
    () => say(port, { kind: 'has-teardown' }),
    environment.module,
  )
  const executor = new Executor({
    onStale: leave,
    onEnd: () => source.stop(),
    flush: () => environment.flush(),
    load: (handler: HandlerRef) => loader.load(handler),
  })
  const plannedEnd = new PlannedEnd(environment, loader)
  if (measures) {
    executor.meter = new Meter(handlers =>
      say(port, { kind: 'measured', handlers, memoryBytes: heldBytes() }),
    )
  }
  const source: TaskSource = environment.makeSource(executor)
  environment.onEnd(() => {
    executor.end()
    loader.takeTeardowns()
  })
  // Node's own report loses the error's class and the parts that cannot be cloned.
  environment.onCrash((failure, isCaught) =>
    say(port, { kind: 'crashed', error: serializeError(failure), isCaught }),
  )
  if (niceIncrement !== 0) await lowerPriority(niceIncrement)
  const fail = (failure: Omit<Extract<ToHost, { kind: 'start-failed' }>, 'kind'>) => {
    say(port, { kind: 'start-failed', ...failure })
    end()
  }
  let loading: Promise<unknown> | null = null
  /** Waits until the file is loaded, because Node never closes a file that a thread was reading when it exited. */
  const endWhenLoaded = (how: () => unknown) => {
    const isAwaited = requestedEnd !== null
    requestedEnd = how
    if (loading === null) how()
    else if (!isAwaited) void loading.then(() => requestedEnd!(), end)
  }
  // Listens before it loads the file. When the host asks the worker to exit, it limits the time that loading may take.
  port.on('message', (message: ToWorker) => {
    if (message === 'bell') return source.onMessage(message)
    switch (message.kind) {
      case 'run':
      case 'register-handler':
      case 'cancel':
      case 'share':
      case 'unshare':
      case 'to-task':
      case 'heard':
      case 'ping':
      case 'list-tasks':
        return source.onMessage(message)
      case 'leave':
        leave()
        return source.onMessage(message)
      case 'end':
        source.stop()
        return endWhenLoaded(() => plannedEnd.run())
      case 'stop':
        source.stop()
        return endWhenLoaded(() => plannedEnd.cutOff())
      default:
        return unreachable(message)
    }
  })
  port.on('messageerror', () => source.onUnreadable())

  const load = async (handler: HandlerRef) => {
    loading = loader.load(handler)
    await loading
    loading = null
  }
  try {
    if (preload !== null) await load(preload)
  } catch (failure) {
    return fail({ error: serializeError(failure), handler: null, isMissing: false })
  }
  for (const call of startCalls) {
    if (requestedEnd !== null) return
    const { handler } = call
    try {
      // First, because the host must not end the worker while it loads a file.
      await load(handler)
    } catch (failure) {
      return fail({ error: serializeError(failure), handler, isMissing: false })
    }
    if (requestedEnd !== null) return
    const startCall = { ...call, payload: source.withShared(call.payload) }
    const failure = await runStartCall(startCall, executor, setupTimeoutMs)
    if (failure !== null)
      return fail({ error: failure.error, handler, isMissing: failure.reason === 'missing' })
  }
  if (requestedEnd !== null) return
  // The start calls do not count as tasks.
  if (limits !== null)
    executor.limits = new LimitWatcher(limits, leave, memoryBytes =>
      say(port, { kind: 'memory-exceeded', memoryBytes }),
    )
  say(port, { kind: 'ready', heapExcess: checksHeap ? heapExcess() : null })
  source.open()
}

/** The end of a worker that the host does not kill. Open timers, servers and sockets do not keep the worker alive. */
class PlannedEnd {
  readonly #environment: WorkerEnvironment
  readonly #loader: ModuleLoader
  #isWaiting = false

  constructor(environment: WorkerEnvironment, loader: ModuleLoader) {
    this.#environment = environment
    this.#loader = loader
  }

  /** Finishes the work of handlers, runs the teardowns, finishes their work, flushes the output and exits. */
  async run(): Promise<void> {
    const { port } = this.#environment
    const deadline = workerClock.now() + UNFINISHED_MS
    await this.#finishWork(deadline)
    const teardowns = this.#loader.takeTeardowns()
    await Promise.all(
      teardowns.map(async teardown => {
        try {
          await teardown()
        } catch (thrown) {
          say(port, { kind: 'teardown-failed', error: serializeError(thrown) })
        }
      }),
    )
    const unfinished = await this.#finishWork(deadline)
    if (unfinished.length > 0) this.#say(unfinished, true)
    await this.#environment.flush(FLUSH_AT_END_MS)
    this.#environment.end(0)
  }

  /** Flushes the output and exits: the host does not wait any longer. */
  async cutOff(): Promise<void> {
    const requests = this.#isWaiting ? this.#environment.work!.list() : []
    if (requests.length > 0) this.#say(requests, true)
    await this.#environment.flush(FLUSH_AT_STOP_MS)
    this.#environment.end()
  }

  async #finishWork(deadline: number): Promise<string[]> {
    const { work } = this.#environment
    if (work === null) return []
    return work.finish(deadline, () => {
      this.#isWaiting = true
      this.#say(work.list(), false)
    })
  }

  #say(requests: string[], isCutOff: boolean): void {
    say(this.#environment.port, { kind: 'unfinished', requests, isCutOff })
  }
}

function say(port: HostPort, message: ToHost): void {
  port.postMessage(message)
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
