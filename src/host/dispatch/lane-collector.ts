// Takes in what workers answer, from their rings and from their ports, and hands it on to the callers.

import type { LargeMessage } from '../../shared/codec/format.js'
import type { SerializedError } from '../../shared/errors/serialize-error.js'
import { FAILURE, INT_VALUE, type ResultReader } from '../../shared/lane/result-ring.js'
import type { FailureReason, ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Task } from '../task/task.js'
import type { LaneDesk } from '../workers/lane-desk.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { Answers } from './answers.js'
import type { RunTimes } from './run-times.js'

type PortAnswer = Extract<ToHost, { kind: 'done' | 'failed' }>
type PortResult = Extract<ToHost, { kind: 'done' }>

/** So many answers are taken in before the event loop turns. */
const MOST_AT_ONCE = 512
/** Handlers that tasks may name by number. */
const MOST_ANNOUNCED = 1024

export interface LaneCollectorParts {
  clock: Clock
  supervisor: Supervisor
  answers: Answers
  tasks: LaneTasks
  handlerMetrics: HandlerMetrics | null
  runTimes: RunTimes
  /** Called for each task that is answered, before its caller is. */
  onFree: (task: Task) => void
  /** Called when answers were taken in from a worker. */
  onCollected: (worker: WorkerHandle) => void
  /** Called when all answers there were have been taken in. */
  onRoom: () => void
}

export class LaneCollector {
  readonly #parts: LaneCollectorParts
  readonly #tasks: LaneTasks
  readonly #announced = new Set<number>()
  /** When the answers at hand were taken in. */
  #now = 0
  /** How long the task ran whose answer came last. */
  lastRunMs = 0

  constructor(parts: LaneCollectorParts) {
    this.#parts = parts
    this.#tasks = parts.tasks
    for (const { handlerId } of parts.tasks.handlers) this.#announced.add(handlerId)
  }

  /** Every worker knows the handler by its number. */
  isAnnounced(handlerId: number): boolean {
    return this.#announced.has(handlerId)
  }

  get hasAnswers(): boolean {
    return this.#parts.supervisor.workers.some(worker => !deskOf(worker).ring.isEmpty)
  }

  /** An answer that came over the port. */
  receive(worker: WorkerHandle, message: PortAnswer): void {
    deskOf(worker).portAnswers++
    this.#now = this.#parts.clock.now()
    const task = this.#takeAnswered(message.slot, message.taskId)
    if (task === null) return
    this.#parts.runTimes.note(task.handlerId, message.runMs!)
    this.#noteStart(task, message.startedAt!)
    if (message.kind === 'done') this.#take(worker, task, message)
    else this.#parts.answers.fail(worker, task, message, message.runMs!)
  }

  #take(worker: WorkerHandle, task: Task, { result, runMs, isLong }: PortResult): void {
    if (isLong !== true) return this.#fulfil(worker, task, result, runMs!)
    this.#noteKnown(task)
    this.#parts.answers.arrive(worker, task, result as LargeMessage, deskOf(worker).decoder.shapes, runMs!)
  }

  /** An answer sent over the port: its number says whose it was. */
  onUnreadable(worker: WorkerHandle): void {
    const ordinal = ++deskOf(worker).portAnswers
    const { tickets } = this.#tasks
    for (const task of worker.tasks()) {
      if (tickets.phaseOf(task.slot) !== 'answered' || tickets.ordinalOf(task.slot) !== ordinal) continue
      const answered = this.#takeAnswered(task.slot, task.id)
      if (answered !== null) this.failUnreadable(worker, answered, 'result')
      this.#parts.onCollected(worker)
      return this.#parts.onRoom()
    }
  }

  /** One side could not read what the other had sent. */
  failUnreadable(worker: WorkerHandle, task: Task, what: 'payload' | 'result'): void {
    this.#noteStart(task, this.#now)
    this.#parts.answers.failUnreadable(worker, task, what, 0)
  }

  /** Takes in answers, not too many at once; true when there were any. */
  collect(): boolean {
    let left = MOST_AT_ONCE
    for (const worker of [...this.#parts.supervisor.workers]) left -= this.collectFrom(worker, left)
    if (left === MOST_AT_ONCE) return false
    this.#parts.onRoom()
    return true
  }

  /** Takes in the answers of one worker; tells how many there were. */
  collectFrom(worker: WorkerHandle, most: number): number {
    const { ring } = deskOf(worker)
    if (ring.isEmpty) return 0
    this.#now = this.#parts.clock.now()
    let count = 0
    for (; count < most && ring.next(); count++) {
      const task = this.#takeAnswered(ring.ticket, ring.taskId)
      if (task !== null) this.#takeIn(worker, task, ring)
    }
    ring.free()
    this.lastRunMs = ring.runMs
    if (worker.isIdle) worker.idleSince = this.#now
    this.#parts.onCollected(worker)
    return count
  }

  #takeIn(worker: WorkerHandle, task: Task, ring: ResultReader): void {
    const { clock, runTimes, handlerMetrics } = this.#parts
    runTimes.note(task.handlerId, ring.runMs)
    if (handlerMetrics === null || !handlerMetrics.isDue()) return this.#answer(worker, task, ring)
    const from = clock.now()
    this.#answer(worker, task, ring)
    handlerMetrics.onAnswered(clock.now() - from)
  }

  #answer(worker: WorkerHandle, task: Task, ring: ResultReader): void {
    const { kind, runMs } = ring
    this.#noteStart(task, ring.startedAt)
    if (kind === INT_VALUE) return this.#fulfil(worker, task, ring.value, runMs)
    let value: unknown
    try {
      value = deskOf(worker).decoder.decode(ring.valueFrom, ring.valueFrom + ring.value)
    } catch {
      return this.#parts.answers.failUnreadable(worker, task, 'result', runMs)
    }
    if (kind !== FAILURE) return this.#fulfil(worker, task, value, runMs)
    const [reason, error, path] = value as [FailureReason, SerializedError, string]
    this.#parts.answers.fail(worker, task, { reason, error, path }, runMs)
  }

  #fulfil(worker: WorkerHandle, task: Task, result: unknown, runMs: number): void {
    this.#noteKnown(task)
    this.#parts.answers.fulfil(worker, task, result, runMs)
  }

  #noteKnown(task: Task): void {
    if (!this.#announced.has(task.handlerId)) this.#announce(task)
  }

  /** As the worker says: what its answer then waited for this thread is no time that the task waited for a worker. */
  #noteStart(task: Task, startedAt: number): void {
    task.assignedAt = Math.max(startedAt, task.createdAt)
  }

  /** The handler has proved to be one: from now on its number will do. */
  #announce({ handlerId, filename, name }: Task): void {
    const { handlers } = this.#tasks
    if (handlers.length >= MOST_ANNOUNCED) return
    const known = { handlerId, handler: { filename, name } }
    handlers.push(known)
    this.#announced.add(handlerId)
    for (const worker of this.#parts.supervisor.workers) worker.link!.post({ kind: 'known', ...known })
  }

  /** The task with the ticket, which is free again; `null` when nobody waits for its answer any more. */
  #takeAnswered(ticket: number, taskId: number): Task | null {
    const task = this.#tasks.at(ticket, taskId)
    if (task === null) return null
    this.#tasks.release(task)
    if (task.state === 'settled') return null
    this.#parts.onFree(task)
    return task
  }
}

export function deskOf(worker: WorkerHandle): LaneDesk {
  return worker.holding as LaneDesk
}
