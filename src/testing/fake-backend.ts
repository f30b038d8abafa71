// Workers without threads: a test plays the worker's part, step by step. Messages are cloned as a port would clone them,
// and the claims are real, so what a host may not assume of a thread it may not assume here.
import type { Worker } from 'node:worker_threads'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from '../host/backend/backend.js'
import { claim, noteBegin } from '../shared/channel/claims.js'
import { pack } from '../shared/errors/remote-error.js'
import { kindOf } from '../shared/messages/kind-of.js'
import type { FailureReason, ToHost, ToWorker } from '../shared/messages/messages.js'
import type { TransferItem } from '../shared/messages/move.js'
import type { SharedWords } from '../shared/platform/atomics.js'
import type { Clock } from '../shared/platform/clock.js'

export type RunMessage = Extract<ToWorker, { kind: 'run' }>

export class FakeBackend implements Backend {
  /** Every worker that was started, the dead ones too. */
  readonly links: FakeLink[] = []
  /** The host's clock, by which workers say when they begin a task; `null`: they do not say. */
  clock: Clock | null = null
  /** While set, no worker can be started. */
  startFailure: Error | null = null
  /** Called for every worker that is started, when its listener is wired. */
  onStart: ((link: FakeLink) => void) | null = null

  start(spec: WorkerSpec, listener: LinkListener): WorkerLink {
    if (this.startFailure !== null) throw this.startFailure
    const link = new FakeLink(this.links.length + 1, spec, listener, this.clock)
    this.links.push(link)
    if (this.onStart !== null) queueMicrotask(() => this.onStart?.(link))
    return link
  }

  /** Workers that have not ended. */
  get alive(): FakeLink[] {
    return this.links.filter(link => !link.hasEnded)
  }

  /** The worker that was started last. */
  get newest(): FakeLink {
    return this.links[this.links.length - 1]!
  }
}

export class FakeLink implements WorkerLink {
  readonly kind = 'thread'
  readonly process = null
  readonly thread: Worker
  readonly spec: WorkerSpec
  /** What the host posted, oldest first. */
  readonly inbox: ToWorker[] = []
  /** `terminate()` was called. */
  isKilled = false
  hasEnded = false
  /** False: it does not do by itself what it is asked. */
  isObedient = true
  #hasLeft = false
  readonly #number: number
  readonly #listener: LinkListener
  readonly #clock: Clock | null
  #passed = 0

  constructor(number: number, spec: WorkerSpec, listener: LinkListener, clock: Clock | null) {
    this.#clock = clock
    this.#number = number
    this.spec = spec
    this.#listener = listener
    this.thread = { threadId: number } as Worker
  }

  /** The words of a worker whose tasks come by the port. */
  get claims(): SharedWords {
    const { road } = this.spec
    if (road.kind !== 'port') throw new Error('this worker takes its tasks from the lane')
    return road.claims
  }

  get threadId(): number {
    return this.hasEnded ? -1 : this.#number
  }

  post(message: ToWorker, transferList: readonly TransferItem[] = []): void {
    if (this.hasEnded) return
    const transfer = [...transferList] as unknown as Parameters<typeof structuredClone>[1]
    this.inbox.push(structuredClone(message, { transfer } as never) as ToWorker)
    if (this.isObedient) this.#obey(message)
  }

  /** As a worker that is not busy: it leaves, and ends, when it is asked to. */
  #obey(message: ToWorker): void {
    const kind = kindOf(message)
    if (kind === 'leave' && !this.#hasLeft) {
      this.#hasLeft = true
      queueMicrotask(() => this.say({ kind: 'leaving' }))
    }
    if (kind === 'end') queueMicrotask(() => this.exit(0))
  }

  /** As a thread: it ends later, and says so. */
  terminate(): void {
    if (this.isKilled) return
    this.isKilled = true
    queueMicrotask(() => this.exit(1))
  }

  /** The tasks posted so far, as payloads: begun, answered and taken back ones too. */
  get payloads(): unknown[] {
    return this.runs.map(run => run.payload)
  }

  get runs(): RunMessage[] {
    return this.inbox.filter(message => message !== 'bell' && message.kind === 'run')
  }

  /** The host asked it to end itself. */
  get isStopped(): boolean {
    return this.inbox.some(message => kindOf(message) === 'stop')
  }

  /** The host asked it to run its teardown and to end. */
  get isAskedToEnd(): boolean {
    return this.inbox.some(message => kindOf(message) === 'end')
  }

  // What the worker does.

  ready(): void {
    this.say({ kind: 'ready' })
  }

  /** Begins the next posted task that is still this worker's to run; `null` when there is none. */
  begin(): RunMessage | null {
    for (const run of this.runs.slice(this.#passed)) {
      this.#passed++
      if (!claim(this.claims, run.slot, run.taskId)) continue
      if (this.#clock !== null) noteBegin(this.claims, run.slot, this.#clock.now())
      return run
    }
    return null
  }

  done({ taskId, slot }: RunMessage, result?: unknown): void {
    this.say({ kind: 'done', taskId, slot, result })
  }

  failed({ taskId, slot }: RunMessage, thrown: unknown, reason: FailureReason = 'thrown', path = ''): void {
    this.say({ kind: 'failed', taskId, slot, reason, error: pack(thrown), path })
  }

  /** Begins the next task and answers it at once with its payload; tells the payload, or `null` without a task. */
  work(): unknown {
    const run = this.begin()
    if (run === null) return null
    this.done(run, run.payload)
    return run.payload
  }

  startFailed(thrown: unknown): void {
    this.say({ kind: 'startFailed', error: pack(thrown) })
    this.exit(0)
  }

  failTeardown(thrown: unknown): void {
    this.say({ kind: 'teardownFailed', error: pack(thrown) })
  }

  exit(exitCode: number, error?: unknown, signal: NodeJS.Signals | null = null): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.#listener.onExit(exitCode, error, signal)
  }

  say(message: ToHost): void {
    if (!this.hasEnded) this.#listener.onMessage(structuredClone(message))
  }

  /** An answer arrives that the host cannot read. */
  sayUnreadable(): void {
    if (!this.hasEnded) this.#listener.onUnreadable()
  }

  sayToUser(value: unknown): void {
    if (!this.hasEnded) this.#listener.onUserMessage(value)
  }
}
