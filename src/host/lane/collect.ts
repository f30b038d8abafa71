// Collects the answers of workers from their result rings and their messages, and passes them to `Answers`.
import { CorruptMessageError, type LargeMessage } from '../../shared/codec/format.js'
import { isObject, type SerializedError } from '../../shared/errors/serialize-error.js'
import { FAILURE, INT_VALUE, type ResultReader } from '../../shared/lane/result-ring.js'
import type { FailureReason, ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { ItemsListener } from '../task/call.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { Answers, Failure } from './answers.js'
import type { HandlerRegistry } from './handler-registry.js'
import type { PostedTasks } from './posted-tasks.js'
import type { WorkerWaker } from './wake-workers.js'

type AnswerMessage = Extract<ToHost, { kind: 'done' | 'failed' }>

const failureReasons: ReadonlySet<FailureReason> = new Set(['thrown', 'load', 'missing', 'result'])

/** The host collects at most this many answers in one turn of the event loop. */
const MAX_AT_ONCE = 512

export interface CollectorParts {
  clock: Clock
  group: WorkerGroup
  answers: Answers
  posted: PostedTasks
  handlers: HandlerRegistry
  waker: WorkerWaker | null
  handlerMetrics: HandlerMetrics | null
  /** Called after answers of a worker were collected. */
  onAnswered: (worker: Worker) => void
  /** Called after all present answers were collected, up to a limit. */
  onCollected: () => void
}

export class Collector {
  readonly #parts: CollectorParts
  readonly #posted: PostedTasks
  /** The time of the last collection. */
  #now = 0
  /** Workers that were asked for a list of their tasks. True: another message could not be read since then. */
  readonly #asked = new WeakMap<Worker, boolean>()
  /** The run time of the last collected task. */
  lastRunMs = 0

  constructor(parts: CollectorParts) {
    this.#parts = parts
    this.#posted = parts.posted
  }

  get hasAnswers(): boolean {
    return this.#parts.group.workers.some(worker => worker.tasks.hasResults)
  }

  /** Takes an answer that came by message. */
  receive(worker: Worker, message: AnswerMessage): void {
    this.#now = this.#parts.clock.now()
    const posted = this.#posted.at(message.ticket, message.taskId)
    // The answers of earlier items may be in the ring.
    if (posted?.terms.handler.call === 'pack') this.collectFrom(worker, Number.POSITIVE_INFINITY)
    if (message.isItem === true) return this.#receiveItem(worker, message)
    const task = this.#takeAnswered(worker, message.ticket, message.taskId)
    if (task === null) return
    const { runMs, startedAt } = message
    this.#noteRun(task, startedAt, runMs)
    if (message.kind === 'failed') this.#parts.answers.fail(worker, task, message, runMs)
    else if (message.isLong !== true) this.#fulfil(worker, task, message.result, runMs)
    else {
      this.#registerHandler(task)
      const { shapes } = worker.tasks.decoder!
      this.#parts.answers.fulfilLarge(worker, task, message.result as LargeMessage, shapes, runMs)
    }
  }

  #receiveItem(worker: Worker, message: AnswerMessage): void {
    const items = this.#itemsOf(worker, message.ticket, message.taskId)
    if (message.kind === 'failed') items?.onItemFailed(message)
    else items?.onItem(message.result)
  }

  /** `null` when no caller waits for the items of the pack. */
  #itemsOf(worker: Worker, ticket: number, taskId: number): ItemsListener | null {
    const task = this.#posted.at(ticket, taskId)
    if (task === null || task.state === 'settled') return null
    return task.addressee > 0 && task.addressee !== worker.id ? null : (task.terms.items ?? null)
  }

  #collectItem(worker: Worker, ring: ResultReader): void {
    const items = this.#itemsOf(worker, ring.ticket, ring.taskId)
    if (items === null) return
    if (ring.kind === INT_VALUE) return items.onItem(ring.value)
    let value: unknown
    let failure: Failure | null = null
    try {
      value = worker.tasks.decoder!.decode(ring.valueFrom, ring.valueFrom + ring.value)
      if (ring.kind === FAILURE) failure = failureIn(value)
    } catch (problem) {
      if (problem instanceof CorruptMessageError) return void ring.refuse('a value that is not a message')
      return items.onItemUnreadable()
    }
    if (failure === null) items.onItem(value)
    else items.onItemFailed(failure)
  }

  /** The handler of a cancelled task has ended. False when the task is no longer posted. */
  onTaskEnded(worker: Worker, ticket: number, taskId: number): boolean {
    const task = this.#posted.at(ticket, taskId)
    if (task === null) return false
    worker.answers++
    this.#posted.removeKept(task)
    return true
  }

  /** A message to or from the worker could not be read. The host asks the worker which tasks it still has. */
  onUnreadable(worker: Worker): void {
    const isAsked = this.#asked.has(worker)
    this.#asked.set(worker, isAsked)
    // The list does not cover tasks that the host sent after its request. So the host sends one request at a time.
    if (!isAsked) this.#askForTasks(worker)
  }

  #askForTasks(worker: Worker): void {
    const { posted } = this.#parts
    for (const task of posted.heldBy(worker.id)) {
      // The worker got a claimed task without a message. Such a task can only be lost in the message of its answer.
      const wasSent = task.addressee === worker.id || posted.tickets.phaseOf(task.ticket) === 'answered'
      if (wasSent) posted.suspects.set(task, worker.id)
    }
    worker.link.post({ kind: 'list-tasks' })
  }

  /**
   * The worker's list comes after its earlier answers. If a suspected task has no answer and is not on the list, it was
   * in the message that could not be read.
   */
  onTaskList(worker: Worker, taskIds: readonly number[]): void {
    const { answers, clock, posted } = this.#parts
    this.collectFrom(worker, Number.POSITIVE_INFINITY)
    if (worker.tasks.damage !== null) return
    for (const [task, workerId] of posted.suspects) {
      if (workerId !== worker.id) continue
      posted.suspects.delete(task)
      if (taskIds.includes(task.id)) continue
      const part = posted.tickets.phaseOf(task.ticket) === 'addressed' ? 'payload' : 'result'
      if (this.#takeAnswered(worker, task.ticket, task.id) === null) continue
      this.#noteRun(task, clock.now(), 0)
      answers.failUnreadable(worker, task, part, 0)
    }
    const mustAskAgain = this.#asked.get(worker) === true
    this.#asked.delete(worker)
    if (mustAskAgain) this.onUnreadable(worker)
  }

  /** Collects answers of all workers, up to a limit. Returns true when there were answers. */
  collect(): boolean {
    let left = MAX_AT_ONCE
    for (const worker of [...this.#parts.group.workers]) left -= this.collectFrom(worker, left)
    if (left === MAX_AT_ONCE) return false
    this.#parts.onCollected()
    return true
  }

  /** Collects at most `limit` answers of one worker. Returns the number of answers. */
  collectFrom(worker: Worker, limit: number): number {
    const { ring } = worker.tasks
    if (ring === null || ring.isEmpty) return 0
    this.#now = this.#parts.clock.now()
    let count = 0
    for (; count < limit && ring.next(); count++) {
      if (ring.isItem) {
        this.#collectItem(worker, ring)
        continue
      }
      const task = this.#findAnswered(worker, ring.ticket, ring.taskId)
      if (task !== null) this.#collectOne(worker, task, ring)
    }
    ring.free()
    if (ring.damage !== null) {
      this.#onDamaged(worker)
      return count
    }
    this.lastRunMs = ring.runMs
    if (worker.isIdle) worker.idleSince = this.#now
    this.#parts.onAnswered(worker)
    return count
  }

  /** The host reads nothing more from the ring, so it kills the worker. The worker's tasks fail or run again. */
  #onDamaged(worker: Worker): void {
    const error = worker.tasks.damage!
    const hasTasks = worker.tasks.list().length > 0
    void worker.kill('damage', error)
    if (!hasTasks) this.#parts.group.events.onError(error)
  }

  #collectOne(worker: Worker, task: Task, ring: ResultReader): void {
    const { clock, handlerMetrics } = this.#parts
    if (handlerMetrics === null || !handlerMetrics.isDue()) return this.#answer(worker, task, ring)
    const from = clock.now()
    this.#answer(worker, task, ring)
    handlerMetrics.onAnswered(clock.now() - from)
  }

  /** Removes the task when its answer was read. A task with a damaged answer stays with its worker. */
  #answer(worker: Worker, task: Task, ring: ResultReader): void {
    const { kind, runMs, startedAt } = ring
    let value: unknown = ring.value
    let failure: Failure | null = null
    let isUnreadable = false
    try {
      if (kind !== INT_VALUE)
        value = worker.tasks.decoder!.decode(ring.valueFrom, ring.valueFrom + ring.value)
      if (kind === FAILURE) failure = failureIn(value)
    } catch (problem) {
      if (problem instanceof CorruptMessageError) return void ring.refuse('a value that is not a message')
      isUnreadable = true
    }
    this.#posted.remove(task)
    this.#noteRun(task, startedAt, runMs)
    if (isUnreadable) this.#parts.answers.failUnreadable(worker, task, 'result', runMs)
    else if (failure !== null) this.#parts.answers.fail(worker, task, failure, runMs)
    else this.#fulfil(worker, task, value, runMs)
  }

  #fulfil(worker: Worker, task: Task, result: unknown, runMs: number): void {
    this.#registerHandler(task)
    this.#parts.answers.fulfil(worker, task, result, runMs)
  }

  /**
   * Uses the start time from the worker. The time that an answer waits for a busy host is not queue time of the task.
   */
  #noteRun(task: Task, startedAt: number, runMs: number): void {
    this.#parts.waker?.runTimes.note(task.handlerId, runMs)
    task.assignedAt = Math.max(startedAt, task.createdAt)
    task.terms.items?.onRun(runMs)
  }

  /** The first result proves that the handler exists. From now on tasks name the handler by its number. */
  #registerHandler({ handlerId, terms }: Task): void {
    const { group, handlers } = this.#parts
    if (handlers.isKnown(handlerId)) return
    const known = { handlerId, handler: terms.handler }
    if (!handlers.add(known)) return
    for (const worker of group.workers) worker.link.post({ kind: 'register-handler', ...known })
  }

  /** Frees the ticket and returns its task; `null` when no caller waits for the answer. */
  #takeAnswered(worker: Worker, ticket: number, taskId: number): Task | null {
    const task = this.#findAnswered(worker, ticket, taskId)
    if (task !== null) this.#posted.remove(task)
    return task
  }

  /** Returns `null` when no caller waits for the answer. Then it frees the ticket. */
  #findAnswered(worker: Worker, ticket: number, taskId: number): Task | null {
    const task = this.#posted.at(ticket, taskId)
    if (task === null) return null
    // The host gave up the first worker and has sent the task to another one since.
    if (task.addressee > 0 && task.addressee !== worker.id) return null
    if (task.state !== 'settled') return task
    this.#posted.removeKept(task)
    return null
  }
}

/** The parts of a failure. Throws `CorruptMessageError` for a value that is no failure. */
function failureIn(value: unknown): Failure {
  const [reason, error, path] = (Array.isArray(value) ? value : []) as [
    FailureReason,
    SerializedError,
    string,
  ]
  if (!failureReasons.has(reason) || !isObject(error) || typeof path !== 'string')
    throw new CorruptMessageError('it is no failure')
  return { reason, error, path }
}
