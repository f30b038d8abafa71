// Does what was decided. The only place where work leaves the queue. Off the road a task meets three side doors, all here:
// cancel, worker lost, close.

import { PoolClosedError, type PoolError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import type { ErrorClasses } from '../../shared/errors/serialize-error.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Timings } from '../metrics/timings.js'
import type { TaskQueue } from '../queue/task-queue.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Progress } from '../task/time-limits.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { Death } from '../workers/supervisor-listener.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import { Answers } from './answers.js'
import { Arrivals } from './arrivals.js'
import { Chooser } from './chooser.js'
import { Condemned } from './condemned.js'
import type { HandlerTable } from './handler-table.js'
import { LaneRoad } from './lane-road.js'
import type { LoadBalancer } from './load-balancer.js'
import { PortRoad } from './port-road.js'
import { Returns } from './returns.js'
import type { Road } from './road.js'
import { WaitingLine } from './waiting-line.js'

export interface DispatcherParts {
  clock: Clock
  supervisor: Supervisor
  settler: Settler
  timings: Timings | null
  /** `null` with `recordTiming: false`. */
  handlerMetrics: HandlerMetrics | null
  queue: TaskQueue
  loadBalancer: LoadBalancer | null
  handlers: HandlerTable
  errorClasses: ErrorClasses
  /** `null`: tasks go over the workers' ports. */
  lane: LaneTasks | null
  /** A task posted to a worker's port and not begun can be taken back. */
  canTakeBack: boolean
  slotsPerWorker: number
  /** How long the reading of large results may hold the event loop at a time. */
  /** Default: `DECODE_SLICE_MS`. */
  decodeSliceMs?: number | undefined
  /** How long the handler of a cancelled task gets to end by itself. */
  cancelGraceMs: number
  /** Called when no handler of a cancelled task runs any more. */
  onCondemnedGone: () => void
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
  /** Called with what a queue of the user's own threw where no caller could be told. */
  onQueueFailure: (failure: unknown) => void
}

export class Dispatcher {
  readonly handlers: HandlerTable
  readonly #clock: Clock
  readonly #supervisor: Supervisor
  readonly #settler: Settler
  readonly #onLeft: () => void
  readonly #line: WaitingLine
  readonly #road: Road
  readonly #returns: Returns
  readonly #condemned: Condemned
  readonly #handlerMetrics: HandlerMetrics | null
  readonly #arrivals: Arrivals
  /** Tasks that the user's code is asked about, which may look at the pool. */
  readonly #failed = new Set<Task>()
  readonly #canTakeBack: boolean
  readonly #slotsPerWorker: number
  #isPumping = false
  #pumpAgain = false
  /** The task that is placed without having stood in the line; a getter of its payload may close the pool. */
  #placing: Task | null = null

  constructor(parts: DispatcherParts) {
    const { clock, supervisor, settler, timings, handlerMetrics, handlers, lane } = parts
    this.#handlerMetrics = handlerMetrics
    this.handlers = handlers
    this.#clock = clock
    this.#supervisor = supervisor
    this.#settler = settler
    this.#onLeft = parts.onLeft
    this.#canTakeBack = parts.canTakeBack
    this.#slotsPerWorker = parts.slotsPerWorker
    this.#line = new WaitingLine(parts.queue, parts.onQueueFailure)
    const { policy } = supervisor
    this.#arrivals = new Arrivals({
      clock,
      settler,
      sliceMs: parts.decodeSliceMs,
      onRead: parts.onLeft,
    })
    const answers = new Answers({
      settler,
      arrivals: this.#arrivals,
      failed: this.#failed,
      timings,
      policy,
      handlers,
      errorClasses: parts.errorClasses,
      runAgain: task => this.#returns.runAgain(task),
    })
    const common = { clock, supervisor, settler, line: this.#line, answers, handlerMetrics }
    if (lane === null) {
      this.#road = new PortRoad({
        ...common,
        chooser: new Chooser(supervisor, parts.loadBalancer),
        canTakeBack: parts.canTakeBack,
      })
    } else {
      this.#road = new LaneRoad({
        ...common,
        tasks: lane,
        slotsPerWorker: parts.slotsPerWorker,
        onCollected: worker => this.#onAnswered(worker),
        onRoom: () => this.#onRoom(),
      })
    }
    this.#returns = new Returns(this.#road, this.#line, settler, this.#failed)
    this.#condemned = new Condemned({
      clock,
      supervisor,
      road: this.#road,
      graceMs: parts.cancelGraceMs,
      onNone: parts.onCondemnedGone,
    })
  }

  /** Tasks that no worker holds and that have no sure place with one. */
  get waiting(): number {
    return this.#line.size + this.#road.ahead
  }

  get queueSize(): number {
    return this.#road.queueSize
  }

  /** Tasks that a worker has, or has a sure place for. */
  get inFlight(): number {
    return this.#road.posted - this.#road.ahead
  }

  /** Every task once: also one that is between a worker and the next, or on its way to the first. */
  get counts(): { waiting: number; inFlight: number } {
    // One look: workers claim meanwhile.
    const { ahead, posted } = this.#road
    let inFlight = posted - ahead + this.arriving
    if (this.#placing?.state === 'queued') inFlight++
    for (const task of this.#failed) if (task.state === 'failed') inFlight++
    return { waiting: this.#line.size + ahead, inFlight }
  }

  /** Tasks whose large results are here, and being read. */
  get arriving(): number {
    return this.#arrivals.count
  }

  /** Slots that are taken; a task that runs alone takes all of its worker. */
  get occupied(): number {
    return this.#road.occupied
  }

  /** Slots of workers that are yet to start, and may not for now. */
  get outOfReach(): number {
    return this.#supervisor.missing * this.#slotsPerWorker
  }

  /** Takes in an accepted task. A task that the queue refuses is rejected with what the queue threw. */
  submit(task: Task): void {
    const othersWait = this.#line.size > 0
    if (!othersWait && !this.#isPumping && this.#placeAtOnce(task)) return
    try {
      this.#line.push(task)
    } catch (refusal) {
      this.#settler.reject(task, refusal)
      return
    }
    // Behind others there is nothing to do, unless a worker more may be started: what keeps them waiting keeps this one. By
    // other queues it may come before them.
    if (!othersWait || !this.#line.isFirstInFirstOut || this.#road.mayPassOthers) this.pump()
  }

  #placeAtOnce(task: Task): boolean {
    // What a getter of the payload's submits must not overtake it.
    this.#isPumping = true
    this.#placing = task
    try {
      if (!this.#road.placeAtOnce(task)) return false
    } finally {
      this.#isPumping = false
      this.#placing = null
    }
    if (this.#pumpAgain || this.#supervisor.workers.length === 0) this.pump()
    else this.#road.afterPlacing()
    return true
  }

  /** Takes out a task that waits, as if it had never come; false when a worker has begun it. */
  withdraw(task: Task): boolean {
    if (task.state === 'assigned') {
      if (!this.#road.takeBack(task)) return false
      moveTask(task, 'queued')
      return true
    }
    if (task.state !== 'queued') return false
    this.#line.remove(task)
    return true
  }

  /**
   * Places waiting tasks until none waits or none can be placed. True when it had to reject them because no worker is
   * alive and none is to be had.
   */
  pump(): boolean {
    if (this.#isPumping) {
      this.#pumpAgain = true
      return false
    }
    this.#isPumping = true
    try {
      do {
        this.#pumpAgain = false
        while (this.#road.placeNext());
      } while (this.#pumpAgain)
      this.#road.afterPlacing()
    } finally {
      this.#isPumping = false
    }
    if (this.#line.size > 0) this.#line.lookAway()
    return this.waiting > 0 && this.#rejectIfHopeless()
  }

  /** The pool is no more. */
  releaseQueue(): void {
    this.#line.release()
  }

  /** Some handler of a cancelled task runs on. */
  get hasCondemned(): boolean {
    return this.#condemned.isAny
  }

  progressOf(task: Task, now: number): Progress {
    if (task.state === 'arriving') return 'arriving'
    if (task.state === 'failed') return 'answered'
    return task.state === 'queued' ? 'waiting' : this.#road.progressOf(task, now)
  }

  /** The caller is answered at once. With `onlyWaiting` a task that a worker has begun is left alone. */
  cancel(task: Task, error: PoolError, onlyWaiting = false): void {
    if (task.state === 'arriving') return this.#cancelArriving(task, error, onlyWaiting)
    if (task.state === 'queued') {
      this.#line.remove(task)
      this.#settler.cancel(task, error)
    } else if (onlyWaiting && this.withdraw(task)) {
      this.#settler.cancel(task, error)
    } else if (onlyWaiting && !this.#waitsOutOfReach(task)) {
      return
    } else if (task.state === 'failed') {
      this.#settler.cancel(task, error)
    } else {
      const worker = this.#road.abandon(task)
      this.#settler.cancel(task, error)
      if (worker !== null) this.#condemned.add(worker, task, error)
    }
    // It may have been the last one that a worker stayed for.
    if (this.#supervisor.crew.hasLeaving) this.#supervisor.endThoseDone()
    // It may have been the one that the others waited behind.
    this.#onRoom()
  }

  /** A worker has it that has not begun it, and from which it cannot be taken back. */
  #waitsOutOfReach(task: Task): boolean {
    if (this.#canTakeBack || task.state !== 'assigned') return false
    const progress = this.progressOf(task, this.#clock.now())
    return progress === 'waiting' || typeof progress === 'object'
  }

  /** Its worker has long been free: nobody waits for what is left of it. */
  #cancelArriving(task: Task, error: PoolError, onlyWaiting: boolean): void {
    if (onlyWaiting) return
    this.#arrivals.drop(task)
    this.#settler.cancel(task, error)
    this.#onLeft()
  }

  /** The pool is at its end: results that are still being read are not read any further. */
  rejectArriving(error: PoolClosedError): void {
    this.#arrivals.cutOff(error)
  }

  /** The pool ends. */
  rejectWaiting(error: PoolClosedError): void {
    for (const task of this.#waitingTasks()) this.#settler.cutOff(task, error)
    this.#onLeft()
  }

  onSettled(task: Task): void {
    this.handlers.leave(task)
  }

  onReady(worker: WorkerHandle): void {
    this.#road.onReady(worker)
    this.#onRoom()
  }

  onMessage(worker: WorkerHandle, message: ToHost): void {
    if (message !== 'bell') {
      if (message.kind === 'alive') return this.#condemned.onAlive(worker)
      if (message.kind === 'measured') return this.#handlerMetrics?.onMeasured(message.handlers)
    }
    if (!this.#road.onMessage(worker, message)) return
    this.#onRoom()
    this.#onAnswered(worker)
  }

  #onAnswered(worker: WorkerHandle): void {
    if (this.#condemned.isAny) this.#condemned.review(worker)
    if (worker.isIdle) this.#supervisor.onIdle(worker)
  }

  onUnreadable(worker: WorkerHandle): void {
    this.#road.onUnreadable(worker)
  }

  onGivenUp(worker: WorkerHandle, error: PoolError): void {
    this.#condemned.forget(worker)
    this.#returns.fromLost(worker, error, error instanceof PoolClosedError)
    inMicrotask(() => this.#onRoom())
  }

  onLeaving(worker: WorkerHandle): void {
    this.#returns.fromLeaving(worker)
    inMicrotask(() => this.#onRoom())
  }

  /** The thread of a worker that was given up has ended: what it still had claimed is sure only now. */
  onGone(worker: WorkerHandle): void {
    // Of what it had not begun, and could not give back, some may have been cancelled since.
    this.#condemned.forget(worker)
    this.#returns.fromLost(worker, new WorkerExitError(worker.id, 1), true)
    this.#onRoom()
  }

  /** True when some caller was told of the death. */
  onLost(worker: WorkerHandle, death: Death): boolean {
    this.#condemned.forget(worker)
    const toldByDeath = this.#returns.fromLost(worker, death.error, true)
    const toldByPump = this.pump()
    this.#onLeft()
    return toldByDeath || toldByPump
  }

  onPauseOver(): void {
    this.#onRoom()
  }

  #onRoom(): void {
    this.pump()
    this.#onLeft()
  }

  /** Every task without a sure place with a worker, in order, taken out of where it waits. */
  *#waitingTasks(): Generator<Task> {
    for (const task of this.#road.recall(this.#road.ahead)) {
      moveTask(task, 'queued')
      yield task
    }
    if (this.#placing?.state === 'queued') yield this.#placing
    yield* this.#line.drain()
  }

  /** With no worker alive and none to be had for now, waiting would be for ever. */
  #rejectIfHopeless(): boolean {
    const { isHopeless, policy } = this.#supervisor
    if (!isHopeless || policy.lastError === null) return false
    const now = this.#clock.now()
    for (const task of this.#waitingTasks()) {
      this.#settler.reject(task, policy.refusal(task.createdAt, now))
    }
    this.#onLeft()
    return true
  }
}
