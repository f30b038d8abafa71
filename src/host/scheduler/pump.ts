// Moves tasks from the queue to the workers. Only `pump()` places queued tasks.
import type { LoadBalancer } from '../../api/queue.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Payloads } from '../lane/payloads.js'
import type { ResultPoller } from '../lane/poll-results.js'
import type { Poster } from '../lane/post.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import type { Recall } from '../lane/recall.js'
import type { Slots } from '../lane/slots.js'
import type { WorkerWaker } from '../lane/wake-workers.js'
import { NEVER_STARTED } from '../task/rejection.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { moveTask } from '../task/task-life.js'
import type { KeyWorkers } from '../workers/key-workers.js'
import { chooseWorker } from '../workers/load-balancer.js'
import { choosePlacement, hasRoomFor } from '../workers/placement.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import { KeyPlaces } from './key-places.js'
import { Lending } from './lending.js'
import { LookAhead } from './look-ahead.js'
import type { PendingTasks } from './pending.js'
import type { Requeue } from './requeue.js'

export interface PumpParts {
  clock: Clock
  group: WorkerGroup
  settler: Settler
  pending: PendingTasks
  posted: PostedTasks
  payloads: Payloads
  poster: Poster
  recall: Recall
  requeue: Requeue
  /** `null`: the host sends all tasks by message. */
  waker: WorkerWaker | null
  poller: ResultPoller | null
  loadBalancer: LoadBalancer | null
  keyWorkers: KeyWorkers
  /** False for processes: a process may have started a sent task without the host knowing it yet. */
  canTakeBack: boolean
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
}

/** The `addressee` of a task that must go by message, before a worker is chosen. */
const BY_MESSAGE = -1

export class Pump {
  readonly lending: Lending
  readonly #parts: PumpParts
  readonly #group: WorkerGroup
  readonly #settler: Settler
  readonly #pending: PendingTasks
  readonly #posted: PostedTasks
  readonly #slots: Slots
  readonly #recall: Recall
  readonly #requeue: Requeue
  readonly #keyPlaces: KeyPlaces
  readonly #lookAhead: LookAhead
  /** The pinned tasks that the host has not sent yet. */
  readonly pinned = new Set<Task>()
  /** Tasks that were held and have entered the queue in this turn. */
  readonly #resumed: Task[] = []
  #isPumping = false
  #mustPumpAgain = false
  /** The task that the host posts now without queueing it. A getter of its payload may close the pool meanwhile. */
  #posting: Task | null = null

  constructor(parts: PumpParts) {
    this.#parts = parts
    this.#group = parts.group
    this.#settler = parts.settler
    this.#pending = parts.pending
    this.#posted = parts.posted
    this.#slots = parts.posted.slots
    this.#recall = parts.recall
    this.#requeue = parts.requeue
    this.#lookAhead = new LookAhead(parts)
    this.#keyPlaces = new KeyPlaces({
      ...parts,
      putBack: task => this.#putBack(task),
      refill: () => this.refill(),
    })
    this.lending = new Lending({
      ...parts,
      take: task => this.#take(task),
      withdraw: task => this.withdraw(task),
    })
  }

  /** Counts every task once, also a task that the host posts now. */
  get counts(): { waiting: number; inFlight: number } {
    // Read once: workers claim tasks meanwhile.
    const ahead = this.#slots.postedAhead
    const behind = this.#slots.pinnedBehind
    const posting = this.#posting?.state === 'queued' ? 1 : 0
    return {
      waiting: this.#pending.size + this.pinned.size + ahead + behind,
      inFlight: this.#slots.posted - ahead - behind + posting,
    }
  }

  /** Posts or queues an accepted task. If the queue throws, the task is rejected with that error. */
  submit(task: Task): void {
    if (task.isPinned) {
      this.pinned.add(task)
      this.pump()
      return
    }
    if (task.terms.isSerial && !this.#pending.acquireKey(task)) return this.#keepHeld(task)
    const othersWait = this.#pending.size > this.#pending.held
    if (!othersWait && !this.#isPumping && this.#postAtOnce(task)) return
    if (!this.#enqueue(task)) return
    if (!this.#pending.isFirstInFirstOut && !this.#recallLessUrgent(task)) return
    if (this.#mayPlaceNow(task, othersWait)) this.pump()
    if (task.state === 'queued') this.#take(task)
  }

  /** False when the queue threw. Then the task is rejected. */
  #enqueue(task: Task): boolean {
    // Tasks that are sure to get a slot do not count against the queue's limit.
    if (this.#pending.isBounded) this.#pending.reserve(this.#slots.ofStarting)
    try {
      this.#pending.push(task)
      return true
    } catch (refusal) {
      this.#settler.reject(task, refusal)
      return false
    }
  }

  /** Another task has the key of this task. A waiting task may have to lend its slot to that other task. */
  #keepHeld(task: Task): void {
    if (this.#take(task) && this.#slots.lent.isChild(task)) this.pump()
  }

  /** The task was held, and may start now. Not every end of a task is followed by a pump, hence the microtask. */
  resume(task: Task): void {
    if (!this.#enqueue(task) || this.#resumed.push(task) > 1) return
    inMicrotask(() => {
      const resumed = this.#resumed.splice(0)
      const isOrdered = !this.#pending.isFirstInFirstOut
      for (const task of isOrdered ? resumed : []) if (task.state === 'queued') this.#recallLessUrgent(task)
      this.refill()
    })
  }

  /** A task behind others waits like them, unless the pool may start another worker, or a waiting task lends its slot to this task. */
  #mayPlaceNow(task: Task, othersWait: boolean): boolean {
    if (!othersWait || this.#group.starts.maySpawn || this.#slots.lent.isChild(task)) return true
    return !this.#pending.isFirstInFirstOut && this.#lookAhead.isWorthPeeking
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
        this.remove(task)
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
    const isOrdered = !this.#pending.isFirstInFirstOut
    if (!this.#mayShare(task) || (isOrdered && !this.#lookAhead.mayPassQueue(task))) return false
    if (isOrdered) this.#pending.pass(task)
    // A getter of the payload may submit other tasks. They must not overtake this one.
    this.#isPumping = true
    this.#posting = task
    try {
      if (!this.#share(task)) return false
    } finally {
      this.#isPumping = false
      this.#posting = null
    }
    if (isOrdered) this.#lookAhead.onPosted(task)
    const mustPump = this.#mustPumpAgain || this.#group.workers.length === 0
    if (mustPump || this.#slots.lent.isChild(task)) this.pump()
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
        if (this.pinned.size > 0) this.#sendPinned()
        this.#recallEarlyTasks()
        while (this.#placeNext());
        if (this.#slots.lent.isAny) this.lending.lend()
      } while (this.#mustPumpAgain)
      this.#startAndWakeWorkers()
    } finally {
      this.#isPumping = false
    }
    if (this.#pending.size > 0) this.#pending.unpeek()
    return this.#pending.size + this.#slots.postedAhead > 0 && this.#rejectHopeless()
  }

  /**
   * A worker that claims tasks by itself gets its pinned task at once and runs it when it has a free slot. To
   * other workers the host sends the task when a slot is free, before any queued task.
   */
  #sendPinned(): void {
    const { poster, poller, waker, canTakeBack } = this.#parts
    for (const task of this.pinned) {
      const worker = this.#group.withId(task.terms.workerId)
      if (worker === null) {
        this.pinned.delete(task)
        this.#settler.cancel(task, NEVER_STARTED)
        continue
      }
      const mayStart = worker.isReady || canTakeBack
      const hasSlot = waker !== null || (!worker.isExclusive && worker.usage < worker.slots)
      if (!mayStart || !hasSlot || !this.#posted.queue.hasTicket) continue
      this.pinned.delete(task)
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
    if (this.#pending.size === 0 || !this.#lookAhead.isWorthPeeking) return false
    const task = this.#pending.peek()
    if (task === null) return false
    if (this.#mayShare(task)) {
      if (this.#share(task)) {
        this.#pending.take(task)
        if (!this.#pending.isFirstInFirstOut) this.#lookAhead.onPosted(task)
        return true
      }
      if (task.addressee !== BY_MESSAGE) return false
    }
    return this.#send(task.key === null ? task : this.#keyPlaces.firstToSend(task))
  }

  /**
   * If the queue puts the new task first, it may also belong before the tasks that were posted ahead. They return to the queue, and the new
   * task is pushed again, so that the queue decides. False when `push()` threw this time.
   */
  #recallLessUrgent(task: Task): boolean {
    if (this.#isPumping || !this.#pending.keepsPlaces || this.#lookAhead.isBehindPosted(task)) return true
    const isFirst = this.#pending.peek() === task
    this.#pending.unpeek()
    if (!isFirst || task.state !== 'queued') return true
    this.#pending.remove(task)
    this.#requeue.unclaimed()
    this.#lookAhead.onRecalled()
    try {
      this.#pending.push(task)
      return true
    } catch (refusal) {
      this.#settler.reject(task, refusal)
      this.refill()
      return false
    }
  }

  /** False when the task must be sent by message. */
  #mayShare(task: Task): boolean {
    return task.addressee === 0 && this.#parts.payloads.maySharePayload(task.terms)
  }

  /** Posts the task in the lane queue. False when the queue has no room, or when the task must go by message. */
  #share(task: Task): boolean {
    const { poster, poller, waker } = this.#parts
    const worker = task.key === null ? null : this.#keyPlaces.of(task.key)
    if (worker === 'full') return false
    const outcome = poster.post(task, worker)
    if (outcome === 'declined') task.addressee = BY_MESSAGE
    if (outcome !== 'done') return false
    if (task.state === 'assigned') {
      waker!.onPosted(task)
      poller!.onPosted(task.createdAt)
      if (worker !== null) this.#keyPlaces.onPlaced()
    }
    return true
  }

  /** Sends the task by message to a worker with a free slot. False when no worker has one. */
  #send(task: Task): boolean {
    const { poster, poller, waker } = this.#parts
    const { queue } = this.#posted
    // Tasks in the lane queue and in inboxes are older, so they go first.
    if (!queue.hasTicket || (waker !== null && this.#lookAhead.isAnyUnclaimed)) return false
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
    const { canTakeBack, keyWorkers, loadBalancer } = this.#parts
    const preferred = task.key === null || loadBalancer !== null ? null : keyWorkers.of(task.key)
    if (preferred !== null && hasRoomFor(preferred, task.isExclusive)) return preferred
    const { workers, starts, isAnyStarting } = this.#group
    // A starting worker may fail to start. So the host sends it only tasks that it can take back and send again.
    const chosen = chooseWorker(loadBalancer, task, workers, canTakeBack && task.canBePostedAgain)
    if (chosen !== null || loadBalancer === null || task.state !== 'queued') return chosen
    // A load balancer may keep a task queued until something changes. If nothing can change, the default placement
    // decides.
    const willChange = this.#slots.posted > 0 || isAnyStarting || starts.maySpawn
    return willChange ? null : choosePlacement(task.isExclusive, workers.filter(isServing))
  }

  /** Starts workers for tasks without a slot, and wakes sleeping workers for the tasks in the lane queue. */
  #startAndWakeWorkers(): void {
    const group = this.#group
    while (group.starts.maySpawn && this.#slots.startable > 0 && group.starts.trySpawn() !== null) {
      while (this.#placeNext());
    }
    this.#parts.waker?.wake()
  }

  #putBack(task: Task): void {
    moveTask(task, 'queued')
    this.#pending.putBack(task)
  }

  /** Removes an unstarted task from the queue or from its worker. False when a worker has started the task. */
  withdraw(task: Task): boolean {
    if (task.state === 'assigned') {
      if (!this.#recall.takeBack(task)) return false
      moveTask(task, 'queued')
      return true
    }
    if (task.state !== 'queued') return false
    this.remove(task)
    return true
  }

  /** Removes a queued task. */
  remove(task: Task): void {
    if (!this.pinned.delete(task)) this.#pending.remove(task)
  }

  /** A slot is free: places queued tasks, and tells that tasks have left. */
  refill(): void {
    this.pump()
    this.#parts.onLeft()
  }

  /** Removes the tasks without a slot from the lane queue and from the host's queue, in order. */
  *takeWaiting(): Generator<Task> {
    for (const task of this.#recall.takeUnclaimed(this.#slots.postedAhead)) {
      moveTask(task, 'queued')
      yield task
    }
    if (this.#posting?.state === 'queued') yield this.#posting
    yield* this.#pending.drain(this.#slots.ofStarting)
  }

  /**
   * Applies when the pool has no worker and may not start one now. Rejects the tasks that were submitted before the
   * last failed start, and all tasks while the circuit is open. Other tasks wait for the next start.
   */
  #rejectHopeless(): boolean {
    const { isHopeless, policy } = this.#group.starts
    if (!isHopeless || policy.lastError === null) return false
    const now = this.#parts.clock.now()
    const kept: Task[] = []
    let hasRejected = false
    for (const task of this.takeWaiting()) {
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

  /** Removes the pinned tasks that the host has not sent yet. */
  *takePinned(): Generator<Task> {
    for (const task of this.pinned) {
      this.pinned.delete(task)
      yield task
    }
  }

  releaseQueue(): void {
    this.#parts.waker?.end()
    this.#keyPlaces.end()
    this.#pending.release()
  }
}

function isServing({ isReady, isLeaving }: Worker): boolean {
  return isReady && !isLeaving
}
