// Tasks that come by the port, each with its payload, into a slot of this worker. A port gives its messages as long as there
// are any, so the worker sees to it that its event loop turns in between.

import { deserializeError, type SerializedError } from '../shared/errors/serialize-error.js'
import type { Handler } from '../shared/messages/handler.js'
import type { FailureReason, HostPort, ToHost, ToWorker } from '../shared/messages/messages.js'
import type { Timer } from '../shared/platform/make-clock.js'
import { keepShape } from '../shared/platform/shapes.js'
import { type Assignment, type AssignmentState, sendFailure, sendResult } from './assignment.js'
import { Cancellations } from './cancellations.js'
import { realClock } from './clock.js'
import type { Executor } from './executor.js'
import { type Intake, type RunMessage, YIELD_MS } from './intake.js'
import type { SlotBook } from './slot-book.js'
import { Spinner } from './spinner.js'

export class PortIntake implements Intake {
  readonly port: HostPort
  readonly book: SlotBook
  readonly cancellations = new Cancellations()
  readonly #executor: Executor
  readonly #spinner: Spinner
  readonly #onQuiet: (() => void) | null
  /** The tasks begun and not answered. */
  readonly #running = new Set<number>()
  #received = 0
  /** What came and is not to begin yet, in the order in which it came. */
  readonly #waiting: RunMessage[] = []
  /** False before the worker is ready, and while it leaves and the host takes back what it can. */
  #isOpen = false
  /** Pending until the event loop has turned. */
  #turn: Timer | null = null
  /** When it last turned, as far as is known; while it is to turn, since when. */
  #turnedAt = 0

  /** @param onQuiet called when the last task it had begun is answered */
  constructor(port: HostPort, book: SlotBook, executor: Executor, onQuiet: (() => void) | null = null) {
    this.port = port
    this.#onQuiet = onQuiet
    this.book = book
    this.#executor = executor
    this.#spinner = new Spinner(() => book.maySpin())
  }

  open(): void {
    this.#goOn()
  }

  #goOn(): void {
    this.#isOpen = true
    this.#beginAll()
  }

  #take(message: RunMessage): void {
    this.#waiting.push(message)
    this.#beginAll()
  }

  /** Each of them may make the worker leave. */
  #beginAll(): void {
    while (this.#isOpen && this.#waiting.length > 0 && !this.#mustTurn()) this.#begin(this.#waiting.shift()!)
  }

  /** To be asked before each task: true when the event loop comes first, and then the task. */
  #mustTurn(): boolean {
    const now = realClock.now()
    if (now - this.#turnedAt < YIELD_MS) return false
    if (this.#turn !== null) return true
    this.#awaitTurn(now)
    return false
  }

  #awaitTurn(now: number): void {
    this.#turnedAt = now
    this.#turn = realClock.nextTurn(() => {
      this.#turn = null
      if (this.#waiting.length > 0) this.#awaitTurn(realClock.now())
      else this.#turnedAt = realClock.now()
      this.#beginAll()
    })
  }

  onMessage(message: ToWorker): void {
    if (message === 'bell') return
    switch (message.kind) {
      case 'run':
        this.#received++
        this.#spinner.onWork()
        return this.#take(message)
      case 'leave':
        return this.#goOn()
      case 'cancel':
        return this.#cancel(message)
      case 'ask':
        return this.#say({ kind: 'alive' })
      case 'audit':
        return this.#say({ kind: 'holding', taskIds: this.#unanswered(), received: this.#received })
    }
  }

  /** What waits is not answered either. */
  #unanswered(): number[] {
    return [...this.#running, ...this.#waiting.map(({ taskId }) => taskId)]
  }

  onUnreadable(): void {
    this.#say({ kind: 'unreadable', ordinal: ++this.#received })
  }

  /** The host gives no more tasks. What it cannot take back is begun when it has taken back the rest. */
  leave(): void {
    if (this.book.canBeTakenBack()) this.#isOpen = false
  }

  stopTaking(): void {}

  /** No message comes any more: what waits is not begun, nor waited for. What runs hears that nobody wants its answer. */
  close(): void {
    this.#isOpen = false
    this.#waiting.length = 0
    for (const taskId of this.#running)
      if (!this.cancellations.isCancelled(taskId)) this.cancellations.cancel(taskId, undefined)
  }

  get isBusy(): boolean {
    return this.#running.size > 0
  }

  /** Nobody wanted the answer of the task, whose handler has ended. */
  sayOver(taskId: number, slot: number): void {
    this.#say({ kind: 'over', taskId, slot })
    this.onAnswered(taskId)
  }

  onAnswered(taskId: number): void {
    this.#running.delete(taskId)
    this.cancellations.forget(taskId)
    if (this.#running.size > 0) return
    this.#onQuiet?.()
    if (this.#waiting.length > 0) return
    const received = this.#received
    this.#spinner.lookOut(() => this.book.postCount() !== received)
  }

  #begin(message: RunMessage): void {
    if (!this.book.claim(message.slot, message.taskId)) return
    this.#running.add(message.taskId)
    this.#executor.run(new PortAssignment(message, this))
  }

  /** What the host could not take back and this worker has not begun, it does not begin. */
  #cancel({ taskId, slot, reason }: Extract<ToWorker, { kind: 'cancel' }>): void {
    if (this.#running.has(taskId)) return this.cancellations.cancel(taskId, deserializeError(reason))
    const place = this.#waiting.findIndex(message => message.taskId === taskId)
    if (place < 0) return
    this.#waiting.splice(place, 1)
    this.#say({ kind: 'over', taskId, slot })
  }

  #say(message: ToHost): void {
    this.port.postMessage(message)
  }
}

class PortAssignment implements Assignment {
  readonly handlerId: number
  readonly handler: Handler | null
  payload: unknown
  readonly #taskId: number
  readonly #slot: number
  readonly #intake: PortIntake
  #state: AssignmentState = 'running'

  constructor({ taskId, slot, handlerId, handler, payload }: RunMessage, intake: PortIntake) {
    this.#taskId = taskId
    this.#slot = slot
    this.handlerId = handlerId
    this.handler = handler
    this.payload = payload
    this.#intake = intake
  }

  get isCancelled(): boolean {
    if (this.#state !== 'running') return this.#state === 'ended'
    const { book, cancellations } = this.#intake
    return book.isCancelled(this.#slot, this.#taskId) || cancellations.isCancelled(this.#taskId)
  }

  get cancelReason(): unknown {
    return this.#intake.cancellations.reasonOf(this.#taskId)
  }

  makeSignal(): AbortSignal {
    if (this.#state === 'running') return this.#intake.cancellations.signalOf(this.#taskId)
    return this.#state === 'ended' ? AbortSignal.abort() : new AbortController().signal
  }

  markLoading(isLoading: boolean): void {
    this.#intake.book.markLoading(this.#slot, isLoading)
  }

  holdTime(): () => void {
    return this.#intake.book.holdTime(this.#slot)
  }

  succeed(result: unknown): void {
    if (this.#isOver()) return
    const problem = sendResult(this.#intake.port, this.#address, result)
    if (problem !== null) return this.#fail('result', problem.error, problem.path)
    this.#intake.onAnswered(this.#taskId)
  }

  fail(reason: FailureReason, error: SerializedError, path: string): void {
    if (!this.#isOver()) this.#fail(reason, error, path)
  }

  /** Nobody wants the answer: then all there is to say is that the handler has ended. */
  #isOver(): boolean {
    const wasCancelled = this.isCancelled
    this.#state = wasCancelled ? 'ended' : 'answered'
    if (wasCancelled) this.#intake.sayOver(this.#taskId, this.#slot)
    return wasCancelled
  }

  #fail(reason: FailureReason, error: SerializedError, path: string): void {
    sendFailure(this.#intake.port, this.#address, reason, error, path)
    this.#intake.onAnswered(this.#taskId)
  }

  get #address() {
    return { taskId: this.#taskId, slot: this.#slot }
  }
}

const sampleMessage: RunMessage = {
  kind: 'run',
  taskId: 0,
  slot: 0,
  handlerId: 0,
  handler: null,
  payload: null,
}
keepShape(new PortAssignment(sampleMessage, {} as PortIntake))
