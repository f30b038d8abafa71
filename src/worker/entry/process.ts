// A worker process. The host opens its pipes: 3 from the host, 4 to the host, and 5, which closes
// when the host exits. Messages of `process.send` use another channel.
import { Worker } from 'node:worker_threads'
import { inheritLoadingFiles } from '../../shared/messages/handler-ref.js'
import type { ProcessOrder } from '../../shared/messages/messages.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'
import { OwnProfiler } from '../../shared/platform/own-profile.js'
import { PipedTickets } from '../lane/piped-tickets.js'
import { TaskSource } from '../lane/task-source.js'
import { workerClock } from '../run/clock.js'
import { promiseHooks } from '../run/executor.js'
import { WorkerLife } from '../run/life.js'
import { ModuleLoader } from '../run/module-loader.js'
import { flushStdio } from '../run/stdio.js'
import { UnfinishedWork } from '../run/unfinished-work.js'
import { exit, markWorker, watchCrash } from './own-thread.js'
import { PipePort } from './pipe-port.js'

/** Node does not pass messages with this prefix to listeners. */
const LAST_MESSAGE = { cmd: 'NODE_LIDO_END' }

/** The time for the main thread to exit by itself after the host has exited. */
const LIFELINE_GRACE_MS = 500

/** `pending` is true in Bun, as in `PipePort`. */
const lifelineProgram = `
  const { Socket } = require('node:net')
  const { workerData } = require('node:worker_threads')
  const end = () => process.kill(process.pid, 'SIGKILL')
  const { fd, graceMs } = workerData
  const line = new Socket({ fd, readable: true, writable: false })
  if (line.pending) line.connect({ fd })
  line.on('error', () => {}).on('close', () => setTimeout(end, graceMs)).resume()
`

/** Makes this process a worker. */
export function startProcess(): void {
  markWorker()
  // These signals reach the whole process group, for example with Ctrl-C. The host decides when its workers exit.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  const port: PipePort = new PipePort(3, 4, { onOrder: order => start(order, port), onEnd: () => exit(1) })
  watchHost(5)
}

function start(order: ProcessOrder, port: PipePort): void {
  inheritLoadingFiles(order.loading)
  // Tells the host that flags and preloaded files did not end this process.
  port.postMessage({ kind: 'pong' })
  if (order.reportFd !== null) reportFatalErrors(order.reportFd)
  Object.defineProperty(globalThis, globalSymbol('workerData'), { value: order.workerData })
  const tickets = new PipedTickets((report, ticket, taskId) => port.report(report, ticket, taskId))
  const life = new WorkerLife(order, {
    ...promiseHooks,
    work: new UnfinishedWork(),
    threadId: -1,
    port,
    makeLoader: (setupTimeoutMs, onTeardown) => new ModuleLoader(true, setupTimeoutMs, onTeardown),
    makeSource: executor => new TaskSource(port, { ...order.lane, tickets }, executor),
    flush: flushStdio,
    cpuMs: () => workerClock.processCpu(),
    onEnd: callback => process.on('exit', callback),
    onCrash: watchCrash,
    end: exitCode => (exitCode === 0 ? exitWhenSent() : exit(exitCode)),
  })
  const profiler = new OwnProfiler()
  port.onProfile = order => {
    const profile = profileFor(order, profiler)
    if (order !== 'start') port.postMessage({ kind: 'profile', profile })
  }
  void life.start()
}

function profileFor(order: 'start' | 'next' | 'stop', profiler: OwnProfiler): string | null {
  try {
    return profiler[order]() ?? null
  } catch {
    return null
  }
}

/** Exits after the host has read the messages of `process.send`. The host limits the time for this. */
function exitWhenSent(): void {
  if (process.send === undefined || !process.connected) return exit(0)
  process.send(LAST_MESSAGE, () => exit(0))
}

/**
 * Ends this process when the host has exited, even while a handler blocks the main thread. A separate thread watches a
 * pipe that closes when the host exits. Without that thread the process exits when its event loop next turns.
 */
function watchHost(fd: number): void {
  try {
    const thread = new Worker(lifelineProgram, {
      eval: true,
      name: 'lido lifeline',
      // The user's hooks and environment must not affect this thread.
      execArgv: [],
      env: {},
      workerData: { fd, graceMs: LIFELINE_GRACE_MS },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    })
    thread.on('error', () => {})
    thread.unref()
  } catch {
    // The process may not start threads, for example with `--permission`.
  }
}

/**
 * Lets Node write a report of a fatal error to a file that the host reads. Without the report the host cannot
 * distinguish a reached heap limit from `process.abort()`. Does nothing if the user has configured reports.
 */
function reportFatalErrors(fd: number): void {
  const { report } = process as { report?: NodeJS.ProcessReport & { excludeNetwork?: boolean } }
  if (report === undefined || report.directory !== '' || report.filename !== '') return
  if (report.reportOnFatalError || report.reportOnUncaughtException) return
  report.filename = `/proc/self/fd/${fd}`
  // A report with network addresses would make DNS requests.
  report.excludeNetwork = true
  report.reportOnFatalError = true
}
