// Runs a pack: the items of a map that one task runs, one after another. Each item is a task of its own for its handler, and has its
// own answer. The pack's answer is the number of started items.
import type { SerializedError } from '../../shared/errors/serialize-error.js'
import type { PackOrder } from '../../shared/messages/handler-ref.js'
import type { FailureReason } from '../../shared/messages/messages.js'
import type { TaskLink } from '../lane/task-link.js'
import { type PackAnswers, type TaskAnswers, WorkerTask } from '../lane/worker-task.js'
import type { AbortSignals } from './abort-signals.js'
import { workerClock } from './clock.js'
import type { LogSender } from './log-sender.js'
import type { Measurement } from './meter.js'

/** Between two items, the event loop turns after this time. */
const YIELD_MS = 5
/** Reading the clock takes longer than a short item. After so many short items the pack reads it. */
const MOST_UNTIMED = 8
const SHORT_MS = 0.05

export class PackRun implements TaskAnswers {
  readonly #pack: WorkerTask
  readonly #answers: PackAnswers
  readonly #callHandler: (item: WorkerTask) => void
  readonly #measurement: Measurement | null
  readonly #items: unknown[]
  readonly #mostMs: number
  #started = 0
  #isRunning = false
  #isPending = false
  #isAnswered = false
  #current: WorkerTask | null = null
  #now: number
  #turnedAt: number
  /** The clock is read before this item. */
  #timedItem = 1
  #untimed = 1

  /**
   * @param callHandler calls the handler with an item, and answers the item through its task
   * @param measurement of the whole pack
   */
  constructor(pack: WorkerTask, callHandler: (item: WorkerTask) => void, measurement: Measurement | null) {
    const { items, mostMs } = pack.payload as PackOrder
    this.#pack = pack
    // Only `WorkerAnswers` creates tasks with a pack.
    this.#answers = pack.answers as PackAnswers
    this.#callHandler = callHandler
    this.#measurement = measurement
    this.#items = items
    this.#mostMs = mostMs
    this.#now = this.#turnedAt = pack.startedAt
    pack.payload = undefined
  }

  /** Runs items until one of them waits for its promise, or the event loop must turn. */
  goOn(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#current === null && this.#mayStart()) this.#start()
    this.#isRunning = false
    if (this.#isAnswered || this.#isPending) return
    this.#isPending = true
    this.#measurement?.onPending()
  }

  #answer(): false {
    this.#isAnswered = true
    this.#measurement?.end()
    this.#pack.succeed(this.#started)
    return false
  }

  #start(): void {
    const { taskId, ticket, handlerId, handler, wasSent, carried, deadline } = this.#pack
    const payload = this.#items[this.#started]
    // The context of an item may outlive it, and must not hold the others.
    this.#items[this.#started++] = undefined
    const item = new WorkerTask(taskId, ticket, handlerId, handler, payload, this.#now, wasSent, this)
    item.carried = carried
    item.deadline = deadline
    this.#current = item
    this.#callHandler(item)
  }

  /** False at the end of the pack, which is answered then, and when the event loop must turn first. */
  #mayStart(): boolean {
    if (this.#started === this.#items.length || this.#isStopped) return this.#answer()
    if (this.#started < this.#timedItem) return true
    const now = workerClock.now()
    const isShort = now - this.#now < SHORT_MS * this.#untimed
    this.#now = now
    this.#untimed = isShort ? Math.min(2 * this.#untimed, MOST_UNTIMED) : 1
    this.#timedItem = this.#started + this.#untimed
    if (this.#started > 0 && now - this.#pack.startedAt >= this.#mostMs) return this.#answer()
    if (now - this.#turnedAt < YIELD_MS) return true
    this.#turnedAt = now
    workerClock.nextTurn(() => this.goOn())
    return false
  }

  /** The second one: an inline worker closes. */
  get #isStopped(): boolean {
    return this.#pack.isCancelled || this.abortSignals.isCancelled(this.#pack.taskId)
  }

  #onEnd(item: WorkerTask): void {
    item.state = 'answered'
    // The next item gets a signal of its own.
    if (!this.abortSignals.isCancelled(item.taskId)) this.abortSignals.forget(item.taskId)
    if (item.answersByMessage) this.#pack.answersByMessage = true
    this.#current = null
  }

  // The answers of an item.

  get abortSignals(): AbortSignals {
    return this.#answers.abortSignals
  }

  get logs(): LogSender {
    return this.#answers.logs
  }

  isCancelled(): boolean {
    return this.#pack.isCancelled
  }

  /** The pack has loaded the handler. */
  markLoading(): void {}

  pauseTime(): () => void {
    return this.#pack.pauseTime()
  }

  report(_item: WorkerTask, value: unknown): void {
    this.#pack.report(value)
  }

  linkOf(): TaskLink {
    return this.#pack.link
  }

  succeed(item: WorkerTask, result: unknown): void {
    this.#onEnd(item)
    this.#answers.succeedItem(this.#pack, result)
    this.goOn()
  }

  fail(item: WorkerTask, reason: FailureReason, error: SerializedError, path: string): void {
    this.#onEnd(item)
    this.#answers.failItem(this.#pack, reason, error, path)
    this.goOn()
  }
}
