// Moves tasks from the queue to the workers. `pump()` is the only place where a task leaves the queue. Besides the usual way of a
// task there are three others: it is cancelled, its worker ends, or the pool closes.
import { PoolClosedError, type PoolError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Collector } from '../lane/collect.js'
import type { LargeResults } from '../lane/large-results.js'
import type { ResultPoller } from '../lane/poll-results.js'
import type { Poster } from '../lane/post.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Recall } from '../lane/recall.js'
import type { WorkerWaker } from '../lane/wake-workers.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Progress } from '../task/time-limits.js'
import type { Death, TaskListener, Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { RunningCancelled } from './cancellation.js'
import { chooseWorker, type LoadBalancer } from './load-balancer.js'
import type { PendingTasks } from './pending-tasks.js'
import { choosePlacement, hasRoomFor } from './placement.js'
import type { Requeue } from './requeue.js'

export interface SchedulerParts {
  clock: Clock
  group: WorkerGroup
  settler: Settler
  handlerMetrics: HandlerMetrics | null
  pending: PendingTasks
  posted: PostedTasks
  poster: Poster
  collector: Collector
  recall: Recall
  requeue: Requeue
  largeResults: LargeResults
  cancelled: RunningCancelled
  /** `null`: all tasks are sent by message. */
  waker: WorkerWaker | null
  poller: ResultPoller | null
  loadBalancer: LoadBalancer | null
  slotsPerWorker: number
  /** False for processes: a sent task may have started although the host has not heard of it. */
  canTakeBack: boolean
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
}

/** A task whose payload must travel by message, before a worker is chosen. */
const BY_MESSAGE = -1

export class Scheduler implements TaskListener {
  readonly #parts: SchedulerParts
  readonly #clock: Clock
  readonly #group: WorkerGroup
  readonly #settler: Settler
  readonly #pending: PendingTasks
  readonly #posted: PostedTasks
  readonly #recall: Recall
  readonly #requeue: Requeue
  #isPumping = false
  #mustPumpAgain = false
  /** The task that is posted without having been in the queue. A getter of its payload may close the pool. */
  #posting: Task | null = null

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#clock = parts.clock
    this.#group = parts.group
    this.#settler = parts.settler
    this.#pending = parts.pending
    this.#posted = parts.posted
    this.#recall = parts.recall
    this.#requeue = parts.requeue
  }

  // Figures.

  /** Slots of all workers that accept tasks, starting ones included, and slots that leaving workers still use. */
  get #slots(): number {
    const { acceptingWorkers, hasLeaving, workers } = this.#group
    let slots = acceptingWorkers * this.#parts.slotsPerWorker
    if (!hasLeaving) return slots
    for (const worker of workers) {
      if (worker.isLeaving) slots += this.#posted.weightOf(this.#posted.heldBy(worker.id))
    }
    return slots
  }

  /** Posted tasks for which no worker has a free slot. */
  get #ahead(): number {
    return this.#posted.waitingFor(this.#slots)
  }

  /**
   * Free slots of workers that are starting, for queued tasks that cannot be sent before the worker is ready: as many are sure to
   * get one. Other tasks are sent to starting workers at once, so a task that is still queued has no slot there.
   */
  get #startingSlots(): number {
    const { canTakeBack, slotsPerWorker } = this.#parts
    let slots = 0
    for (const worker of this.#group.workers) {
      if (worker.state === 'spawning' && !worker.isLeaving) slots += slotsPerWorker
    }
    if (slots === 0) return 0
    if (canTakeBack) {
      const next = this.#pending.peek()
      if (!this.#isPumping) this.#pending.lookAway()
      if (next === null || next.canBePostedAgain) return 0
    }
    return Math.min(slots, Math.max(this.#slots - this.#posted.weight, 0))
  }

  /** Tasks for which there is no slot, not even one of a worker that is starting. */
  get #unplaced(): number {
    const { size } = this.#pending
    const queued = size === 0 ? 0 : Math.max(size - this.#startingSlots, 0)
    return queued + this.#ahead
  }

  /** The tasks that `maxQueue` counts. */
  get queueSize(): number {
    return this.#unplaced
  }

  /** Tasks that no worker has and for which no worker has a free slot. */
  get waiting(): number {
    return this.#pending.size + this.#ahead
  }

  /** Tasks that a worker has, or that have a free slot. */
  get inFlight(): number {
    return this.#posted.size - this.#ahead
  }

  /** Counts every task once, also those that are between two workers or being posted. */
  get counts(): { waiting: number; inFlight: number } {
    // Read once: workers claim tasks meanwhile.
    const ahead = this.#ahead
    let inFlight = this.#posted.size - ahead + this.decoding
    if (this.#posting?.state === 'queued') inFlight++
    for (const task of this.#requeue.failed) if (task.state === 'failed') inFlight++
    return { waiting: this.#pending.size + ahead, inFlight }
  }

  /** Tasks whose large results are being decoded. */
  get decoding(): number {
    return this.#parts.largeResults.count
  }

  /** Slots that are taken. An exclusive task takes all slots of its worker. */
  get occupied(): number {
    const surelyStarting = this.waiting - this.queueSize
    return Math.min(this.#posted.weight, this.#slots) + surelyStarting
  }

  /** Slots of workers that are not started and may not be started for now. */
  get unavailableSlots(): number {
    return this.#group.missingWorkers * this.#parts.slotsPerWorker
  }

  // From the queue to the workers.

  /** Takes in an accepted task. A task that the queue refuses is rejected with what the queue threw. */
  submit(task: Task): void {
    const othersWait = this.#pending.size > 0
    if (!othersWait && !this.#isPumping && this.#postAtOnce(task)) return
    // Tasks that are sure to get a slot do not count against the queue's limit.
    if (this.#pending.isBounded) this.#pending.reserve(this.#startingSlots)
    try {
      this.#pending.push(task)
    } catch (refusal) {
      this.#settler.reject(task, refusal)
      return
    }
    // A task behind others waits for what they wait for, unless another worker may be started or the queue has its own order.
    if (!othersWait || !this.#pending.isFirstInFirstOut || this.#group.maySpawn) this.pump()
  }

  /** Posts a task that need not wait in the queue. False when it must. */
  #postAtOnce(task: Task): boolean {
    if (!this.#mayShare(task) || !this.#pending.isFirstInFirstOut) return false
    // Tasks that a getter of the payload submits must not overtake this one.
    this.#isPumping = true
    this.#posting = task
    try {
      if (!this.#share(task)) return false
    } finally {
      this.#isPumping = false
      this.#posting = null
    }
    if (this.#mustPumpAgain || this.#group.workers.length === 0) this.pump()
    else this.#startAndWakeWorkers()
    return true
  }

  /**
   * Places queued tasks until none is left or none can be placed. True when tasks were rejected because no worker is alive and
   * none may be started.
   */
  pump(): boolean {
    if (this.#isPumping) {
      this.#mustPumpAgain = true
      return false
    }
    this.#isPumping = true
    try {
      do {
        this.#mustPumpAgain = false
        this.#recallEarlyTasks()
        while (this.#placeNext());
      } while (this.#mustPumpAgain)
      this.#startAndWakeWorkers()
    } finally {
      this.#isPumping = false
    }
    if (this.#pending.size > 0) this.#pending.lookAway()
    return this.waiting > 0 && this.#rejectHopeless()
  }

  /** A task that was sent to a worker that is starting moves to a ready worker when one has a free slot. */
  #recallEarlyTasks(): void {
    const { isAnyStarting, workers } = this.#group
    if (this.#parts.loadBalancer !== null || !isAnyStarting) return
    const isEarly = (worker: Worker) => worker.state === 'spawning' && worker.usage > 0
    if (!workers.some(isEarly) || !workers.some(worker => isServing(worker) && hasRoomFor(worker, false)))
      return
    for (const worker of workers) if (isEarly(worker)) this.#requeue.sentTo(worker)
  }

  /** True when the next task has left the queue. */
  #placeNext(): boolean {
    if (this.#pending.size === 0 || !this.#isWorthPeeking) return false
    const task = this.#pending.peek()
    if (task === null) return false
    if (this.#mayShare(task)) {
      if (this.#share(task)) {
        this.#pending.take(task)
        return true
      }
      if (task.addressee !== BY_MESSAGE) return false
    }
    return this.#send(task)
  }

  /** A queue that is not first in, first out keeps a task until there is a slot for it: a better one may come. */
  get #isWorthPeeking(): boolean {
    const { canTakeBack, waker, loadBalancer } = this.#parts
    if (this.#pending.isFirstInFirstOut || loadBalancer !== null) return true
    if (waker !== null) return this.#posted.weight < this.#slots
    const mayTake = (worker: Worker) => worker.isReady || canTakeBack
    return this.#group.workers.some(worker => mayTake(worker) && hasRoomFor(worker, false))
  }

  /** False when the task must be sent by message. */
  #mayShare(task: Task): boolean {
    const { waker, slotsPerWorker } = this.#parts
    if (waker === null || task.addressee !== 0 || !task.canBePostedAgain) return false
    return !task.isExclusive || slotsPerWorker === 1
  }

  /** Posts the task in the shared queue. False when there is no room, or when it must be sent by message instead. */
  #share(task: Task): boolean {
    const { poster, poller, waker } = this.#parts
    const outcome = poster.post(task)
    if (outcome === 'declined') task.addressee = BY_MESSAGE
    if (outcome !== 'done') return false
    if (task.state === 'assigned') {
      waker!.onPosted(task)
      poller!.onPosted(task.createdAt)
    }
    return true
  }

  /** Sends the task by message to a worker with a free slot. False when there is none. */
  #send(task: Task): boolean {
    const { poster, poller, waker } = this.#parts
    const { queue } = this.#posted
    // Tasks in the shared queue came first.
    if (!queue.hasTicket || (waker !== null && queue.unclaimed > 0)) return false
    let worker: Worker | null
    try {
      worker = this.#chooseWorker(task)
    } catch (failure) {
      if (task.state !== 'queued') return true
      this.#pending.take(task)
      this.#settler.reject(task, failure)
      return true
    }
    // The load balancer is user code: it may have cancelled the task or closed the pool.
    if (task.state !== 'queued') return true
    if (worker === null) return false
    this.#pending.take(task)
    poster.send(worker, task)
    poller?.onPosted(task.createdAt)
    return true
  }

  #chooseWorker(task: Task): Worker | null {
    const { canTakeBack, loadBalancer } = this.#parts
    const { workers, maySpawn, isAnyStarting } = this.#group
    // The host must be able to give the task to another worker if this one does not start.
    const chosen = chooseWorker(loadBalancer, task, workers, canTakeBack && task.canBePostedAgain)
    if (chosen !== null || loadBalancer === null || task.state !== 'queued') return chosen
    // A load balancer may let a task wait for something to happen. If nothing will, the default placement decides.
    const willChange = this.#posted.size > 0 || isAnyStarting || maySpawn
    return willChange ? null : choosePlacement(task.isExclusive, workers.filter(isServing))
  }

  /** Starts workers for tasks that have no slot, and wakes sleeping ones for the tasks in the shared queue. */
  #startAndWakeWorkers(): void {
    const group = this.#group
    while (group.maySpawn && this.#unplaced > 0 && group.trySpawn() !== null) {
      while (this.#placeNext());
    }
    this.#parts.waker?.wake()
  }

  /** Takes back a task that no worker has started, as if it had never been accepted. False when a worker has started it. */
  withdraw(task: Task): boolean {
    if (task.state === 'assigned') {
      if (!this.#recall.takeBack(task)) return false
      moveTask(task, 'queued')
      return true
    }
    if (task.state !== 'queued') return false
    this.#pending.remove(task)
    return true
  }

  // Cancelling.

  /** Some handler of a cancelled task still runs. */
  get hasCancelledRunning(): boolean {
    return this.#parts.cancelled.isAny
  }

  progressOf(task: Task, now: number): Progress {
    if (task.state === 'decoding') return 'decoding'
    if (task.state === 'failed') return 'answered'
    if (task.state === 'queued') return 'waiting'
    const { tickets } = this.#posted
    switch (tickets.phaseOf(task.ticket)) {
      case 'loading':
      case 'started':
        return tickets.startedAt(task.ticket, now) ?? 'held'
      case 'answered':
        return 'answered'
      case 'addressed':
        return this.#parts.canTakeBack ? 'waiting' : { handedAt: task.assignedAt! }
      default:
        return 'waiting'
    }
  }

  /** Rejects the caller at once. With `onlyWaiting`, a task that a worker has started is left alone. */
  cancel(task: Task, error: PoolError, onlyWaiting = false): void {
    const { cancelled, largeResults, onLeft } = this.#parts
    if (task.state === 'decoding') {
      if (onlyWaiting) return
      largeResults.drop(task)
      this.#settler.cancel(task, error)
      return onLeft()
    }
    if (task.state === 'queued') {
      this.#pending.remove(task)
      this.#settler.cancel(task, error)
    } else if (task.state === 'failed') {
      if (onlyWaiting) return
      this.#settler.cancel(task, error)
    } else if (onlyWaiting && this.withdraw(task)) {
      this.#settler.cancel(task, error)
    } else if (onlyWaiting && typeof this.progressOf(task, this.#clock.now()) !== 'object') {
      return
    } else {
      const workerId = this.#recall.abandon(task)
      this.#settler.cancel(task, error)
      const worker = workerId === 0 ? null : this.#group.withId(workerId)
      if (worker !== null) cancelled.add(worker, task, error)
    }
    // A leaving worker may have waited for this task alone.
    if (this.#group.hasLeaving) this.#group.stopLeavingIfDone()
    this.#onRoom()
  }

  // Workers.

  onReady(): void {
    this.#onRoom()
  }

  onMessage(worker: Worker, message: ToHost): void {
    const { cancelled, collector, handlerMetrics, poller } = this.#parts
    if (message === 'bell') {
      if (!poller!.onBell()) this.#onRoom()
      return
    }
    switch (message.kind) {
      case 'done':
      case 'failed':
        collector.receive(worker, message)
        break
      case 'task-ended':
        if (!collector.onTaskEnded(worker, message.ticket, message.taskId)) return
        break
      case 'task-list':
        collector.onTaskList(worker, message.taskIds)
        break
      case 'unreadable':
        return collector.onUnreadable(worker)
      case 'pong':
        return cancelled.onPong(worker)
      case 'measured':
        return handlerMetrics?.onMeasured(message.handlers)
      default:
        return
    }
    if (worker.isIdle) worker.idleSince = this.#clock.now()
    this.#onRoom()
    this.onAnswered(worker)
  }

  onUnreadable(worker: Worker): void {
    this.#parts.collector.onUnreadable(worker)
  }

  /** Answers of the worker were collected. */
  onAnswered(worker: Worker): void {
    const { cancelled } = this.#parts
    if (cancelled.isAny) cancelled.review(worker)
    if (worker.isIdle) this.#group.onIdle(worker)
  }

  /** All answers that were there have been collected. */
  onCollected(): void {
    this.#onRoom()
  }

  onGivenUp(worker: Worker, error: PoolError): void {
    this.#forgetTasksOf(worker, error, error instanceof PoolClosedError)
    inMicrotask(() => this.#onRoom())
  }

  onLeaving(worker: Worker): void {
    this.#requeue.unstartedOf(worker)
    inMicrotask(() => this.#onRoom())
  }

  /** A worker that was given up has ended: only now is it certain which tasks it had claimed. */
  onGone(worker: Worker): void {
    this.#forgetTasksOf(worker, new WorkerExitError(worker.id, 1), true)
    this.#onRoom()
  }

  /** True when some caller was told of the worker's death. */
  onLost(worker: Worker, death: Death): boolean {
    const wasToldByDeath = this.#forgetTasksOf(worker, death.error, true)
    const wasToldByPump = this.pump()
    this.#parts.onLeft()
    return wasToldByDeath || wasToldByPump
  }

  onPauseOver(): void {
    this.#onRoom()
  }

  #forgetTasksOf(worker: Worker, error: unknown, isGone: boolean): boolean {
    const { cancelled, collector, poller } = this.#parts
    cancelled.forget(worker)
    if (isGone) poller?.onWorkerGone()
    // Answers that the worker has given count.
    collector.collectFrom(worker, Number.POSITIVE_INFINITY)
    return this.#requeue.orphansOf(worker, error, isGone)
  }

  #onRoom(): void {
    this.pump()
    this.#parts.onLeft()
  }

  // The end of the pool.

  rejectDecoding(error: PoolClosedError): void {
    this.#parts.largeResults.cutOff(error)
  }

  rejectWaiting(error: PoolClosedError): void {
    for (const task of this.#takeWaiting()) this.#settler.cutOff(task, error)
    this.#parts.onLeft()
  }

  releaseQueue(): void {
    this.#pending.release()
  }

  /** Takes every task for which there is no slot out of where it waits, in order. */
  *#takeWaiting(): Generator<Task> {
    for (const task of this.#recall.unclaimed(this.#ahead)) {
      moveTask(task, 'queued')
      yield task
    }
    if (this.#posting?.state === 'queued') yield this.#posting
    yield* this.#pending.drain(this.#startingSlots)
  }

  /**
   * Without a worker, and while none may be started, rejects the tasks that have seen a start fail, and all tasks while the limit
   * of failed starts is reached. A later task waits for the next start.
   */
  #rejectHopeless(): boolean {
    const { isHopeless, policy } = this.#group
    if (!isHopeless || policy.lastError === null) return false
    const now = this.#clock.now()
    const kept: Task[] = []
    let wasAny = false
    for (const task of this.#takeWaiting()) {
      if (!policy.isHopeless(task.createdAt)) {
        kept.push(task)
        continue
      }
      wasAny = true
      this.#settler.reject(task, policy.refusal(task.createdAt, now))
    }
    for (const task of kept.reverse()) this.#pending.putBack(task)
    if (wasAny) this.#parts.onLeft()
    return wasAny
  }
}

function isServing({ isReady, isLeaving }: Worker): boolean {
  return isReady && !isLeaving
}
