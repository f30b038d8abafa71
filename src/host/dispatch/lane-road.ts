// The road through the lane: tasks are posted into shared memory, whoever is free pulls them, and answers come back through
// each worker's ring. What the lane cannot carry is posted there all the same, as a ticket whose payload travels by the
// port of whoever claims it: so all tasks start in one order.

import type { Encoder } from '../../shared/codec/encoder.js'
import { HostBell } from '../../shared/lane/doorbell.js'
import { LARGEST_VALUE_BYTES } from '../../shared/lane/layout.js'
import { PayloadRoom } from '../../shared/lane/payload-room.js'
import { ALONE, BY_PORT, IS_INT, NAMED, TIMED } from '../../shared/lane/task-lane.js'
import { encoderFor, isInt } from '../../shared/lane/values.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import { choosePlacement } from '../scheduler/placement.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Progress } from '../task/time-limits.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { Answers } from './answers.js'
import { deskOf, LaneCollector } from './lane-collector.js'
import { LaneLoad } from './lane-load.js'
import { LanePayloads } from './lane-payloads.js'
import { LaneRetrieval } from './lane-retrieval.js'
import { Lookout } from './lookout.js'
import type { LeftTask, Road } from './road.js'
import { Sleepers } from './sleepers.js'
import { soleTaker } from './sole-taker.js'
import type { WaitingLine } from './waiting-line.js'

export interface LaneRoadParts {
  clock: Clock
  supervisor: Supervisor
  settler: Settler
  line: WaitingLine
  answers: Answers
  tasks: LaneTasks
  handlerMetrics: HandlerMetrics | null
  slotsPerWorker: number
  /** Called when answers were taken in from a worker. */
  onCollected: (worker: WorkerHandle) => void
  /** Called when all answers there were have been taken in. */
  onRoom: () => void
}

export class LaneRoad implements Road {
  readonly #parts: LaneRoadParts
  readonly #tasks: LaneTasks
  readonly #room: PayloadRoom
  readonly #encoder: Encoder
  readonly #lookout: Lookout
  readonly #collector: LaneCollector
  readonly #load: LaneLoad
  readonly #payloads: LanePayloads
  readonly #retrieval: LaneRetrieval
  readonly #sleepers: Sleepers

  constructor(parts: LaneRoadParts) {
    const { tasks, settler } = parts
    const { layout, lane } = tasks
    const { crew } = parts.supervisor
    this.#parts = parts
    this.#tasks = tasks
    this.#room = new PayloadRoom(layout.payloads, lane)
    this.#encoder = encoderFor(layout)
    this.#load = new LaneLoad(parts.tasks, crew, parts.slotsPerWorker)
    this.#sleepers = new Sleepers({ ...parts, crew, load: this.#load })
    const { runTimes } = this.#sleepers
    this.#collector = new LaneCollector({ ...parts, runTimes, onFree: task => this.#load.remove(task) })
    this.#payloads = new LanePayloads(tasks, settler, this.#collector)
    this.#retrieval = new LaneRetrieval(tasks, this.#load, this.#payloads, crew)
    this.#lookout = new Lookout({
      clock: parts.clock,
      bell: new HostBell(layout),
      mayPoll: () => crew.mayPoll,
      collect: () => this.#collector.collect(),
      hasAnswers: () => this.#collector.hasAnswers,
      isWaiting: () => this.#load.size > 0,
      backlogMs: () => (lane.unclaimed * this.#collector.lastRunMs) / (this.#load.slots || 1),
    })
  }

  get posted(): number {
    return this.#load.size
  }

  get ahead(): number {
    return this.#load.ahead
  }

  get occupied(): number {
    return this.#load.occupied
  }

  get queueSize(): number {
    return this.#parts.line.size + this.#load.ahead
  }

  get mayPassOthers(): boolean {
    return this.#parts.supervisor.maySpawn
  }

  placeAtOnce(task: Task): boolean {
    return this.#parts.line.isFirstInFirstOut && this.#tasks.lane.hasRoom && this.#place(task)
  }

  placeNext(): boolean {
    const { line } = this.#parts
    if (this.#load.early.size > 0) this.#recallForReady()
    if (line.size === 0 || !this.#tasks.lane.hasRoom) return false
    // Where a better one may still come before it, a task stays in the line until there is a place for it.
    const isSure = line.isFirstInFirstOut
    if (!isSure && this.#load.freeSlots <= 0) return false
    const task = line.peek()
    if (task === null || !(isSure || this.#load.hasPlaceFor(task)) || !this.#place(task)) return false
    line.take(task)
    return true
  }

  afterPlacing(): void {
    const { supervisor, line } = this.#parts
    while (supervisor.maySpawn && line.size + this.#load.ahead > 0 && supervisor.trySpawn() !== null) {
      // What had to wait in the line for a place has one now.
      while (this.placeNext());
    }
    this.#sleepers.wake()
  }

  onReady(worker: WorkerHandle): void {
    worker.idleSince = this.#parts.clock.now()
    this.#load.onReady(this.#tasks.assignedTo(worker.id))
  }

  onMessage(worker: WorkerHandle, message: ToHost): boolean {
    const mayHaveRoom = this.#receive(worker, message)
    if (worker.isIdle) worker.idleSince = this.#parts.clock.now()
    return mayHaveRoom
  }

  #receive(worker: WorkerHandle, message: ToHost): boolean {
    if (message === 'bell') {
      this.#lookout.onBell()
      return true
    }
    switch (message.kind) {
      case 'send':
        this.#onClaimed(worker, message.slot, message.taskId)
        return false
      case 'done':
      case 'failed':
        this.#collector.receive(worker, message)
        return true
      case 'unreadable':
        return this.#onUnreadablePayload(worker, message.ordinal)
      case 'over':
        return this.#onOver(worker, message.slot, message.taskId)
      default:
        return false
    }
  }

  onUnreadable(worker: WorkerHandle): void {
    this.#collector.onUnreadable(worker)
  }

  abandon(task: Task): WorkerHandle | null {
    return this.#retrieval.abandon(task)
  }

  stillRuns({ id }: WorkerHandle, task: Task): boolean {
    const { tickets } = this.#tasks
    return this.#tasks.at(task.slot, task.id) === task && tickets.isCondemned(task.slot, id)
  }

  /** What a worker has not begun is taken back. */
  isBehindOthers(): boolean {
    return false
  }

  hasOthers({ id }: WorkerHandle): boolean {
    return this.#tasks.assignedTo(id).some(task => task.state !== 'settled')
  }

  progressOf(task: Task, now: number): Progress {
    const { tickets } = this.#tasks
    switch (tickets.phaseOf(task.slot)) {
      case 'loading':
      case 'begun':
        return tickets.begunAt(task.slot, now) ?? 'held'
      case 'answered':
        return 'answered'
      default:
        return 'waiting'
    }
  }

  takeBack(task: Task): boolean {
    return this.#retrieval.takeBack(task)
  }

  leftBehind(worker: WorkerHandle, isSure: boolean): Iterable<LeftTask> {
    if (isSure) this.#lookout.onWorkerGone()
    // What it has answered is answered.
    this.#collector.collectFrom(worker, Number.POSITIVE_INFINITY)
    return this.#retrieval.leftBehind(worker, isSure)
  }

  unbegun(worker: WorkerHandle): Iterable<Task> {
    return this.#retrieval.unbegun(worker)
  }

  recall(most: number): Iterable<Task> {
    return this.#retrieval.recall(most)
  }

  /**
   * A worker that is ready must not wait behind what is meant for one still starting: all is placed anew, what is meant for
   * workers that are ready before the rest.
   */
  #recallForReady(): void {
    const { line, supervisor } = this.#parts
    const { early } = this.#load
    const offers = this.#tasks.unclaimed()
    const [first] = offers
    if (first === undefined || !early.has(first)) return
    const ready = supervisor.workers.filter(worker => worker.isReady)
    if (choosePlacement(first.isExclusive, ready) === null) return
    const addressed = offers.filter(task => this.#tasks.lane.addresseeOf(task.slot) !== 0)
    const own = new Set(addressed.filter(task => !early.has(task)))
    const recalled = [...this.recall(Number.POSITIVE_INFINITY)]
    for (const task of recalled) moveTask(task, 'queued')
    for (const task of [...recalled].reverse()) if (!own.has(task)) line.putBack(task)
    for (const task of recalled) if (own.has(task) && !this.#place(task)) line.putBack(task)
  }

  /** False when there is no room for it now; else it is posted, or has been settled. */
  #place(task: Task): boolean {
    const { clock, handlerMetrics } = this.#parts
    if (handlerMetrics === null || !handlerMetrics.isDue()) return this.#handOver(task)
    const from = clock.now()
    const isPlaced = this.#handOver(task)
    if (isPlaced) handlerMetrics.onPosted(clock.now() - from)
    return isPlaced
  }

  #handOver(task: Task): boolean {
    const flags =
      (task.isExclusive && this.#parts.slotsPerWorker > 1 ? ALONE : 0) | (task.timeLimit === null ? 0 : TIMED)
    if (!task.canBePostedAgain) return this.#placeByPort(task, flags)
    const { payload, handlerId } = task
    const isKnown = this.#collector.isAnnounced(handlerId)
    if (isKnown && isInt(payload)) {
      this.#post(task, flags | IS_INT, 0, 0, payload)
      return true
    }
    const from = this.#room.reserve()
    if (from < 0) return false
    const value = isKnown ? payload : [task.filename, task.name, payload]
    const to = this.#encoder.encode(value, from, from + LARGEST_VALUE_BYTES)
    // A getter is the user's code: it may have cancelled the task, or closed the pool.
    if (task.state !== 'queued') return true
    if (to < 0) return this.#placeByPort(task, flags)
    this.#post(task, isKnown ? flags : flags | NAMED, from, to, 0)
    this.#room.take(task.slot, this.#tasks.lane.positionOf(task.slot), to)
    return true
  }

  /** The payload goes along at once where it is clear who can claim the ticket. */
  #placeByPort(task: Task, flags: number): boolean {
    const worker = this.#mayBeCertain ? soleTaker(task, this.#tasks, this.#parts.supervisor) : null
    if (worker !== null && !this.#payloads.sendAhead(worker, task)) return true
    this.#post(task, flags | BY_PORT, 0, 0, 0, worker?.id)
    if (worker === null) return true
    // It may have looked, and gone to sleep, between its payload and the ticket; nobody else can take this one.
    if (!worker.isReady) this.#load.early.add(task)
    else if (deskOf(worker).bell.ring()) worker.link!.post('bell')
    return true
  }

  #post(task: Task, flags: number, from: number, to: number, int: number, addressee = 0): void {
    const { id: taskId, handlerId } = task
    moveTask(task, 'assigned')
    if (addressee === 0) task.ordinal = 0
    this.#tasks.post(task, { taskId, handlerId, flags, from, to, int, addressee })
    this.#load.add(task)
    this.#sleepers.onPosted(task)
    this.#lookout.expect(task.createdAt)
  }

  /** With more on offer than all workers may hold, some of it is for whoever comes first. */
  get #mayBeCertain(): boolean {
    return this.#tasks.lane.unclaimed <= this.#parts.supervisor.workers.length * this.#parts.slotsPerWorker
  }

  /** The worker has claimed a ticket whose payload was not sent along. */
  #onClaimed(worker: WorkerHandle, ticket: number, taskId: number): void {
    const unsendable = this.#payloads.onClaimed(worker, ticket, taskId)
    if (unsendable === null) return
    if (this.#tasks.at(ticket, taskId) === unsendable) this.takeBack(unsendable)
    this.#parts.onRoom()
  }

  #onUnreadablePayload(worker: WorkerHandle, ordinal: number): boolean {
    const task = this.#tasks.assignedTo(worker.id).find(held => held.ordinal === ordinal)
    if (task === undefined || !this.takeBack(task)) return false
    this.#collector.failUnreadable(worker, task, 'payload')
    return true
  }

  /** The handler of a cancelled task has ended. */
  #onOver(worker: WorkerHandle, ticket: number, taskId: number): boolean {
    const task = this.#tasks.at(ticket, taskId)
    if (task === null) return false
    worker.answers++
    this.#retrieval.releaseSettled(task)
    return true
  }
}
