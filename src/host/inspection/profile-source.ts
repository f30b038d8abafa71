// Where CPU profiles come from: the host's own thread, a worker thread, or a worker process. Each source starts the next profile before it
// ends the last one, so that no sample is lost between them.
import type { Worker as Thread } from 'node:worker_threads'
import { OwnProfiler, type RawProfile } from '../../shared/platform/own-profile.js'
import type { ProbedWorker } from '../workers/worker-probe.js'
import type { InspectedThread, ThreadInspector } from './thread-inspector.js'

/** A thread answers also while it computes. */
const INTERRUPTED_MS = 1000
/** A process answers after its present task. */
const BUSY_PROCESS_MS = 1000

/** Methods reject, throw or never settle when the thread cannot answer. */
export interface ProfileSource {
  /** How long the end of a recording waits for the last profile. */
  readonly lastPieceMs: number
  /** Starts the first profile. */
  start(): Promise<void>
  /** Starts the next profile. Resolves to the one before. */
  next(): Promise<RawProfile | null>
  /** Ends the last profile. */
  stop(): Promise<RawProfile | null>
}

function parse(text: string | null): RawProfile | null {
  if (text === null) return null
  try {
    return JSON.parse(text) as RawProfile | null
  } catch {
    return JSON.parse(withEscapes(text)) as RawProfile | null
  }
}

const CALL_FRAME =
  /"functionName":"(.*?)",("lineNumber":-?\d+,"columnNumber":-?\d+,"scriptId":\d+),"url":"(.*?)"\}/gs

/** `startCpuProfile()` of Node 22 to 26 writes names and URLs without escapes. The name of a regular expression is its text. */
function withEscapes(text: string): string {
  return text.replaceAll(
    CALL_FRAME,
    (_, name: string, place: string, url: string) =>
      `"functionName":${JSON.stringify(name)},${place},"url":${JSON.stringify(url)}}`,
  )
}

export class HostSource implements ProfileSource {
  readonly lastPieceMs = INTERRUPTED_MS
  readonly #profiler = new OwnProfiler()

  async start(): Promise<void> {
    this.#profiler.start()
  }

  async next(): Promise<RawProfile | null> {
    return this.nextNow()
  }

  nextNow(): RawProfile | null {
    return parse(this.#profiler.next())
  }

  async stop(): Promise<RawProfile | null> {
    return parse(this.#profiler.stop())
  }
}

interface ThreadProfile {
  stop(): Promise<string>
}

/** A thread of a Node that has `worker.startCpuProfile()`. */
export interface ProfiledThread {
  readonly threadId: number
  once(event: 'online' | 'exit', listener: () => void): unknown
  startCpuProfile(name?: string): Promise<ThreadProfile>
}

/** `null`: the thread cannot profile itself. */
export function profiledThread(thread: Thread): ProfiledThread | null {
  const { startCpuProfile } = thread as Partial<ProfiledThread>
  return typeof startCpuProfile === 'function' ? (thread as unknown as ProfiledThread) : null
}

let profiles = 0

export class ThreadSource implements ProfileSource {
  readonly lastPieceMs = INTERRUPTED_MS
  readonly #thread: ProfiledThread
  #running: ThreadProfile | null = null

  constructor(thread: ProfiledThread) {
    this.#thread = thread
  }

  async start(): Promise<void> {
    try {
      this.#running = await this.#begin()
    } catch (failure) {
      const { code } = failure as NodeJS.ErrnoException
      if (code !== 'ERR_WORKER_NOT_RUNNING' || this.#thread.threadId < 0) throw failure
      await this.#online()
      this.#running = await this.#begin()
    }
  }

  /** Resolves when a starting thread runs, or has ended. */
  #online(): Promise<void> {
    return new Promise(resolve => {
      this.#thread.once('online', resolve)
      this.#thread.once('exit', resolve)
    })
  }

  async next(): Promise<RawProfile | null> {
    const last = this.#running
    this.#running = await this.#begin()
    return last === null ? null : parse(await last.stop())
  }

  async stop(): Promise<RawProfile | null> {
    const last = this.#running
    this.#running = null
    return last === null ? null : parse(await last.stop())
  }

  /** Node 22 needs a name. Later versions have no such argument, and refuse a string. */
  async #begin(): Promise<ThreadProfile> {
    try {
      return await this.#thread.startCpuProfile()
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'ERR_INVALID_ARG_TYPE') throw failure
      return await this.#thread.startCpuProfile(`lido ${++profiles}`)
    }
  }
}

/** A thread of a Node without `worker.startCpuProfile()`. */
export class InspectorSource implements ProfileSource {
  readonly lastPieceMs = INTERRUPTED_MS
  readonly #inspector: () => ThreadInspector
  readonly #threadId: number
  #thread: InspectedThread | null = null
  #title = ''

  /** @param inspector throws when Node has none */
  constructor(inspector: () => ThreadInspector, threadId: number) {
    this.#inspector = inspector
    this.#threadId = threadId
  }

  async start(): Promise<void> {
    this.#thread = await this.#inspector().attach(this.#threadId)
    await this.#begin(this.#thread)
  }

  async next(): Promise<RawProfile | null> {
    const thread = this.#thread
    if (thread === null) return null
    const last = this.#title
    await this.#begin(thread)
    return await thread.endProfile(last)
  }

  async stop(): Promise<RawProfile | null> {
    return (await this.#thread?.endProfile(this.#title)) ?? null
  }

  async #begin(thread: InspectedThread): Promise<void> {
    const title = `lido ${++profiles}`
    await thread.startProfile(title)
    this.#title = title
  }
}

/** A process profiles itself between two turns of its event loop, so a busy handler delays the answer. */
export class ProcessSource implements ProfileSource {
  readonly lastPieceMs = BUSY_PROCESS_MS
  readonly #worker: ProbedWorker
  readonly #waiting: ((profile: RawProfile | null) => void)[] = []

  constructor(worker: ProbedWorker) {
    this.#worker = worker
  }

  async start(): Promise<void> {
    this.#worker.askForProfile('start')
  }

  next(): Promise<RawProfile | null> {
    return this.#ask('next')
  }

  stop(): Promise<RawProfile | null> {
    return this.#ask('stop')
  }

  #ask(order: 'next' | 'stop'): Promise<RawProfile | null> {
    const answer = new Promise<RawProfile | null>(resolve => this.#waiting.push(resolve))
    this.#worker.askForProfile(order)
    return answer
  }

  /** The process answers in the order of the questions. */
  receive(profile: string | null): void {
    this.#waiting.shift()?.(parse(profile))
  }
}
