// The life of a worker: load the pool's file, run tasks, and end when the host says so.
import { serializeError } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { HostPort, ToHost, ToWorker, WorkerOrder } from '../../shared/messages/messages.js'
import { unreachable } from '../../shared/platform/invariant.js'
import type { TaskSource } from '../lane/task-source.js'
import { Executor } from './executor.js'
import { LimitWatcher } from './limits.js'
import { Meter } from './meter.js'
import { ModuleLoader } from './module-loader.js'
import { FLUSH_AT_END_MS } from './stdio.js'

/** The thread or process around a worker. Each entry makes one. */
export interface WorkerEnvironment {
  /** No other worker runs on this thread. */
  readonly ownsThread: boolean
  readonly port: HostPort
  makeSource(executor: Executor): TaskSource
  /** Returns a promise while output is still to be written, `undefined` otherwise. The promise settles within `longestMs`. */
  flush(longestMs?: number): Promise<unknown> | undefined
  /** Calls back when the worker ends by itself. */
  onEnd(callback: () => void): void
  /** Calls back with the uncaught exception that ends the worker. */
  onCrash(callback: (failure: unknown) => void): void
  end(exitCode?: number): void
}

export async function serve(
  { niceIncrement, preload, limits, measures }: WorkerOrder,
  environment: WorkerEnvironment,
): Promise<void> {
  const { port } = environment
  const end = () => environment.end()
  let isLeaving = false
  /** `null` until the host asks the worker to end. A later request replaces an earlier one. */
  let requestedEnd: (() => unknown) | null = null
  const leave = () => {
    if (isLeaving) return
    isLeaving = true
    source.leave()
    say(port, { kind: 'leaving' })
  }
  const loader = new ModuleLoader(environment.ownsThread, () => say(port, { kind: 'has-teardown' }))
  const executor = new Executor({
    onStale: leave,
    onEnd: () => source.stop(),
    flush: () => environment.flush(),
    load: (handler: HandlerRef) => loader.load(handler),
  })
  if (limits !== null)
    executor.limits = new LimitWatcher(limits, leave, () => say(port, { kind: 'memory-exceeded' }))
  if (measures) executor.meter = new Meter(handlers => say(port, { kind: 'measured', handlers }))
  const source: TaskSource = environment.makeSource(executor)
  environment.onEnd(() => {
    executor.end()
    loader.takeTeardowns()
  })
  // The runtime's own report loses the error's class and the parts that cannot be cloned.
  environment.onCrash(failure => say(port, { kind: 'crashed', error: serializeError(failure) }))
  if (niceIncrement !== 0) await lowerPriority(niceIncrement)
  let loading: Promise<unknown> | null = null
  /** Waits until the file is loaded: Node never closes a file that a thread was reading when it ended. */
  const endWhenLoaded = (how: () => unknown) => {
    const isAwaited = requestedEnd !== null
    requestedEnd = how
    if (loading === null) how()
    else if (!isAwaited) void loading.then(() => requestedEnd!(), end)
  }
  // The worker listens before it loads the file. When the host asks for the end, the host limits how long the worker may load.
  port.on('message', (message: ToWorker) => {
    if (message === 'bell') return source.onMessage(message)
    switch (message.kind) {
      case 'run':
      case 'register-handler':
      case 'cancel':
      case 'ping':
      case 'list-tasks':
        return source.onMessage(message)
      case 'leave':
        leave()
        return source.onMessage(message)
      case 'end':
        source.stop()
        return endWhenLoaded(() => endAsPlanned(environment, loader))
      case 'stop':
        return endWhenLoaded(end)
      default:
        return unreachable(message)
    }
  })
  port.on('messageerror', () => source.onUnreadable())

  try {
    if (preload !== null) {
      loading = loader.load(preload)
      await loading
      loading = null
    }
  } catch (failure) {
    say(port, { kind: 'start-failed', error: serializeError(failure) })
    return end()
  }
  if (requestedEnd !== null) return
  say(port, { kind: 'ready' })
  source.open()
}

/** Runs the teardowns, writes the output, and ends. Timers, servers and sockets of a module do not keep the worker alive. */
async function endAsPlanned(environment: WorkerEnvironment, loader: ModuleLoader): Promise<void> {
  await Promise.all(
    loader.takeTeardowns().map(async teardown => {
      try {
        await teardown()
      } catch (thrown) {
        say(environment.port, { kind: 'teardown-failed', error: serializeError(thrown) })
      }
    }),
  )
  await environment.flush(FLUSH_AT_END_MS)
  environment.end(0)
}

function say(port: HostPort, message: ToHost): void {
  port.postMessage(message)
}

/** The package is optional. Without it the priority stays as it is. */
async function lowerPriority(niceIncrement: number): Promise<void> {
  try {
    const { nice } = await import('@napi-rs/nice')
    nice(niceIncrement)
  } catch (failure) {
    const why = failure instanceof Error ? failure.message : String(failure)
    process.emitWarning(
      `niceIncrement needs the package @napi-rs/nice (${why}). Install it, or leave the option out.`,
    )
  }
}
