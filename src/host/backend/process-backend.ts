// Workers as processes. Three pipes of the pool's own: to the worker, from it, and one that only says by closing that this
// process is no more. The channel of `process.send` beside them is the user's.
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Socket } from 'node:net'
import { claim, markAnswered, markLoading, noteBegin, slotsIn } from '../../shared/channel/claims.js'
import {
  ANSWERED,
  BEGUN,
  type FrameKind,
  type FrameListener,
  FrameReader,
  LOADING,
} from '../../shared/channel/frames.js'
import { errorForProcess, packMessage, unpackMessage } from '../../shared/channel/process-values.js'
import type { ProcessOrder, ToHost, ToWorker } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import type { SharedWords } from '../../shared/platform/atomics.js'
import { realClock, type Timer } from '../../shared/platform/clock.js'
import { invariant } from '../../shared/platform/invariant.js'
import { existsSync, fileURLToPath, getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { processEntryUrl } from './entry-url.js'
import { FatalReport, memoryFailure } from './fatal-report.js'
import { packageFile, startFailureCause } from './missing-package-file.js'
import { exitCodeOf, processArguments, processEnvironment } from './process-surroundings.js'

/** In the order of their descriptors. What is printed goes straight to where this process prints. */
const STDIO = ['ignore', 'inherit', 'inherit', 'pipe', 'pipe', 'pipe', 'ipc'] as const
const TO_WORKER = 3
const FROM_WORKER = 4
const LIFELINE = 5
const REPORT = 7
/** How long the last words of a worker that has ended are waited for: another process may hold its pipe open. */
const LAST_WORDS_MS = 1000

export const processBackend: Backend = {
  start: (spec, listener) => new ProcessLink(spec, listener),
}

class ProcessLink implements WorkerLink {
  readonly kind = 'process'
  readonly thread = null
  readonly threadId = -1
  readonly process: ChildProcess
  readonly #listener: LinkListener
  readonly #claims: SharedWords
  readonly #toWorker: Socket
  readonly #fromWorker: Socket
  readonly #lifeline: Socket
  readonly #report: FatalReport | null
  #end: { exitCode: number; signal: NodeJS.Signals | null } | null = null
  #hasSpoken = false
  #saysNoMore = false
  #lastWords: Timer | null = null

  constructor(spec: WorkerSpec, listener: LinkListener) {
    const { road, workerOptions, ...said } = spec
    if (road.kind !== 'port') throw new TypeError('A process takes its tasks one by one.')
    this.#listener = listener
    this.#claims = road.claims
    this.#report = FatalReport.open()
    const order: ProcessOrder = {
      ...said,
      road: { kind: 'pipe' },
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
    this.#listen()
    this.#toWorker.write(firstFrame)
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    invariant(message !== 'bell', 'the lane does not reach into another process')
    // No moment of a process's life is bad for a kill.
    if (message.kind === 'stop') return this.terminate()
    const sendable =
      message.kind === 'cancel' ? { ...message, reason: errorForProcess(message.reason) } : message
    const frame = packMessage(sendable, transferList)
    if (this.#end === null) this.#toWorker.write(frame)
  }

  terminate(): void {
    this.process.kill('SIGKILL')
    // Who waits for the end of it must live to see that.
    if (this.#end === null) this.process.ref()
  }

  #listen(): void {
    const listener: FrameListener = {
      onValue: bytes => this.#onValue(bytes),
      onControl: (kind, slot, taskId) => this.#onControl(kind, slot, taskId),
      // Something in the worker wrote to a descriptor that is not its own.
      onGarbage: () => this.terminate(),
    }
    const reader = new FrameReader(listener, slotsIn(this.#claims))
    this.#fromWorker.on('data', piece => reader.push(piece))
    this.#fromWorker.on('close', () => this.#onSilent())
    // One that reads no more is no worker, whatever it did to its descriptor.
    this.#toWorker.on('close', () => this.terminate())
    for (const pipe of [this.#toWorker, this.#fromWorker, this.#lifeline]) {
      // What is written to a worker that is no more is of no interest: its end says all.
      pipe.on('error', () => {})
      pipe.unref()
    }
    this.process.on('message', (value: unknown) => this.#listener.onUserMessage(value))
    this.process.on('error', () => {})
    this.process.on('exit', (exitCode, signal) => this.#onExit(exitCode, signal))
    this.process.channel?.unref()
    this.process.unref()
  }

  #onValue(bytes: Buffer): void {
    this.#hasSpoken = true
    let message: Exclude<ToHost, 'bell'> | null | undefined
    try {
      message = unpackMessage(bytes) as Exclude<ToHost, 'bell'>
    } catch {
      return this.#listener.onUnreadable()
    }
    if (typeof message?.kind === 'string') this.#listener.onMessage(message)
    else this.terminate()
  }

  /** The worker cannot write into the words of its slots: that is done for it. */
  #onControl(kind: FrameKind, slot: number, taskId: number): void {
    if (kind === ANSWERED) markAnswered(this.#claims, slot)
    else if (kind === BEGUN) {
      noteBegin(this.#claims, slot, realClock.now())
      claim(this.#claims, slot, taskId)
    } else markLoading(this.#claims, slot, kind === LOADING)
  }

  #onExit(exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#end = { exitCode: exitCode ?? exitCodeOf(signal), signal }
    if (this.#saysNoMore) return this.#finish()
    this.#lastWords = realClock.after(LAST_WORDS_MS, () => this.#fromWorker.destroy(), true)
  }

  /** What the worker still said before its end counts: an answer given is an answer. */
  #onSilent(): void {
    this.#saysNoMore = true
    if (this.#end !== null) this.#finish()
  }

  #finish(): void {
    this.#lastWords?.cancel()
    this.#toWorker.destroy()
    this.#lifeline.destroy()
    if (this.process.connected) this.process.disconnect()
    const { exitCode, signal } = this.#end!
    const wasMemory = this.#report?.tellsOfMemory() === true
    this.#report?.close()
    const cause = this.#hasSpoken
      ? undefined
      : startFailureCause(processEntryUrl, stillborn(exitCode, signal))
    this.#listener.onExit(exitCode, wasMemory ? memoryFailure() : cause, signal)
  }
}

/** It ended before it ran a line of lido's. */
function stillborn(exitCode: number, signal: string | null): Error {
  const how = signal ?? `exit code ${exitCode}`
  // Node's own for a flag that it does not know.
  const why = exitCode === 9 ? ': Node refuses a flag of execArgv or NODE_OPTIONS' : ''
  const failure = new Error(`The process ended by ${how} before it looked at the handler's file${why}`)
  return Object.assign(failure, { code: 'ERR_WORKER_INIT_FAILED', exitCode, signal })
}

function spawnNode(workerOptions: Record<string, unknown>, report: FatalReport | null): ChildProcess {
  // Asked for here: a program without such workers does not load it.
  const { spawn } = getBuiltinModule('node:child_process')
  const options: SpawnOptions = Object.assign(Object.create(null), {
    stdio: report === null ? [...STDIO] : [...STDIO, report.fd],
    serialization: 'advanced',
    env: processEnvironment(workerOptions.env),
    windowsHide: true,
  })
  const entry = fileURLToPath(packageFile(processEntryUrl))
  const child = spawn(process.execPath, processArguments(entry, workerOptions), options)
  if (child.pid !== undefined) return child
  // The reason comes later, as an event; without a listener it would end this process.
  child.on('error', () => {})
  throw new Error(
    existsSync(process.execPath)
      ? 'The system gave no process: look at the limits on processes, open files and memory (ulimit -u, -n)'
      : `${process.execPath}, which runs this program, is not there any more: restart the program`,
  )
}
