// Moves tasks from the queue to the workers. Only `pump()` places queued tasks. Also removes tasks when they are
// cancelled, when their worker ends, and when the pool closes.

import type { LoadBalancer } from '../../api/queue.js'
import { PoolClosedError, type PoolError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Collector } from '../lane/collect.js'
import type { LargeResults } from '../lane/large-results.js'
import type { Lender } from '../lane/lent-slots.js'
import type { Payloads } from '../lane/payloads.js'
import type { ResultPoller } from '../lane/poll-results.js'
import type { Poster } from '../lane/post.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Recall } from '../lane/recall.js'
import type { TaskMessages } from '../lane/task-messages.js'
import type { WorkerWaker } from '../lane/wake-workers.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import { NEVER_STARTED } from '../task/refusal.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { Progress } from '../task/time-limits.js'
import { chooseWorker } from '../workers/load-balancer.js'
import { choosePlacement, hasRoomFor } from '../workers/placement.js'
import type { Death, TaskListener, Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { RunningCancelled } from './grace-period.js'
import type { PendingTasks } from './pending.js'
import type { Requeue } from './requeue.js'

export interface SchedulerParts {
  clock: Clock
  group: WorkerGroup
  settler: Settler
  handlerMetrics: HandlerMetrics | null
  pending: PendingTasks
  posted: PostedTasks
  payloads: Payloads
  poster: Poster
  collector: Collector
  taskMessages: TaskMessages
  recall: Recall
  requeue: Requeue
  largeResults: LargeResults
  cancelled: RunningCancelled
  /** `null`: the host sends all tasks by message. */
  waker: WorkerWaker | null
  poller: ResultPoller | null
  loadBalancer: LoadBalancer | null
  slotsPerWorker: number
  /** False for processes: a process may have started a sent task without the host knowing it yet. */
  canTakeBack: boolean
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
}

/** A wake-up costs as much as several short tasks. Taking a task back costs less than a short task. */
const MIN_AHEAD = 8

/** The `addressee` of a task that must go by message, before a worker is chosen. */
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
  /** The tasks of broadcasts that the host has not sent yet. */
  readonly #pinned = new Set<Task>()
  #isPumping = false
  #mustPumpAgain = false
  /** The task that the host posts now without queueing it. A getter of its payload may close the pool meanwhile. */
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

  // Counts.

  /** All slots of accepting workers, also of starting ones, and the slots that leaving or killed workers still use. */
  get #slots(): number {
    const { acceptingWorkers, drainingWorkers, hasLeaving, workers } = this.#group
    let slots = acceptingWorkers * this.#parts.slotsPerWorker
    if (hasLeaving) {
      for (const worker of workers) {
        if (worker.isLeaving) slots += this.#usedSlots(worker) + worker.tasks.pinnedUsage
      }
    }
    for (const worker of drainingWorkers) slots += this.#usedSlots(worker)
    return slots
  }

  #usedSlots(worker: Worker): number {
    return this.#posted.weightOf(this.#posted.heldBy(worker.id))
  }

  /** How many slots the tasks of broadcasts use. */
  get #pinnedUsage(): number {
    if (this.#posted.pinned.size === 0) return 0
    return this.#group.workers.reduce((total, worker) => total + worker.tasks.pinnedUsage, 0)
  }

  /** The tasks of broadcasts that were sent to a worker without a free slot. */
  get #pinnedBehind(): number {
    const { size } = this.#posted.pinned
    return size === 0 ? 0 : size - this.#pinnedUsage
  }

  get #weight(): number {
    return this.#posted.weight + this.#pinnedUsage
  }

  /** Posted tasks for which no worker has a free slot. */
  get #ahead(): number {
    return this.#posted.waitingFor(this.#slots - this.#pinnedUsage)
  }

  /**
   * How many queued tasks are sure to get a slot of a starting worker. Only tasks that the host cannot send before the
   * worker is ready wait for such a slot. The host sends other tasks to starting workers at once.
   */
  get #startingSlots(): number {
    const { canTakeBack, slotsPerWorker } = this.#parts
    let slots = 0
    for (const worker of this.#group.workers) {
      if (worker.state === 'spawning' && !worker.isLeaving) slots += slotsPerWorker
    }
    const sure = Math.min(slots, Math.max(this.#slots - this.#weight, 0))
    // Before the next look: a queue without `unshift()` cannot take the task back.
    if (sure === 0) return 0
    if (canTakeBack) {
      const next = this.#pending.peek()
      if (!this.#isPumping) this.#pending.unpeek()
      if (next === null || next.canBePostedAgain) return 0
    }
    return sure
  }

  /** Tasks without a slot, not even of a starting worker. */
  get #unplaced(): number {
    const { size } = this.#pending
    const queued = size === 0 ? 0 : Math.max(size - this.#startingSlots, 0)
    return queued + this.#ahead
  }

  /** The tasks that `maxQueue` counts. */
  get queueSize(): number {
    return this.#unplaced
  }

  /** Queued tasks, and posted tasks without a free slot. */
  get waiting(): number {
    return this.#pending.size + this.#ahead
  }

  /** Posted tasks that a worker has, or that have a free slot. */
  get inFlight(): number {
    return this.#posted.size - this.#ahead - this.#pinnedBehind
  }

  /** Tasks in flight that use no slot of their own, because a task lends its slot while it waits for its caller. */
  get lent(): number {
    return this.#posted.lent.count
  }

  /** Counts every task once, also a task between two workers and a task that the host posts now. */
  get counts(): { waiting: number; inFlight: number } {
    // Read once: workers claim tasks meanwhile.
    const ahead = this.#ahead
    const behind = this.#pinnedBehind
    let inFlight = this.#posted.size - ahead - behind + this.decoding
    if (this.#posting?.state === 'queued') inFlight++
    for (const task of this.#requeue.failed) if (task.state === 'failed') inFlight++
    return { waiting: this.#pending.size + this.#pinned.size + ahead + behind, inFlight }
  }

  /** Tasks whose large results the host decodes now. */
  get decoding(): number {
    return this.#parts.largeResults.count
  }

  /** Used slots. An exclusive task uses all slots of its worker. */
  get occupied(): number {
    const surelyStarting = this.waiting - this.queueSize
    return Math.min(this.#weight, this.#slots) + surelyStarting
  }

  /** Slots of workers that do not exist and that the pool may not start now. */
  get unavailableSlots(): number {
    return this.#group.missingWorkers * this.#parts.slotsPerWorker
  }

  // From the queue to the workers.

  /** Posts or queues an accepted task. If the queue throws, the task is rejected with that error. */
  submit(task: Task): void {
    if (task.isPinned) {
      this.#pinned.add(task)
      this.pump()
      return
    }
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
    if (!this.#pending.isFirstInFirstOut && !this.#recallLessUrgent(task)) return
    if (this.#mayPlaceNow(task, othersWait)) this.pump()
    if (task.state === 'queued') this.#take(task)
  }

  /** A task behind others waits like them, unless the pool may start another worker, or a waiting task lends its slot to this task. */
  #mayPlaceNow(task: Task, othersWait: boolean): boolean {
    if (!othersWait || this.#group.maySpawn || this.#posted.lent.isChild(task)) return true
    return !this.#pending.isFirstInFirstOut && this.#isWorthPeeking
  }

  /**
   * Takes the payload of a queued task, because the caller may change its object after the call. False when the task was settled: the
   * payload was refused, or a getter of the payload ended the task.
   */
  #take(task: Task): boolean {
    // A getter of the payload may submit other tasks. They must not overtake this one, and must not post it.
    const wasPumping = this.#isPumping
    this.#isPumping = true
    try {
      this.#parts.payloads.take(task, this.#mayShare(task))
    } catch (refused) {
      if (task.state === 'queued') {
        this.#remove(task)
        this.#settler.reject(task, refused)
      }
    } finally {
      this.#isPumping = wasPumping
    }
    if (this.#mustPumpAgain && !wasPumping) this.pump()
    return task.state === 'queued'
  }

  /** Posts the task without queueing it. False when it must be queued. */
  #postAtOnce(task: Task): boolean {
    if (!this.#mayShare(task) || !this.#pending.isFirstInFirstOut) return false
    // A getter of the payload may submit other tasks. They must not overtake this one.
    this.#isPumping = true
    this.#posting = task
    try {
      if (!this.#share(task)) return false
    } finally {
      this.#isPumping = false
      this.#posting = null
    }
    const mustPump = this.#mustPumpAgain || this.#group.workers.length === 0
    if (mustPump || this.#posted.lent.isChild(task)) this.pump()
    else this.#startAndWakeWorkers()
    return true
  }

  /**
   * Places queued tasks as long as there is room for the next one. Returns true when tasks were rejected because the
   * pool has no worker and may not start one.
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
        if (this.#pinned.size > 0) this.#sendPinned()
        this.#recallEarlyTasks()
        while (this.#placeNext());
        if (this.#posted.lent.isAny) this.#lendSlots()
      } while (this.#mustPumpAgain)
      this.#startAndWakeWorkers()
    } finally {
      this.#isPumping = false
    }
    if (this.#pending.size > 0) this.#pending.unpeek()
    return this.waiting > 0 && this.#rejectHopeless()
  }

  /**
   * A worker that claims tasks by itself gets its task of a broadcast at once and runs it when it has a free slot. To
   * other workers the host sends the task when a slot is free, before any queued task.
   */
  #sendPinned(): void {
    const { poster, poller, waker, canTakeBack } = this.#parts
    for (const task of this.#pinned) {
      const worker = this.#group.withId(task.terms.workerId)
      if (worker === null) {
        this.#pinned.delete(task)
        this.#settler.cancel(task, NEVER_STARTED)
        continue
      }
      const mayStart = worker.isReady || canTakeBack
      const hasSlot = waker !== null || (!worker.isExclusive && worker.usage < worker.slots)
      if (!mayStart || !hasSlot || !this.#posted.queue.hasTicket) continue
      this.#pinned.delete(task)
      poster.send(worker, task)
      poller?.onPosted(task.createdAt)
    }
  }

  /** If a ready worker has a free slot, it gets the tasks that the host sent to starting workers. */
  #recallEarlyTasks(): void {
    const { isAnyStarting, workers } = this.#group
    if (this.#parts.loadBalancer !== null || !isAnyStarting) return
    const isEarly = (worker: Worker) => worker.state === 'spawning' && worker.usage > 0
    if (!workers.some(isEarly) || !workers.some(worker => isServing(worker) && hasRoomFor(worker, false)))
      return
    for (const worker of workers) if (isEarly(worker)) this.#requeue.sentTo(worker)
  }

  /** Returns true when the next task has left the queue. */
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

  /**
   * If the queue puts the new task first, it may also belong before the tasks that were posted ahead. They return to the queue, and the new
   * task is pushed again, so that the queue decides. False when `push()` threw this time.
   */
  #recallLessUrgent(task: Task): boolean {
    if (this.#isPumping || !this.#pending.keepsPlaces || this.#posted.queue.unclaimed === 0) return true
    const isFirst = this.#pending.peek() === task
    this.#pending.unpeek()
    if (!isFirst || task.state !== 'queued') return true
    this.#pending.remove(task)
    this.#requeue.unclaimed()
    try {
      this.#pending.push(task)
      return true
    } catch (refusal) {
      this.#settler.reject(task, refusal)
      this.#onRoom()
      return false
    }
  }

  /**
   * A queue with its own order keeps a task until a slot is free: a more urgent task may come. If the queue can take tasks back, the host
   * posts some ahead, so that workers need not wait for the host.
   */
  get #isWorthPeeking(): boolean {
    const { canTakeBack, waker, loadBalancer, slotsPerWorker } = this.#parts
    if (this.#pending.isFirstInFirstOut) return true
    if (loadBalancer !== null) return this.#group.workers.some(worker => hasRoomFor(worker, false))
    if (waker !== null) {
      const ahead = this.#pending.keepsPlaces
        ? Math.max(this.#group.acceptingWorkers * slotsPerWorker, MIN_AHEAD)
        : 0
      return this.#weight < this.#slots + ahead
    }
    const mayTake = (worker: Worker) => worker.isReady || canTakeBack
    return this.#group.workers.some(worker => mayTake(worker) && hasRoomFor(worker, false))
  }

  /** False when the task must be sent by message. */
  #mayShare(task: Task): boolean {
    return task.addressee === 0 && this.#parts.payloads.maySharePayload(task.terms)
  }

  /** Posts the task in the shared queue. False when the queue has no room, or when the task must go by message. */
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

  /** Sends the task by message to a worker with a free slot. False when no worker has one. */
  #send(task: Task): boolean {
    const { poster, poller, waker } = this.#parts
    const { queue } = this.#posted
    // Tasks in the shared queue are older, so they go first.
    if (!queue.hasTicket || (waker !== null && queue.unclaimed > 0)) return false
    // The host may have to send the task again. A moved payload is sent once.
    if (task.canBePostedAgain && !this.#take(task)) return true
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
    // A starting worker may fail to start. So the host sends it only tasks that it can take back and send again.
    const chosen = chooseWorker(loadBalancer, task, workers, canTakeBack && task.canBePostedAgain)
    if (chosen !== null || loadBalancer === null || task.state !== 'queued') return chosen
    // A load balancer may keep a task queued until something changes. If nothing can change, the default placement
    // decides.
    const willChange = this.#posted.size > 0 || isAnyStarting || maySpawn
    return willChange ? null : choosePlacement(task.isExclusive, workers.filter(isServing))
  }

  /** Starts workers for tasks without a slot, and wakes sleeping workers for the tasks in the shared queue. */
  #startAndWakeWorkers(): void {
    const group = this.#group
    while (group.maySpawn && this.#unplaced > 0 && group.trySpawn() !== null) {
      while (this.#placeNext());
    }
    this.#parts.waker?.wake()
  }

  // Lent slots.

  /**
   * A task that waits for a task of its own functions must not wait forever. So such a task without a slot gets the slot that the
   * waiting task lends. It overtakes the queue, which may wait for the same slot.
   */
  #lendSlots(): void {
    const { lent } = this.#posted
    for (const lender of lent.waiting()) {
      for (const task of lent.candidates(lender)) {
        const worker = this.#lendingWorker(lender)
        if (worker === null) break
        if (lender.isOpen ? !this.#mayJoin(worker, task) : this.#hasSlotElsewhere(task)) continue
        if (!this.#hasTicket()) return
        if (task.state === 'queued' && task.canBePostedAgain && !this.#take(task)) continue
        if (!this.withdraw(task)) continue
        this.#parts.poster.send(worker, task, lender.isOpen ? null : lender)
        this.#parts.poller?.onPosted(task.createdAt)
      }
    }
  }

  /** The worker on which the waiting task can lend its slot to a task now; `null` when it cannot. */
  #lendingWorker({ workerId, isWaiting, isOpen, borrower }: Lender): Worker | null {
    const worker = this.#group.withId(workerId)
    if (worker === null || !worker.isReady || !isWaiting) return null
    if (isOpen) return hasRoomFor(worker, false) ? worker : null
    // A leaving worker does not end before its waiting task. So the next task does not wait for a cancelled handler that runs on.
    return borrower === null || (borrower.state === 'settled' && worker.isLeaving) ? worker : null
  }

  /** An exclusive task may run on a worker whose other tasks all wait for their callers. */
  #mayJoin(worker: Worker, task: Task): boolean {
    if (task.state !== 'queued' || !task.isExclusive) return task.state === 'queued'
    const { lent, queue, tickets } = this.#posted
    // A lender may have answered, and the host does not know it yet. So the count of used slots is not enough.
    const isOut = (held: Task) => lent.lendsToAny(held) || tickets.phaseOf(held.ticket) === 'answered'
    return queue.unclaimed === 0 && this.#posted.heldBy(worker.id).every(isOut)
  }

  /** True when a worker has started the task, or starts it soon without a lent slot. */
  #hasSlotElsewhere(task: Task): boolean {
    if (task.state !== 'assigned') return task.state !== 'queued'
    const phase = this.#posted.tickets.phaseOf(task.ticket)
    if (phase === 'offered') return this.#posted.queue.unclaimed <= this.#freeSlots
    if (phase !== 'addressed') return true
    return !task.isPinned && this.#group.withId(task.addressee)?.isReady === true
  }

  /** The free slots of ready workers. */
  get #freeSlots(): number {
    let free = 0
    for (const worker of this.#group.workers) {
      if (isServing(worker) && !worker.isExclusive) free += worker.slots - worker.usage
    }
    return free
  }

  /** The shared queue may have all tickets while no worker can claim its tasks. Then the host takes back the last of them. */
  #hasTicket(): boolean {
    const { queue } = this.#posted
    for (const task of queue.hasTicket ? [] : this.#recall.takeUnclaimed(1)) {
      moveTask(task, 'queued')
      this.#pending.putBack(task)
    }
    return queue.hasTicket
  }

  /** True when a task that a function of the waiting task submits gets its slot at once. */
  mayBorrow(lender: Lender | null): boolean {
    return lender !== null && this.#lendingWorker(lender) !== null
  }

  /** Removes an unstarted task from the queue or from its worker. False when a worker has started the task. */
  withdraw(task: Task): boolean {
    if (task.state === 'assigned') {
      if (!this.#recall.takeBack(task)) return false
      moveTask(task, 'queued')
      return true
    }
    if (task.state !== 'queued') return false
    this.#remove(task)
    return true
  }

  #remove(task: Task): void {
    if (!this.#pinned.delete(task)) this.#pending.remove(task)
  }

  // Cancelling.

  /** True while a handler of a cancelled task runs. */
  get hasCancelledRunning(): boolean {
    return this.#parts.cancelled.isAny
  }

  progressOf(task: Task, now: number): Progress {
    if (task.state === 'decoding') return 'decoding'
    if (task.state === 'failed') return 'answered'
    if (task.state === 'queued') return 'unstarted'
    const { tickets } = this.#posted
    switch (tickets.phaseOf(task.ticket)) {
      case 'loading':
      case 'started':
        return tickets.startedAt(task.ticket, now) ?? 'paused'
      case 'answered':
        return 'answered'
      case 'addressed':
        return this.#parts.canTakeBack ? 'unstarted' : { sentAt: task.assignedAt! }
      default:
        return 'unstarted'
    }
  }

  /** Rejects the caller at once. With `onlyUnstarted`, a task that a worker has started runs on. */
  cancel(task: Task, error: PoolError, onlyUnstarted = false): void {
    const { cancelled, largeResults, onLeft } = this.#parts
    if (task.state === 'decoding') {
      if (onlyUnstarted) return
      largeResults.drop(task)
      this.#settler.cancel(task, error)
      return onLeft()
    }
    if (task.state === 'queued') {
      this.#remove(task)
      this.#settler.cancel(task, error)
    } else if (task.state === 'failed') {
      if (onlyUnstarted) return
      this.#settler.cancel(task, error)
    } else if (onlyUnstarted && this.withdraw(task)) {
      this.#settler.cancel(task, error)
    } else if (onlyUnstarted && typeof this.progressOf(task, this.#clock.now()) !== 'object') {
      return
    } else {
      const workerId = this.#recall.abandon(task)
      this.#settler.cancel(task, error)
      const worker = workerId === 0 ? null : this.#group.withId(workerId)
      if (worker !== null) cancelled.add(worker, task, error)
    }
    // This task may have been the last one of a leaving worker.
    if (this.#group.hasLeaving) this.#group.stopLeavingIfDone()
    this.#onRoom()
  }

  /** Rejects the tasks without a slot. */
  cancelWaiting(createError: () => PoolError): void {
    for (const task of this.#takeWaiting()) this.#settler.cancel(task, createError())
    this.#onRoom()
  }

  // Workers.

  onReady(): void {
    this.#onRoom()
  }

  onMessage(worker: Worker, message: ToHost): void {
    const { cancelled, collector, handlerMetrics, poller, taskMessages } = this.#parts
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
      case 'from-task':
        return taskMessages.receive(worker, message)
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

  /** Call it when answers of the worker were collected. */
  onAnswered(worker: Worker): void {
    const { cancelled } = this.#parts
    if (cancelled.isAny) cancelled.review(worker)
    if (worker.isIdle) this.#group.onIdle(worker)
  }

  /** Call it when the answers of all workers were collected. */
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

  /** A worker that the host gave up has ended. Only now is it certain which tasks it had claimed. */
  onGone(worker: Worker): void {
    this.#forgetTasksOf(worker, new WorkerExitError(worker.id, 1), true)
    this.#onRoom()
  }

  /** Returns true when a caller received the error of the death. */
  onLost(worker: Worker, death: Death): boolean {
    const hasRejectedStarted = this.#forgetTasksOf(worker, death.error, true)
    const hasRejectedQueued = this.pump()
    this.#parts.onLeft()
    return hasRejectedStarted || hasRejectedQueued
  }

  /** A slot is free for another task. */
  onSlotFree(): void {
    this.#onRoom()
  }

  onPauseOver(): void {
    this.#onRoom()
  }

  #forgetTasksOf(worker: Worker, error: unknown, isGone: boolean): boolean {
    const { cancelled, collector, poller } = this.#parts
    cancelled.forget(worker)
    if (isGone) poller?.onWorkerGone()
    // Answers that the worker gave before count.
    collector.collectFrom(worker, Number.POSITIVE_INFINITY)
    const reason = error instanceof PoolClosedError ? error : (worker.damage ?? error)
    return this.#requeue.orphansOf(worker, reason, isGone)
  }

  #onRoom(): void {
    this.pump()
    this.#parts.onLeft()
  }

  // Closing.

  rejectDecoding(error: PoolClosedError): void {
    this.#parts.largeResults.cutOff(error)
  }

  rejectWaiting(error: PoolClosedError): void {
    for (const task of this.#pinned) {
      this.#pinned.delete(task)
      this.#settler.cutOff(task, error)
    }
    for (const task of this.#takeWaiting()) this.#settler.cutOff(task, error)
    this.#parts.onLeft()
  }

  releaseQueue(): void {
    this.#parts.waker?.end()
    this.#pending.release()
  }

  /** Removes the tasks without a slot from the shared queue and from the host's queue, in order. */
  *#takeWaiting(): Generator<Task> {
    for (const task of this.#recall.takeUnclaimed(this.#ahead)) {
      moveTask(task, 'queued')
      yield task
    }
    if (this.#posting?.state === 'queued') yield this.#posting
    yield* this.#pending.drain(this.#startingSlots)
  }

  /**
   * Applies when the pool has no worker and may not start one now. Rejects the tasks that were submitted before the
   * last failed start, and all tasks while the circuit is open. Other tasks wait for the next start.
   */
  #rejectHopeless(): boolean {
    const { isHopeless, policy } = this.#group
    if (!isHopeless || policy.lastError === null) return false
    const now = this.#clock.now()
    const kept: Task[] = []
    let hasRejected = false
    for (const task of this.#takeWaiting()) {
      if (!policy.isHopeless(task.createdAt)) {
        kept.push(task)
        continue
      }
      hasRejected = true
      this.#settler.reject(task, policy.refusal(task.createdAt, now))
    }
    for (const task of kept.reverse()) this.#pending.putBack(task)
    if (hasRejected) this.#parts.onLeft()
    return hasRejected
  }
}

function isServing({ isReady, isLeaving }: Worker): boolean {
  return isReady && !isLeaving
}
