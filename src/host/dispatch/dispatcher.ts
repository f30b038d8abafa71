// Does what was decided. The only place where work leaves the queue. Off the road a task meets three side doors, all here:
// cancel, worker lost, close.
import type { Clock } from '../../shared/base/clock.js'
import { findUncloneable } from '../../shared/errors/clone-path.js'
import {
  NotCloneableError,
  PoolClosedError,
  type PoolError,
  TaskCancelledError,
  WorkerExitError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import type { ToHost } from '../../shared/protocol/messages.js'
import type { Timings } from '../observe/timings.js'
import type { TaskQueue } from '../queue/task-queue.js'
import { hasRoomFor } from '../scheduler/placement.js'
import type { Death, Supervisor } from '../supervisor/supervisor.js'
import type { WorkerHandle } from '../supervisor/worker-handle.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import { Answers } from './answers.js'
import { Chooser, type LoadBalancer } from './chooser.js'
import { HandlerTable } from './handler-table.js'
import { PortRoad } from './port-road.js'
import { WaitingLine } from './waiting-line.js'

/** A task whose workers die before they begin it is given up after so many. */
const MOST_RETURNS = 5

export interface DispatcherParts {
  clock: Clock
  supervisor: Supervisor
  settler: Settler
  timings: Timings | null
  queue: TaskQueue
  loadBalancer: LoadBalancer | null
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
  /** Called with what a queue of the user's own threw where no caller could be told. */
  onQueueFailure: (failure: unknown) => void
}

export class Dispatcher {
  readonly handlers = new HandlerTable()
  readonly #supervisor: Supervisor
  readonly #settler: Settler
  readonly #onLeft: () => void
  readonly #line: WaitingLine
  readonly #road: PortRoad
  readonly #chooser: Chooser
  readonly #answers: Answers
  #isPumping = false
  #pumpAgain = false

  constructor(parts: DispatcherParts) {
    const { clock, supervisor, settler, timings } = parts
    this.#supervisor = supervisor
    this.#settler = settler
    this.#onLeft = parts.onLeft
    this.#line = new WaitingLine(parts.queue, parts.onQueueFailure)
    this.#road = new PortRoad(clock)
    this.#chooser = new Chooser(supervisor, parts.loadBalancer)
    const { policy } = supervisor
    this.#answers = new Answers({
      clock,
      settler,
      timings,
      policy,
      road: this.#road,
      handlers: this.handlers,
    })
  }

  /** Tasks that no worker holds. */
  get waiting(): number {
    return this.#line.size
  }

  /** Of these, the tasks without a place that is sure as soon as a worker has started: what `maxQueue` counts. */
  get queueSize(): number {
    const { size } = this.#line
    const sure = size === 0 || this.#line.isBounded ? 0 : this.#freeStartingSlots()
    if (sure === 0 || !this.#nextWaitsForStart()) return size
    return Math.max(size - sure, 0)
  }

  get inFlight(): number {
    return this.#road.inFlight
  }

  /** Slots that are taken; a task that runs alone takes all of its worker. */
  get occupied(): number {
    let slots = 0
    for (const worker of this.#supervisor.workers) slots += worker.isExclusive ? worker.slots : worker.usage
    return slots
  }

  /** Takes in an accepted task. A task that the queue refuses is rejected with what the queue threw. */
  submit(task: Task): void {
    const othersWait = this.#line.size > 0
    try {
      this.#line.push(task)
    } catch (refusal) {
      this.#settler.reject(task, refusal)
      return
    }
    // Behind others there is nothing to do, unless a worker more may be started: what keeps them waiting keeps this one.
    if (!othersWait || (!this.#chooser.isBalanced && this.#supervisor.maySpawn)) this.pump()
  }

  /** Takes out a task that waits, as if it had never come. */
  withdraw(task: Task): void {
    this.#line.remove(task)
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
        while (this.#takeOverEarly() || this.#placeNext());
      } while (this.#pumpAgain)
    } finally {
      this.#isPumping = false
    }
    if (this.#line.size === 0) return false
    this.#startForWaiting()
    this.#line.lookAway()
    return this.#rejectIfHopeless()
  }

  cancel(task: Task, reason: unknown): void {
    const error = new TaskCancelledError(reason)
    if (task.state === 'queued') {
      this.#line.remove(task)
      this.#settler.cancel(task, error)
    } else {
      const worker = task.holder as WorkerHandle
      const wasBegun = !this.#road.takeBack(task)
      if (wasBegun) moveTask(task, 'running')
      this.#settler.cancel(task, error)
      if (wasBegun) void this.#supervisor.giveUp(worker)
    }
    // It may have been the one that the others waited behind.
    this.pump()
    this.#onLeft()
  }

  rejectWaiting(error: PoolError): number {
    let count = 0
    for (const task of this.#line.drain()) {
      this.#settler.reject(task, error)
      count++
    }
    this.#onLeft()
    return count
  }

  onReady(worker: WorkerHandle): void {
    this.#road.onReady(worker)
    this.pump()
    this.#onLeft()
  }

  onMessage(worker: WorkerHandle, message: ToHost): void {
    if (!this.#answers.receive(worker, message)) return
    this.pump()
    this.#onLeft()
    if (worker.isIdle) this.#supervisor.onIdle(worker)
  }

  onUnreadable(worker: WorkerHandle): void {
    this.#answers.onUnreadable(worker)
  }

  onGivenUp(worker: WorkerHandle, error: PoolError): void {
    this.#giveBackTasks(worker, error)
    queueMicrotask(() => {
      this.pump()
      this.#onLeft()
    })
  }

  /** True when some caller was told of the death. */
  onLost(worker: WorkerHandle, death: Death): boolean {
    const toldByDeath = this.#giveBackTasks(worker, death.error)
    const toldByPump = this.pump()
    this.#onLeft()
    return toldByDeath || toldByPump
  }

  /** Older tasks that wait for a worker to start come before younger ones in the line. */
  #takeOverEarly(): boolean {
    const task = this.#chooser.isBalanced ? null : this.#road.oldestEarly
    if (task === null) return false
    const worker = this.#chooser.chooseReady(task)
    if (worker === null) return false
    if (this.#road.takeOver(task)) this.#give(worker, task)
    return true
  }

  /** True when the next task has left the line, one way or another. */
  #placeNext(): boolean {
    if (this.#line.size === 0 || !this.#chooser.isWorthAsking) return false
    const task = this.#line.peek()
    if (task === null) return false
    let worker: WorkerHandle | null
    try {
      worker = this.#chooser.choose(task, this.#road.inFlight)
    } catch (failure) {
      if (task.state !== 'queued') return true
      this.#line.take(task)
      this.#settler.reject(task, failure)
      return true
    }
    // A balancer is the user's code: it may have cancelled the task, or closed the pool.
    if (task.state !== 'queued') return true
    if (worker === null || !this.#road.canTravel(task, worker)) return false
    // A task that needs a worker to itself may wait in one that starts; younger ones wait behind it.
    if (worker.isReady && !this.#chooser.isBalanced && this.#road.oldestEarly !== null) return false
    this.#line.take(task)
    moveTask(task, 'assigned')
    this.#give(worker, task)
    return true
  }

  #give(worker: WorkerHandle, task: Task): void {
    try {
      this.#road.give(worker, task)
    } catch (failure) {
      const path = task.canBePostedAgain ? findUncloneable(task.payload, 'payload') : 'payload'
      this.#settler.reject(task, new NotCloneableError(path, failure))
    }
  }

  /** Where the next task must wait for a worker to start, those behind it get workers of their own meanwhile. */
  #startForWaiting(): void {
    if (this.#freeStartingSlots() === 0 || this.#chooser.isBalanced || !this.#nextWaitsForStart()) return
    while (this.#line.size > this.#freeStartingSlots() && this.#supervisor.trySpawn() !== null);
  }

  #nextWaitsForStart(): boolean {
    const next = this.#line.peek()
    this.#line.lookAway()
    return next !== null && !next.canBePostedAgain
  }

  #freeStartingSlots(): number {
    let free = 0
    for (const worker of this.#supervisor.workers) {
      if (worker.state === 'spawning' && hasRoomFor(worker, false)) free += worker.slots - worker.usage
    }
    return free
  }

  /** The worker is gone: what it had begun fails with `error`, what it had not goes back to where it stood. */
  #giveBackTasks(worker: WorkerHandle, error: unknown): boolean {
    let wasTold = false
    for (const task of worker.tasks()) {
      const { wasBegun, wasLoading } = this.#road.progressOf(task)
      if (!wasBegun && task.canBePostedAgain && ++task.returns <= MOST_RETURNS) {
        moveTask(task, 'queued')
        this.#line.putBack(task)
        continue
      }
      wasTold = true
      if (wasBegun) moveTask(task, 'running')
      this.#settler.reject(task, this.#endOf(worker, task, error, wasBegun, wasLoading))
    }
    return wasTold
  }

  #endOf(worker: WorkerHandle, task: Task, error: unknown, wasBegun: boolean, wasLoading: boolean): unknown {
    if (error instanceof PoolClosedError) return error
    if (!wasBegun)
      return new WorkerExitError(worker.id, error instanceof WorkerExitError ? error.exitCode : 1, error)
    return wasLoading ? new WorkerStartError(worker.id, task, 'load', error) : error
  }

  /** With no worker alive and none to be had for now, waiting would be for ever. */
  #rejectIfHopeless(): boolean {
    const { workers, maySpawn, policy } = this.#supervisor
    if (workers.length > 0 || maySpawn || policy.lastError === null) return false
    for (const task of this.#line.drain()) this.#settler.reject(task, restate(policy.lastError))
    this.#onLeft()
    return true
  }
}

/** The same error for another caller: each gets one of his own. */
function restate(error: PoolError): PoolError {
  if (!(error instanceof WorkerStartError)) return error
  return new WorkerStartError(
    error.workerId,
    { filename: error.filename, name: error.handlerName },
    error.stage,
    error.cause,
  )
}
