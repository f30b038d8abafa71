// Does what was decided. The only place where work leaves the queue, and the only place that knows how a task reaches a
// worker: today by its channel. Off the road a task meets three side doors, all here: cancel, worker lost, close.
import type { Clock } from '../../shared/base/clock.js'
import { unreachable } from '../../shared/base/invariant.js'
import { offer, takeBack } from '../../shared/channel/claims.js'
import { findUncloneable } from '../../shared/errors/clone-path.js'
import {
  NotCloneableError,
  PoolClosedError,
  type PoolError,
  TaskCancelledError,
  WorkerExitError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import { unpack } from '../../shared/errors/remote-error.js'
import type { ToHost } from '../../shared/protocol/messages.js'
import type { Timings } from '../observe/timings.js'
import type { TaskQueue } from '../queue/task-queue.js'
import { choosePlacement, hasRoomFor } from '../scheduler/placement.js'
import type { Death, Supervisor } from '../supervisor/supervisor.js'
import type { WorkerHandle, WorkerView } from '../supervisor/worker-handle.js'
import type { Settler } from '../task/settle.js'
import type { QueuedTask, Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import { HandlerTable } from './handler-table.js'
import { WaitingLine } from './waiting-line.js'

export type LoadBalancer = (task: QueuedTask, workers: WorkerView[]) => WorkerView | null | undefined

type FailedMessage = Extract<ToHost, { kind: 'failed' }>

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
}

export class Dispatcher {
  readonly handlers = new HandlerTable()
  readonly #parts: DispatcherParts
  readonly #line: WaitingLine
  #inFlight = 0
  /** Tasks given to workers that are not ready yet, in order. Any ready worker with room takes them over. */
  readonly #early = new Set<Task>()
  #isPumping = false
  #pumpAgain = false

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#line = new WaitingLine(parts.queue)
  }

  get waiting(): number {
    return this.#line.size
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Takes in an accepted task. A task that the queue refuses is rejected with what the queue threw. */
  submit(task: Task): void {
    const othersWait = this.#line.size > 0
    try {
      this.#line.push(task)
    } catch (refusal) {
      this.#parts.settler.reject(task, refusal)
      return
    }
    // Behind others there is nothing to do: what keeps them waiting keeps this one.
    if (!othersWait) this.pump()
  }

  /** Takes out a task that waits, as if it had never come. */
  withdraw(task: Task): void {
    this.#line.remove(task)
  }

  /** Places waiting tasks until none waits or none can be placed. True when it had to reject those for which it is hopeless. */
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
    return this.#line.size > 0 && this.#rejectIfHopeless()
  }

  cancel(task: Task, reason: unknown): void {
    const error = new TaskCancelledError(reason)
    if (task.state === 'queued') {
      this.#line.remove(task)
      this.#parts.settler.cancel(task, error)
      // It may have been the one that the others waited behind.
      this.pump()
      this.#parts.onLeft()
      return
    }
    const worker = task.holder as WorkerHandle
    const wasBegun = !this.#takeBack(worker, task)
    this.#release(worker, task)
    if (wasBegun) moveTask(task, 'running')
    this.#parts.settler.cancel(task, error)
    if (wasBegun) void this.#parts.supervisor.giveUp(worker)
    this.pump()
    this.#parts.onLeft()
  }

  rejectWaiting(error: PoolError): number {
    let count = 0
    for (const task of this.#line.drain()) {
      this.#parts.settler.reject(task, error)
      count++
    }
    this.#parts.onLeft()
    return count
  }

  onReady(worker: WorkerHandle): void {
    for (const task of worker.tasks()) {
      this.#early.delete(task)
      if (task.ordinal === 0) this.#post(worker, task)
      else task.assignedAt = this.#parts.clock.now()
    }
    this.pump()
    this.#parts.onLeft()
  }

  onMessage(worker: WorkerHandle, message: ToHost): void {
    switch (message.kind) {
      case 'done': {
        const task = worker.taskAt(message.slot, message.taskId)
        if (task === null) return
        this.#onAnswered(worker, task)
        worker.learn(task.handlerId)
        this.#parts.settler.fulfil(task, message.result)
        return this.#afterAnswer(worker)
      }
      case 'failed': {
        const task = worker.taskAt(message.slot, message.taskId)
        if (task === null) return
        this.#onAnswered(worker, task)
        this.#onFailed(worker, task, message)
        return this.#afterAnswer(worker)
      }
      case 'unreadable':
        return this.#onUnreadablePayload(worker, message.ordinal)
      case 'holding':
        return this.#onHolding(worker, message.taskIds)
      case 'ready':
      case 'startFailed':
        return
      default:
        return unreachable(message)
    }
  }

  /** An answer that cannot be read: the worker says what it still holds, so what it does not is what was answered. */
  onUnreadable(worker: WorkerHandle): void {
    worker.link!.post({ kind: 'audit' })
  }

  onGivenUp(worker: WorkerHandle, error: PoolError): void {
    this.#giveBackTasks(worker, error)
    this.#pumpSoon()
  }

  /** True when some caller was told of the death. */
  onLost(worker: WorkerHandle, death: Death): boolean {
    const toldByDeath = this.#giveBackTasks(worker, death.error)
    const toldByPump = this.pump()
    this.#parts.onLeft()
    return toldByDeath || toldByPump
  }

  /** Older tasks that wait for a worker to start come before younger ones in the queue. */
  #takeOverEarly(): boolean {
    if (this.#early.size === 0 || this.#parts.loadBalancer !== null) return false
    const [task] = this.#early as Set<Task> & [Task]
    const ready = this.#parts.supervisor.workers.filter(worker => worker.isReady)
    const worker = choosePlacement(task.isExclusive, ready)
    if (worker === null) return false
    const starting = task.holder as WorkerHandle
    this.#early.delete(task)
    if (!this.#takeBack(starting, task)) return true
    this.#release(starting, task)
    this.#give(worker, task)
    return true
  }

  #placeNext(): boolean {
    if (this.#line.size === 0 || !this.#hasPlaceForAny()) return false
    const task = this.#line.peek()
    if (task === null) return false
    const worker = this.#chooseWorker(task)
    // A balancer is the user's code: it may have cancelled the task, or closed the pool.
    if (worker === null || task.state !== 'queued') return task.state === 'settled'
    this.#line.take(task)
    moveTask(task, 'assigned')
    this.#give(worker, task)
    return true
  }

  /** A balancer is asked in any case: it may count in its own way. */
  #hasPlaceForAny(): boolean {
    const { supervisor, loadBalancer } = this.#parts
    if (loadBalancer !== null) return true
    for (const worker of supervisor.workers) if (hasRoomFor(worker, false)) return true
    return supervisor.maySpawn
  }

  #chooseWorker(task: Task): WorkerHandle | null {
    const { supervisor, loadBalancer, settler } = this.#parts
    if (loadBalancer === null)
      return choosePlacement(task.isExclusive, supervisor.workers) ?? supervisor.trySpawn()
    try {
      return this.#chooseByBalancer(loadBalancer, task)
    } catch (failure) {
      if (task.state === 'queued') {
        this.#line.take(task)
        settler.reject(task, failure)
      }
      return null
    }
  }

  #chooseByBalancer(loadBalancer: LoadBalancer, task: Task): WorkerHandle | null {
    const { supervisor } = this.#parts
    const chosen = this.#askBalancer(loadBalancer, task)
    if (chosen !== null || task.state !== 'queued') return chosen
    if (supervisor.trySpawn() !== null) return this.#askBalancer(loadBalancer, task)
    // A balancer may let a task wait for something to happen. Where nothing will, it is asked for nothing.
    const somethingWillHappen = this.#inFlight > 0 || supervisor.startingCount > 0
    return somethingWillHappen ? null : choosePlacement(task.isExclusive, supervisor.workers)
  }

  #askBalancer(loadBalancer: LoadBalancer, task: Task): WorkerHandle | null {
    const { workers } = this.#parts.supervisor
    if (workers.length === 0) return null
    const view = loadBalancer(
      task,
      workers.map(worker => worker.view),
    )
    const chosen = workers.find(worker => worker.view === view)
    return chosen !== undefined && hasRoomFor(chosen, task.isExclusive) ? chosen : null
  }

  #give(worker: WorkerHandle, task: Task): void {
    worker.assign(task)
    this.#inFlight++
    if (!worker.isReady) this.#early.add(task)
    if (worker.isReady || task.canBePostedAgain) this.#post(worker, task)
    else offer(worker.claims, task.slot, task.id)
  }

  #post(worker: WorkerHandle, task: Task): void {
    task.assignedAt = this.#parts.clock.now()
    task.ordinal = ++worker.posted
    offer(worker.claims, task.slot, task.id)
    const handler = worker.knows(task.handlerId) ? null : { filename: task.filename, name: task.name }
    const { id: taskId, slot, handlerId, payload, transferList } = task
    try {
      worker.link!.post({ kind: 'run', taskId, slot, handlerId, handler, payload }, transferList)
    } catch (failure) {
      worker.posted--
      this.#release(worker, task)
      const path = task.canBePostedAgain ? findUncloneable(payload, 'payload') : 'payload'
      this.#parts.settler.reject(task, new NotCloneableError(path, failure))
    }
  }

  #onAnswered(worker: WorkerHandle, task: Task): void {
    worker.answers++
    this.#parts.supervisor.policy.onWorkDone()
    this.#recordTimes(worker, task)
    this.#release(worker, task)
  }

  #afterAnswer(worker: WorkerHandle): void {
    this.pump()
    this.#parts.onLeft()
    if (worker.isIdle) this.#parts.supervisor.onIdle()
  }

  #recordTimes(worker: WorkerHandle, task: Task): void {
    const { timings, clock } = this.#parts
    if (timings === null && worker.histogram === null) return
    const runMs = clock.now() - task.assignedAt
    timings?.record(task.assignedAt - task.createdAt, runMs)
    worker.histogram?.record(runMs)
  }

  #onFailed(worker: WorkerHandle, task: Task, { reason, error: packed, path }: FailedMessage): void {
    const { settler } = this.#parts
    const error = unpack(packed)
    switch (reason) {
      case 'thrown':
        worker.learn(task.handlerId)
        return settler.reject(task, error)
      case 'result':
        worker.learn(task.handlerId)
        return settler.reject(task, new NotCloneableError(path, error))
      case 'load':
      case 'missing': {
        this.handlers.forget(task)
        const stage = reason === 'load' ? 'load' : 'handler'
        return settler.reject(task, new WorkerStartError(worker.id, task, stage, error))
      }
      default:
        return unreachable(reason)
    }
  }

  #onUnreadablePayload(worker: WorkerHandle, ordinal: number): void {
    const task = worker.tasks().find(held => held.ordinal === ordinal)
    if (task === undefined) return
    const cause = new RangeError('The worker could not read it; it may be nested too deeply.')
    this.#onAnswered(worker, task)
    this.#parts.settler.reject(task, new NotCloneableError('payload', cause))
    this.#afterAnswer(worker)
  }

  #onHolding(worker: WorkerHandle, taskIds: number[]): void {
    const stillRunning = new Set(taskIds)
    const cause = new RangeError('It could not be read here; it may be nested too deeply.')
    for (const task of worker.tasks()) {
      if (stillRunning.has(task.id) || !worker.hasBegun(task)) continue
      this.#onAnswered(worker, task)
      this.#parts.settler.reject(task, new NotCloneableError('result', cause))
    }
    this.#afterAnswer(worker)
  }

  /** The worker is gone: what it had begun fails with `error`, what it had not goes back to where it stood. */
  #giveBackTasks(worker: WorkerHandle, error: unknown): boolean {
    const { settler } = this.#parts
    let wasTold = false
    for (const task of worker.tasks()) {
      const wasBegun = !this.#takeBack(worker, task)
      const isGone = task.ordinal > 0 && !task.canBePostedAgain
      this.#release(worker, task)
      if (wasBegun) {
        moveTask(task, 'running')
        settler.reject(task, error)
        wasTold = true
      } else if (isGone || ++task.returns > MOST_RETURNS) {
        const isClosed = error instanceof PoolClosedError
        settler.reject(task, isClosed ? error : new WorkerExitError(worker.id, 1, error))
        wasTold = true
      } else {
        moveTask(task, 'queued')
        this.#line.putBack(task)
      }
    }
    return wasTold
  }

  /** True when the worker had not begun the task and never will. */
  #takeBack(worker: WorkerHandle, task: Task): boolean {
    return takeBack(worker.claims, task.slot, task.id)
  }

  #release(worker: WorkerHandle, task: Task): void {
    this.#early.delete(task)
    this.#inFlight--
    worker.release(task, this.#parts.clock.now())
  }

  /** With no worker alive and none to be had for now, waiting would be for ever. */
  #rejectIfHopeless(): boolean {
    const { supervisor, settler } = this.#parts
    if (supervisor.workers.length > 0 || supervisor.maySpawn) return false
    const { lastError } = supervisor.policy
    if (lastError === null) return false
    for (const task of this.#line.drain()) settler.reject(task, restate(lastError))
    this.#parts.onLeft()
    return true
  }

  #pumpSoon(): void {
    queueMicrotask(() => {
      this.pump()
      this.#parts.onLeft()
    })
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
