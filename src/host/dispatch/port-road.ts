// The road over the ports: each task is given to one worker and posted into one of its slots, owned by whoever exchanges the
// slot's word first. Nothing but this file, its collector and the worker's `port-intake` knows how such a task travels.

import {
  announcePost,
  areShared,
  begunAt,
  cancel,
  isAnswered,
  isClaimed,
  offer,
  takeBack,
  wasLoading,
} from '../../shared/channel/claims.js'
import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import {
  refusalCause,
  refuseDetached,
  UnsendableError,
  unsendablePath,
} from '../../shared/errors/uncloneable-path.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import { hasRoomFor } from '../scheduler/placement.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Progress } from '../task/time-limits.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { Answers } from './answers.js'
import type { Chooser } from './chooser.js'
import { PortCollector, slotsOf } from './port-collector.js'
import type { LeftTask, Road } from './road.js'
import type { WaitingLine } from './waiting-line.js'

export interface PortRoadParts {
  clock: Clock
  supervisor: Supervisor
  settler: Settler
  line: WaitingLine
  chooser: Chooser
  answers: Answers
  handlerMetrics: HandlerMetrics | null
  /** What was posted and not begun can be taken back: the words that tell are shared. */
  canTakeBack: boolean
}

export class PortRoad implements Road {
  readonly ahead = 0
  readonly #parts: PortRoadParts
  readonly #collector: PortCollector
  #posted = 0
  /** Tasks posted to workers that are not ready yet, in order. Any ready worker with room takes them over. */
  readonly #early = new Set<Task>()

  constructor(parts: PortRoadParts) {
    this.#parts = parts
    this.#collector = new PortCollector({ ...parts, release: task => this.#release(task) })
  }

  get posted(): number {
    return this.#posted
  }

  /** With those that are sure to waiting tasks, and those that nobody gets who comes behind these. */
  get occupied(): number {
    const { chooser, line, supervisor } = this.#parts
    let slots = line.size - this.queueSize
    const isBehind = slots > 0
    const isBehindEarly = this.#early.size > 0 && !chooser.isBalanced
    for (const worker of supervisor.workers) {
      if (isBehindEarly && worker.isReady && hasRoomFor(worker, false)) return Number.POSITIVE_INFINITY
      slots += worker.isExclusive || (isBehind && worker.isReady) ? worker.slots : worker.usage
    }
    return slots
  }

  get queueSize(): number {
    const { line } = this.#parts
    const { size } = line
    const sure = size === 0 || line.isBounded ? 0 : this.#freeStartingSlots()
    if (sure === 0 || !this.#nextWaitsForStart()) return size
    return Math.max(size - sure, 0)
  }

  /** Unless a balancer waits for something, a worker more may be started. */
  get mayPassOthers(): boolean {
    return !this.#parts.chooser.isBalanced && this.#parts.supervisor.maySpawn
  }

  placeAtOnce(): boolean {
    return false
  }

  placeNext(): boolean {
    return this.#takeOverEarly() || this.#place()
  }

  /** Where the next task must wait for a worker to start, those behind it get workers of their own meanwhile. */
  afterPlacing(): void {
    const { chooser, line, supervisor } = this.#parts
    if (line.size === 0) return
    if (this.#freeStartingSlots() === 0 || chooser.isBalanced || !this.#nextWaitsForStart()) return
    while (line.size > this.#freeStartingSlots() && supervisor.trySpawn() !== null);
  }

  /** The worker begins what it was given; what it ran until now was its start. */
  onReady(worker: WorkerHandle): void {
    for (const task of worker.tasks()) {
      this.#early.delete(task)
      task.assignedAt = this.#parts.clock.now()
    }
  }

  onMessage(worker: WorkerHandle, message: ToHost): boolean {
    return this.#collector.receive(worker, message)
  }

  onUnreadable(worker: WorkerHandle): void {
    this.#collector.onUnreadable(worker)
  }

  abandon(task: Task): WorkerHandle | null {
    const worker = task.holder as WorkerHandle
    if (this.takeBack(task)) {
      moveTask(task, 'queued')
      return null
    }
    cancel(slotsOf(worker).claims, task.slot, task.id)
    this.#early.delete(task)
    this.#posted--
    return worker
  }

  stillRuns(worker: WorkerHandle, task: Task): boolean {
    return slotsOf(worker).taskAt(task.slot, task.id) === task
  }

  isBehindOthers(worker: WorkerHandle, task: Task): boolean {
    const { claims } = slotsOf(worker)
    if (!areShared(claims) || isClaimed(claims, task.slot, task.id)) return false
    return worker.tasks().some(({ state, slot, id }) => state !== 'settled' && isClaimed(claims, slot, id))
  }

  hasOthers(worker: WorkerHandle): boolean {
    return worker.tasks().some(task => task.state !== 'settled')
  }

  progressOf(task: Task, now: number): Progress {
    const worker = task.holder as WorkerHandle
    const { claims } = slotsOf(worker)
    // Then all there is to know is when it was handed over.
    if (!areShared(claims)) return worker.isReady ? task.assignedAt! : 'waiting'
    if (isClaimed(claims, task.slot, task.id))
      return isAnswered(claims, task.slot) ? 'answered' : (begunAt(claims, task.slot, now) ?? 'held')
    return this.#parts.canTakeBack || !worker.isReady ? 'waiting' : { handedAt: task.assignedAt! }
  }

  takeBack(task: Task): boolean {
    const { claims } = slotsOf(task.holder as WorkerHandle)
    if (!this.#parts.canTakeBack || !takeBack(claims, task.slot, task.id)) return false
    this.#release(task)
    return true
  }

  /** What was answered and not received counts as begun. What cannot be taken back may be begun until the very end. */
  *leftBehind(worker: WorkerHandle, isSure: boolean): Generator<LeftTask> {
    const canTell = isSure || this.#parts.canTakeBack
    const { claims } = slotsOf(worker)
    for (const task of worker.tasks()) {
      if (!canTell && !worker.holding.hasBegun(task)) continue
      const isLoading = wasLoading(claims, task.slot)
      const isSettled = task.state === 'settled'
      const wasBegun = !takeBack(claims, task.slot, task.id)
      this.#release(task)
      if (!isSettled) yield { task, wasBegun, wasLoading: wasBegun && isLoading }
    }
  }

  *unbegun(worker: WorkerHandle): Generator<Task> {
    if (!this.#parts.canTakeBack) return
    const { claims } = slotsOf(worker)
    for (const task of worker.tasks()) {
      if (task.state === 'settled' || !task.canBePostedAgain || !takeBack(claims, task.slot, task.id))
        continue
      this.#release(task)
      yield task
    }
  }

  /** What was given to a worker stays with it. */
  recall(_most: number): Iterable<Task> {
    return []
  }

  /** Older tasks that wait for a worker to start come before younger ones in the line. */
  #takeOverEarly(): boolean {
    const { chooser } = this.#parts
    const task = chooser.isBalanced ? null : this.#oldestEarly
    if (task === null) return false
    const worker = chooser.chooseReady(task)
    if (worker === null) return false
    this.#early.delete(task)
    if (takeBack(slotsOf(task.holder as WorkerHandle).claims, task.slot, task.id)) {
      this.#release(task)
      this.#give(worker, task)
    }
    return true
  }

  #place(): boolean {
    const { chooser, line, settler } = this.#parts
    if (line.size === 0 || !chooser.isWorthAsking) return false
    const task = line.peek()
    if (task === null) return false
    let worker: WorkerHandle | null
    try {
      worker = chooser.choose(task, this.#posted)
    } catch (failure) {
      if (task.state !== 'queued') return true
      line.take(task)
      settler.reject(task, failure)
      return true
    }
    // A balancer is the user's code: it may have cancelled the task, or closed the pool.
    if (task.state !== 'queued') return true
    // What is posted to a worker still starting must stay here too, since another may be ready first.
    if (worker === null || !(worker.isReady || this.#mayPostEarly(task))) return false
    // A task that needs a worker to itself may wait in one that starts; younger ones wait behind it.
    if (worker.isReady && !chooser.isBalanced && this.#oldestEarly !== null) return false
    line.take(task)
    moveTask(task, 'assigned')
    this.#give(worker, task)
    return true
  }

  #give(worker: WorkerHandle, task: Task): void {
    try {
      this.#post(worker, task)
    } catch (failure) {
      const path =
        failure instanceof UnsendableError ? failure.path : unsendablePath(task.payload, task.transferList)
      // A getter may have cancelled it meanwhile.
      const cause = refusalCause(failure, task.payload, task.transferList)
      if (task.state !== 'settled') this.#parts.settler.reject(task, new NotCloneableError(path, cause))
    }
  }

  /** Throws what the channel throws; then the worker holds nothing. */
  #post(worker: WorkerHandle, task: Task): void {
    const slots = slotsOf(worker)
    slots.assign(task)
    task.holder = worker
    this.#posted++
    task.assignedAt = this.#parts.clock.now()
    task.ordinal = ++worker.posted
    offer(slots.claims, task.slot, task.id)
    const handler = worker.knows(task.handlerId) ? null : { filename: task.filename, name: task.name }
    const { id: taskId, slot, handlerId, payload, transferList } = task
    try {
      refuseDetached(transferList)
      const { clock, handlerMetrics } = this.#parts
      const from = handlerMetrics?.isDue() ? clock.now() : 0
      worker.link!.post({ kind: 'run', taskId, slot, handlerId, handler, payload }, transferList)
      if (from > 0) handlerMetrics!.onPosted(clock.now() - from)
    } catch (failure) {
      worker.posted--
      if (task.holder === worker) this.#release(task)
      throw failure
    }
    announcePost(slots.claims, worker.posted)
    if (!worker.isReady && task.holder === worker) this.#early.add(task)
  }

  /** Frees the task's slot; what is to become of the task is the caller's. */
  #release(task: Task): void {
    const worker = task.holder as WorkerHandle
    this.#early.delete(task)
    // A task that was cancelled while its worker had it kept only its slot.
    if (task.state !== 'settled') this.#posted--
    task.holder = null
    slotsOf(worker).release(task)
    if (worker.isIdle) worker.idleSince = this.#parts.clock.now()
  }

  /** The first of the tasks that wait in a worker still starting. */
  get #oldestEarly(): Task | null {
    for (const task of this.#early) return task
    return null
  }

  #nextWaitsForStart(): boolean {
    const { line } = this.#parts
    const next = line.peek()
    line.lookAway()
    return next !== null && !this.#mayPostEarly(next)
  }

  /** To a worker still starting: the first one that is ready must be able to take it over. */
  #mayPostEarly(task: Task): boolean {
    return this.#parts.canTakeBack && task.canBePostedAgain
  }

  #freeStartingSlots(): number {
    let free = 0
    for (const worker of this.#parts.supervisor.workers) {
      if (worker.state === 'spawning' && hasRoomFor(worker, false)) free += worker.slots - worker.usage
    }
    return free
  }
}
