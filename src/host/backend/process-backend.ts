// Runs workers as processes. The host has three pipes to each: one to the worker, one from the worker, and a lifeline.
// The lifeline carries no data. It closes when the host's process ends. The channel of `process.send` belongs to the
// user.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Socket } from 'node:net'
import type { TransferItem } from '../../api/call-options.js'
import { laneIn } from '../../shared/lane/layout.js'
import { Tickets } from '../../shared/lane/ticket.js'
import type { ProcessOrder, ToHost, ToWorker } from '../../shared/messages/messages.js'
import {
  ANSWERED,
  type FrameKind,
  type FrameListener,
  FrameReader,
  LOADING,
  STARTED,
} from '../../shared/messages/pipe-frames.js'
import { errorForProcess, packMessage } from '../../shared/messages/process-values.js'
import { unpackMessage } from '../../shared/messages/unpack-message.js'
import { realClock, type Timer } from '../../shared/platform/clock.js'
import { invariant } from '../../shared/platform/invariant.js'
import { existsSync, fileURLToPath, getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { processEntryUrl } from './entry-url.js'
import { FatalReport, memoryFailure } from './fatal-report.js'
import { exitCodeOf, processArguments, processEnvironment } from './process-surroundings.js'
import { embeddedCode, moduleFlags, packageFile, startFailureCause } from './worker-code.js'

/** The file descriptors after stdin, stdout and stderr. */
const POOL_STDIO = ['pipe', 'pipe', 'pipe', 'ipc'] as const
const TO_WORKER = 3
const FROM_WORKER = 4
const LIFELINE = 5
const REPORT = 7
/** How long the host waits until the pipe of an ended worker closes. Another process may hold the pipe open. */
const PIPE_CLOSE_MS = 1000

export const processBackend: Backend = {
  start: (spec, listener) => new ProcessLink(spec, listener),
}

class ProcessLink implements WorkerLink {
  readonly kind = 'process'
  readonly thread = null
  readonly threadId = -1
  readonly process: ChildProcess
  readonly #listener: LinkListener
  readonly #tickets: Tickets
  readonly #workerId: number
  readonly #toWorker: Socket
  readonly #fromWorker: Socket
  readonly #lifeline: Socket
  readonly #report: FatalReport | null
  #end: { exitCode: number; signal: NodeJS.Signals | null } | null = null
  #hasReported = false
  #isPipeClosed = false
  #pipeTimer: Timer | null = null

  constructor(spec: WorkerSpec, listener: LinkListener) {
    const { lane, workerOptions, ...rest } = spec
    const { memory, state: _state, usesLaneQueue: _usesLaneQueue, ...pipedLane } = lane
    const layout = laneIn(memory)
    this.#listener = listener
    this.#tickets = new Tickets(layout)
    this.#workerId = lane.workerId
    this.#report = FatalReport.open()
    const order: ProcessOrder = {
      ...rest,
      lane: pipedLane,
      workerData: workerOptions.workerData,
      reportFd: this.#report === null ? null : REPORT,
    }
    let firstFrame: Buffer
    try {
      firstFrame = packMessage(order)
      this.process = spawnNode(workerOptions, this.#report)
    } catch (failure) {
      this.#report?.close()
      throw failure
    }
    const pipes = this.process.stdio as unknown as Socket[]
    this.#toWorker = pipes[TO_WORKER]!
    this.#fromWorker = pipes[FROM_WORKER]!
    this.#lifeline = pipes[LIFELINE]!
    this.#listen(layout.tickets)
    this.#toWorker.write(firstFrame)
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    invariant(message !== 'bell', 'a process gets no bell messages')
    const frame = packMessage(sendable(message), transferList)
    if (this.#end === null) this.#toWorker.write(frame)
  }

  terminate(): void {
    this.process.kill('SIGKILL')
    // A caller may wait for the exit, so the host's process must stay alive until then.
    if (this.#end === null) this.process.ref()
  }

  #listen(tickets: number): void {
    const listener: FrameListener = {
      onValue: bytes => this.#onValue(bytes),
      onControl: (kind, ticket, taskId) => this.#onReport(kind, ticket, taskId),
      // Other code in the worker wrote to the pool's file descriptor.
      onGarbage: () => this.terminate(),
    }
    const reader = new FrameReader(listener, tickets)
    this.#fromWorker.on('data', piece => reader.push(piece))
    this.#fromWorker.on('close', () => this.#onPipeClosed())
    // The host can no longer reach a worker that has closed its pipe.
    this.#toWorker.on('close', () => this.terminate())
    for (const pipe of [this.#toWorker, this.#fromWorker, this.#lifeline]) {
      // Writes to an ended worker fail. The exit event reports its end.
      pipe.on('error', () => {})
      pipe.unref()
    }
    for (const output of [this.process.stdout, this.process.stderr] as (Socket | null)[]) output?.unref()
    this.process.on('message', (value: unknown) => this.#listener.onUserMessage(value))
    this.process.on('error', () => {})
    this.process.on('exit', (exitCode, signal) => this.#onExit(exitCode, signal))
    // In Bun the channel has no unref() and does not keep the process alive.
    this.process.channel?.unref?.()
    this.process.unref()
  }

  #onValue(bytes: Buffer): void {
    this.#hasReported = true
    let message: Exclude<ToHost, 'bell'> | null | undefined
    try {
      message = unpackMessage(bytes) as Exclude<ToHost, 'bell'>
    } catch {
      return this.#listener.onUnreadable()
    }
    if (typeof message?.kind === 'string') this.#listener.onMessage(message)
    else this.terminate()
  }

  /** A process shares no memory with the host, so the host moves the tickets when the process reports a move. */
  #onReport(kind: FrameKind, ticket: number, taskId: number): void {
    if (kind === STARTED) this.#tickets.startReported(ticket, taskId, this.#workerId, realClock.now())
    else if (kind === ANSWERED) this.#tickets.answer(ticket, this.#workerId)
    else this.#tickets.markLoading(ticket, this.#workerId, kind === LOADING)
  }

  #onExit(exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#end = { exitCode: exitCode ?? exitCodeOf(signal), signal }
    if (this.#isPipeClosed) return this.#finish()
    this.#pipeTimer = realClock.after(PIPE_CLOSE_MS, () => this.#fromWorker.destroy(), true)
  }

  /** The host waits until the pipe is empty and closed, because it may hold answers. */
  #onPipeClosed(): void {
    this.#isPipeClosed = true
    if (this.#end !== null) this.#finish()
  }

  #finish(): void {
    this.#pipeTimer?.cancel()
    this.#toWorker.destroy()
    this.#lifeline.destroy()
    if (this.process.connected) this.process.disconnect()
    const { exitCode, signal } = this.#end!
    const wasMemory = this.#report?.isOutOfMemory() === true
    this.#report?.close()
    const cause = this.#hasReported
      ? undefined
      : startFailureCause(processEntryUrl, earlyExit(exitCode, signal))
    this.#listener.onExit(exitCode, wasMemory ? memoryFailure() : cause, signal)
  }
}

/** The error for a process that ended before it ran any code of lido. */
function earlyExit(exitCode: number, signal: string | null): Error {
  const how = signal === null ? `exited with exit code ${exitCode}` : `was killed by ${signal}`
  // Node exits with 9 if it refuses a flag.
  const why = exitCode === 9 ? ': Node refuses a flag of execArgv or NODE_OPTIONS' : ''
  const failure = new Error(`The process ${how} before it loaded the handler's file${why}`)
  return Object.assign(failure, { code: 'ERR_WORKER_INIT_FAILED', exitCode, signal })
}

function spawnNode(workerOptions: Record<string, unknown>, report: FatalReport | null): ChildProcess {
  // Loaded here: programs without processes do not need it.
  const { spawn } = getBuiltinModule('node:child_process')
  const { cwd, output } = workerOptions
  const printsTo = output === 'pipe' ? 'pipe' : 'inherit'
  const code = embeddedCode('process')
  const stdio = [code === null ? 'ignore' : 'pipe', printsTo, printsTo, ...POOL_STDIO] as const
  const options: SpawnOptions = Object.assign(Object.create(null), {
    // A folder that was deleted would prevent the start.
    ...(typeof cwd === 'string' && existsSync(cwd) && { cwd }),
    serialization: 'advanced',
    ...(workerOptions.spawnOptions as object | undefined),
    stdio: report === null ? [...stdio] : [...stdio, report.fd],
    env: processEnvironment(workerOptions.env),
    windowsHide: true,
  })
  // `-` reads the program from the standard input.
  const entry = code === null ? [fileURLToPath(packageFile(processEntryUrl))] : [...moduleFlags, '-']
  const child = spawn(process.execPath, processArguments(entry, workerOptions), options)
  // A process that ends before it has read its program reports its end by the exit event.
  child.stdin?.on('error', () => {}).end(code)
  if (child.pid !== undefined) return child
  // Node emits the error later as an event, which would end this process without a listener.
  child.on('error', () => {})
  throw new Error(
    existsSync(process.execPath)
      ? 'The system could not create a process. Check the limits on processes, open files and memory (ulimit -u, -n)'
      : `The file ${process.execPath}, which runs this program, no longer exists. Restart the program`,
  )
}

function sendable(message: Exclude<ToWorker, 'bell'>): object {
  if (message.kind === 'cancel') return { ...message, reason: errorForProcess(message.reason) }
  if (message.kind === 'to-task' && 'error' in message.body) {
    return { ...message, body: { ...message.body, error: errorForProcess(message.body.error) } }
  }
  return message
}
