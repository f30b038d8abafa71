// The way of a task into the pool and out of it: the pool accepts the call or refuses it, counts the task, and forgets it when it
// has settled.
import type { TaskMessage } from '../../api/channels.js'
import { carriedStores } from '../../shared/context/carried.js'
import {
  InvalidTaskError,
  PoolClosedError,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
} from '../../shared/errors/pool-errors.js'
import { AsyncContext } from '../../shared/platform/async-context.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { HandlerRegistry } from '../lane/handler-registry.js'
import type { Lender } from '../lane/lent-slots.js'
import type { Payloads } from '../lane/payloads.js'
import type { Slots } from '../lane/slots.js'
import type { HandlerTasks } from '../metrics/handler-tasks.js'
import type { Outcome, TaskMetrics } from '../metrics/task-metrics.js'
import type { CoreSettings } from '../options/settings.js'
import type { Pump } from '../scheduler/pump.js'
import type { Call, CallTerms } from '../task/call.js'
import type { CancelTriggers } from '../task/cancel-triggers.js'
import type { Settler } from '../task/settle.js'
import { nextTaskId, Task } from '../task/task.js'
import type { TracedTasks } from '../task/traced-tasks.js'
import type { BackPressure } from './back-pressure.js'
import type { KeepAlive } from './keep-alive.js'
import type { PoolLife } from './pool-life.js'
import { slotsOf } from './stats.js'

export interface AdmissionParts {
  settings: CoreSettings
  clock: Clock
  life: PoolLife
  taskMetrics: TaskMetrics
  handlerTasks: HandlerTasks
  keepAlive: KeepAlive
  backPressure: BackPressure
  handlers: HandlerRegistry
  payloads: Payloads
  slots: Slots
  pump: Pump
  cancelTriggers: CancelTriggers
  settler: Settler
  traced: TracedTasks
  /** An error that no caller receives. */
  onError: (error: unknown) => void
}

export class Admission {
  readonly #parts: AdmissionParts
  /** A function of the program may be asked about each task later. */
  readonly #isAsked: boolean
  #lastTaskId = 0

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#isAsked = parts.settings.loadBalancer !== undefined
  }

  /** Throws the error with which the pool refuses a call with these terms. */
  check({ signal, limits, key, isSerial }: CallTerms): void {
    const { clock, life, slots } = this.#parts
    if (life.state !== 'open') throw new PoolClosedError('closed')
    if (signal?.aborted) throw new TaskCancelledError(signal.reason)
    if (limits !== null && limits.deadline <= clock.epochNow()) throw new TaskTimeoutError('deadline', 0)
    if (isSerial && slots.lent.current?.waitsWithKey(key!) === true)
      throw new InvalidTaskError(
        'key',
        `The option 'key' ('${key}'): a function of a task with this key submits a task with the same key. Both would wait for each other. Use another key, or submit the task after the first one has ended.`,
      )
  }

  /** Throws `QueueFullError`. */
  accept(call: Call, settle: (answer: unknown) => void): Task {
    const { settings, backPressure, taskMetrics, handlerTasks, pump, settler, slots } = this.#parts
    const { limit } = backPressure
    // Without a limit, this check needs no count. Counting takes longer than a short task.
    const waiting = limit === Number.POSITIVE_INFINITY ? 0 : backPressure.waiting
    const mustStartNow = limit !== Number.POSITIVE_INFINITY && waiting >= limit
    if (
      mustStartNow &&
      !pump.lending.mayBorrow(slots.lent.current) &&
      (slots.startable > 0 || slots.inFlight - slots.lent.count >= slotsOf(settings))
    ) {
      throw this.#refused(call, new QueueFullError(limit))
    }
    const task = this.enter(call, settle)
    const isStillWaiting = task.state === 'queued' || task.state === 'assigned'
    if (mustStartNow && isStillWaiting && backPressure.waiting > waiting && pump.withdraw(task)) {
      settler.reject(task, new QueueFullError(limit))
      taskMetrics.onRefused()
      handlerTasks.of(task.handlerId, task.terms.handler).onRefused()
    }
    backPressure.onAccepted()
    return task
  }

  /** Publishes the events of a call that finds the queue full. */
  #refused(call: Call, error: QueueFullError): QueueFullError {
    const { traced, clock } = this.#parts
    if (!traced.hasSubscribers) return error
    this.#lastTaskId = nextTaskId(this.#lastTaskId)
    const refuse = (message: TaskMessage) => traced.onRefused(message, error)
    traced.start(this.#lastTaskId, call.terms.handler, clock.now(), this.#queueSize, refuse)
    return error
  }

  /** Counts the task, and gives it to the scheduler. Throws `NotCloneableError` for a carried store. */
  enter(call: Call, settle: (answer: unknown) => void): Task {
    const taskId = nextTaskId(this.#lastTaskId)
    this.#lastTaskId = taskId
    if (!this.#parts.traced.hasSubscribers && carriedStores.size === 0)
      return this.#enter(taskId, call, settle, null)
    const { context } = call.terms
    if (context === undefined) return this.#enterObserved(taskId, call, settle)
    return context.run(() => this.#enterObserved(taskId, call, settle))
  }

  /** Runs in the async context of the caller. */
  #enterObserved(taskId: number, call: Call, settle: (answer: unknown) => void): Task {
    const { traced, clock, payloads } = this.#parts
    if (!traced.hasSubscribers) return this.#enter(taskId, payloads.carry(call, undefined), settle, null)
    return traced.start(taskId, call.terms.handler, clock.now(), this.#queueSize, message => {
      let task: Task
      try {
        task = this.#enter(taskId, payloads.carry(call, message), settle, message)
      } catch (error) {
        traced.onRefused(message, error)
        throw error
      }
      traced.onAccepted(message)
      return task
    })
  }

  /** How many accepted tasks have no slot. Asking the lane for an exact number takes longer than a short task. */
  get #queueSize(): number {
    const { settings, taskMetrics } = this.#parts
    return Math.max(taskMetrics.pending - slotsOf(settings), 0)
  }

  #enter(taskId: number, call: Call, settle: (answer: unknown) => void, message: TaskMessage | null): Task {
    const { clock, taskMetrics, keepAlive, handlers, cancelTriggers, pump, slots } = this.#parts
    const handlerId = handlers.numberOf(call.terms.handler)
    const terms = this.#forFunctions(call.terms)
    const own = terms === call.terms ? call : { ...call, terms }
    const task = new Task(taskId, own, handlerId, message?.createdAt ?? clock.now(), settle)
    task.traced = message
    taskMetrics.onAccepted()
    if (taskMetrics.pending === 1) keepAlive.onBusy()
    slots.lent.adopt(task)
    try {
      cancelTriggers.watch(task)
      // A custom signal may abort as soon as a listener is added.
      if (task.state === 'queued') pump.submit(task)
    } catch (failure) {
      if (task.state !== 'queued') throw failure
      // A custom signal threw when the listener was added.
      inMicrotask(() => this.#takeBack(task, failure))
    }
    return task
  }

  /** The terms of a call whose tasks come later, with the async context of its caller, where somebody asks for it. */
  inContext(terms: CallTerms): CallTerms {
    const isObserved = this.#parts.traced.hasSubscribers || carriedStores.size > 0
    return isObserved ? withContext(terms) : this.#forFunctions(terms)
  }

  /** Remembers the caller's async context where a function of the program is asked about the task later. */
  #forFunctions(terms: CallTerms): CallTerms {
    return this.#isAsked || (terms.retry?.when ?? null) !== null ? withContext(terms) : terms
  }

  /** Rejects a task that the pool has already counted. */
  #takeBack(task: Task, failure: unknown): void {
    const { backPressure, pump, settler } = this.#parts
    if (task.state === 'queued' && pump.withdraw(task)) settler.reject(task, failure)
    backPressure.onLeft()
  }

  room(signal: AbortSignal | null): Promise<void> {
    const { backPressure, slots } = this.#parts
    const lender = slots.lent.current
    return backPressure.room(signal, lender === null ? null : () => this.#promiseSlot(lender))
  }

  /**
   * True when the next task that a function of the waiting task submits in this turn gets its slot. The slot is promised to one caller
   * at a time.
   */
  #promiseSlot(lender: Lender): boolean {
    const { backPressure, clock, pump } = this.#parts
    if (lender.isPromised || !pump.lending.mayBorrow(lender)) return false
    lender.isPromised = true
    clock.nextTurn(() => {
      lender.isPromised = false
      backPressure.onLeft()
    })
    return true
  }

  onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void {
    const { cancelTriggers, taskMetrics, handlerTasks, keepAlive, life, payloads, slots, onError } =
      this.#parts
    try {
      cancelTriggers.release(task)
    } catch (failure) {
      // A custom signal threw when the listener was removed.
      onError(failure)
    }
    payloads.onSettled(task)
    taskMetrics.onSettled(outcome, wasAssigned)
    handlerTasks.of(task.handlerId, task.terms.handler).onSettled(outcome)
    slots.lent.onSettled(task)
    if (taskMetrics.pending > 0) return
    const { end } = life
    if (end === null) keepAlive.onIdle()
    else inMicrotask(() => end.finishIfIdle())
  }
}

function withContext(terms: CallTerms): CallTerms {
  return terms.context === undefined ? { ...terms, context: new AsyncContext('lido.call') } : terms
}
