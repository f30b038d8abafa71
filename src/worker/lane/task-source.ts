// Gets the tasks of this worker. The worker claims tasks from the lane queue, and the host sends other tasks by
// message.
//
// The worker runs one task after another while tasks and free slots exist. It regularly lets its event loop turn.
// Without tasks it returns to the event loop: it never blocks to wait.
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { type Decoder, decodeWholeLarge } from '../../shared/codec/decoder.js'
import type { LargeMessage } from '../../shared/codec/format.js'
import type { ShapeReader } from '../../shared/codec/shapes.js'
import type { Carrier } from '../../shared/context/carried.js'
import { deserializeError } from '../../shared/errors/serialize-error.js'
import { HostBell, WorkerBell } from '../../shared/lane/doorbell.js'
import { InboxReader } from '../../shared/lane/inbox.js'
import { decoderFor, shapeReaderFor } from '../../shared/lane/lane-codec.js'
import {
  DISMISSED,
  EMPTY,
  HAS_CARRIER,
  IS_INT,
  IS_NAMED,
  IS_TIMED,
  type PostedLimits,
  type Posting,
  QueueReader,
} from '../../shared/lane/lane-queue.js'
import { carrierFrom, laneIn, workerStateIn } from '../../shared/lane/layout.js'
import { Tickets, type WorkerTickets } from '../../shared/lane/ticket.js'
import { WorkerLaneState } from '../../shared/lane/worker-state.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import {
  type HostPort,
  kindOf,
  type LaneOrder,
  type MessageToTasks,
  type PipedLaneOrder,
  type ToHost,
  type ToWorker,
} from '../../shared/messages/messages.js'
import { unpackMessage } from '../../shared/messages/unpack-message.js'
import { invariant } from '../../shared/platform/invariant.js'
import type { Timer } from '../../shared/platform/make-clock.js'
import { fromTimestamp32 } from '../../shared/platform/timestamp32.js'
import { workerClock } from '../run/clock.js'
import type { Executor } from '../run/executor.js'
import { LogSender } from '../run/log-sender.js'
import { RingWriter, WorkerAnswers } from './answers.js'
import { WorkerResources } from './resources.js'
import { Spin } from './spin.js'
import { WorkerTask } from './worker-task.js'

/**
 * Under steady load the event loop turns after this time, or after a task that takes longer. Timers and sockets of handlers wait as
 * long. In a turn, V8 may collect its new space early, and the next collection needs a second thread. So a shorter time makes handlers
 * slower that create many objects: `npm run bench -- --only real`.
 */
const YIELD_MS = 5

type RunMessage = Extract<ToWorker, { kind: 'run' }>

/** The parts that a worker needs to claim tasks from the lane queue. */
interface Queue {
  readonly reader: QueueReader
  readonly bell: WorkerBell
  readonly decoder: Decoder
}

export class TaskSource {
  readonly logs: LogSender
  readonly #port: HostPort
  readonly #workerId: number
  readonly #slots: number
  /** The time on the host's clock minus the time on this thread's clock. */
  readonly #toHostClock: number
  readonly #tickets: WorkerTickets
  /** `null` in a process, whose messages are packed. */
  #shapes: ShapeReader | null = null
  /** `null`: all tasks come by message. */
  readonly #queue: Queue | null
  /** `null` in another process. */
  readonly #state: WorkerLaneState | null
  readonly #answers: WorkerAnswers
  /** In another process: the number of `heard` messages. */
  #heard = 0
  readonly #executor: Executor
  readonly #spin: Spin
  readonly #known = new Map<number, HandlerRef>()
  readonly #resources = new WorkerResources()
  /** Unstarted tasks that came by message, in order. */
  readonly #inbox: RunMessage[] = []
  #isOpen = false
  /** The worker accepts no more tasks, except tasks that only this worker can run. */
  #isLeaving = false
  #isRunning = false
  /** Set while the event loop must turn before the next task. */
  #turn: Timer | null = null
  /** The time of the last known turn of the event loop. While `#turn` is set: the time when it was set. */
  #turnedAt = 0
  /** A task was started since the event loop last turned. */
  #hasRunTask = false
  readonly #onQuiet: () => void
  /** Passes a message of the host to its receiver. The life of the worker sets it. */
  receive: (message: ToWorker) => void = message => this.onMessage(message as MessageToTasks)
  /** A task that this worker starts although it is full, because a waiting task lends its slot to it. */
  readonly #hasLentSlot = ({ lenderId }: RunMessage) =>
    lenderId > 0 && this.#answers.openLink(lenderId)?.isWaiting === true
  readonly #hasWork = () => this.#queue?.reader.isEmpty === false || this.#isTaskOnItsWay

  /** @param onQuiet called when the last started task is answered */
  constructor(
    port: HostPort,
    order: LaneOrder | (PipedLaneOrder & { tickets: WorkerTickets }),
    executor: Executor,
    onQuiet: () => void = () => {},
  ) {
    const { workerId, slots, clockOrigin, handlers, resources, yieldsCore } = order
    this.#port = port
    this.logs = new LogSender(port, workerId)
    this.#workerId = workerId
    this.#slots = slots
    this.#toHostClock = workerClock.origin() - clockOrigin
    this.#executor = executor
    this.#onQuiet = onQuiet
    for (const { handlerId, handler } of handlers) this.#known.set(handlerId, handler)
    // The start order lives as long as the worker, and must not hold what was released.
    for (const known of resources.splice(0)) this.#resources.set(known)
    let writer: RingWriter | null = null
    if ('tickets' in order) {
      this.#tickets = order.tickets
      this.#state = null
      this.#queue = null
    } else {
      const lane = laneIn(order.memory)
      const state = workerStateIn(order.state)
      const bell = new WorkerBell(order.state)
      this.#tickets = new Tickets(lane)
      this.#state = new WorkerLaneState(state)
      this.#queue = order.usesLaneQueue
        ? {
            reader: new QueueReader(lane, workerId, bell, this.#state, new InboxReader(state)),
            bell,
            decoder: decoderFor(lane),
          }
        : null
      if (this.#queue !== null) this.#queue.decoder.valueOfHandle = id => this.#valueOfHandle(id)
      this.#shapes = this.#queue?.decoder.shapes ?? shapeReaderFor(lane)
      if (order.usesLaneQueue) writer = new RingWriter(state, new HostBell(lane), this.#state)
    }
    this.#answers = new WorkerAnswers(
      port,
      workerId,
      slots,
      this.#tickets,
      writer,
      this.logs,
      this.#toHostClock,
      () => this.#state?.heard ?? this.#heard,
      () => this.#onAnswered(),
      () => this.#run(),
    )
    this.#spin = new Spin(() => this.#state?.maySpin === true, yieldsCore)
  }

  /** Starts running tasks. */
  open(): void {
    this.#isOpen = true
    this.#turnedAt = workerClock.now()
    this.#run()
  }

  /** Stops claiming tasks, because the host replaces this worker. Started tasks finish. */
  leave(): void {
    this.#isLeaving = true
  }

  /** Starts the tasks that may start now. */
  resume(): void {
    this.#run()
  }

  /** Stops starting tasks. */
  stop(): void {
    this.#isOpen = false
  }

  /** For an inline worker, which cannot be killed. Stops starting tasks, and aborts the signals of running handlers. */
  close(): void {
    this.#isOpen = false
    this.#inbox.length = 0
    const { abortSignals, sent } = this.#answers
    for (const taskId of sent.keys()) {
      if (!abortSignals.isCancelled(taskId)) abortSignals.cancel(taskId, undefined)
    }
  }

  get isBusy(): boolean {
    return this.#answers.sent.size > 0
  }

  onMessage(message: MessageToTasks): void {
    if (message === 'bell') {
      // A bell arrives through the event loop, so the event loop has just turned.
      this.#turnedAt = workerClock.now()
      return this.#run()
    }
    switch (message.kind) {
      case 'run':
        this.#state?.noteReceived()
        this.#spin.onWork()
        if (!this.#readPayload(message)) {
          this.#say({ kind: 'unreadable' })
          return this.#run()
        }
        this.#inbox.push(message)
        return this.#run()
      case 'register-handler':
        this.#known.set(message.handlerId, message.handler)
        return
      case 'resource':
        return this.#resources.set(message)
      case 'cancel':
        return this.#cancel(message)
      case 'to-task':
        return this.#answers.openLink(message.taskId)?.onMessage(message.body)
      case 'heard':
        this.#heard++
        return
      case 'ping':
        return this.#say({ kind: 'pong' })
      case 'list-tasks':
        return this.#say({ kind: 'task-list', taskIds: this.#unansweredIds() })
    }
  }

  /** The payload of a message, with what its handles stand for. */
  withResources(payload: unknown): unknown {
    return this.#resources.replaceIn(payload)
  }

  onUnreadable(): void {
    this.#state?.noteReceived()
    this.#say({ kind: 'unreadable' })
    this.#run()
  }

  /** Only tasks that came by message; the host finds claimed tasks in shared memory. */
  #unansweredIds(): number[] {
    return [...this.#answers.sent.keys(), ...this.#inbox.map(({ taskId }) => taskId)]
  }

  /** A task was answered or ended, so a slot is free. */
  #onAnswered(): void {
    if (this.#answers.sent.size === 0) this.#onQuiet()
    this.#run()
  }

  /** Runs tasks until this worker finds none or the event loop must turn. */
  #run(): void {
    if (this.#isRunning || !this.#isOpen) return
    this.#isRunning = true
    this.#runAll()
    this.#isRunning = false
  }

  #runAll(): void {
    let now = workerClock.now()
    let mayClaim = this.#queue !== null && !this.#isLeaving && this.#queue.bell.wake()
    while (this.#isOpen) {
      // A full worker looks again when it answers a task, so it needs no bell.
      const held = this.#answers.claimed + this.#answers.sent.size
      const isFull = held - this.#answers.lentSlots >= this.#slots || this.#isExclusive
      if ((isFull && !this.#inbox.some(this.#hasLentSlot)) || this.#mustTurn(now)) return
      const message = isFull ? this.#nextBorrower() : this.#nextSent()
      if (message !== null) {
        this.#hasRunTask = true
        this.#startSent(message, now)
      } else {
        if (!mayClaim || this.#isLeaving) return this.#rest(held)
        const { reader } = this.#queue!
        const next = reader.claim(this.#answers.claimed)
        const isOnItsWay = next === EMPTY && this.#isTaskOnItsWay
        const ticket = isOnItsWay ? reader.claimFromInbox(this.#answers.claimed) : next
        if (ticket === DISMISSED) mayClaim = false
        else if (ticket !== EMPTY) {
          this.#spin.onWork()
          this.#hasRunTask = true
          this.#startClaimed(ticket, now)
        } else if (isOnItsWay && this.#isTaskOnItsWay) {
          return
        } else if (held > 0 || !this.#spin.waitFor(this.#hasWork)) {
          if (!this.#park(held)) return
        }
      }
      // The time of a synchronous handler's answer is the current time. Otherwise read the clock, which is slower.
      now = this.#answers.answeredAt > now ? this.#answers.answeredAt : workerClock.now()
    }
  }

  /** For a worker that can claim nothing. Busy-waits for a message if that is useful. */
  #rest(held: number): void {
    if (this.#queue === null && held === 0) this.#spin.waitFor(this.#hasWork)
  }

  /** Announces the worker's sleep. Returns true when work arrived meanwhile, so the worker must not sleep. */
  #park(held: number): boolean {
    const { bell, reader } = this.#queue!
    if (reader.hasLostClaim) {
      reader.hasLostClaim = false
      // The host may hold back a task because this worker seemed to have no free slot.
      this.#say('bell')
    }
    this.#answers.onIdle()
    if (!bell.park(held > 0)) return false
    // Look again after the announcement (pairs with post() and then ring()).
    if (reader.isEmpty && !this.#isTaskOnItsWay) return false
    return bell.wake()
  }

  get #isTaskOnItsWay(): boolean {
    return this.#state?.isTaskOnItsWay === true
  }

  /** Call it before each task. True when the event loop must turn first. */
  #mustTurn(now: number): boolean {
    if (!this.#hasRunTask || now - this.#turnedAt < YIELD_MS) return false
    if (this.#turn !== null) return true
    this.#turnedAt = now
    this.#turn = workerClock.nextTurn(() => {
      this.#turn = null
      this.#turnedAt = workerClock.now()
      this.#hasRunTask = false
      this.#run()
    })
    return false
  }

  /** The next task of the inbox that may start. `#startSent` drops tasks that the host has recalled. */
  #nextSent(): RunMessage | null {
    for (let message = this.#inbox.shift(); message !== undefined; message = this.#inbox.shift()) {
      // A leaving worker runs only tasks that no other worker can run. The host takes the others back.
      if (!this.#isLeaving || message.mustRun || this.#state === null) return message
    }
    return null
  }

  #nextBorrower(): RunMessage {
    return this.#inbox.splice(this.#inbox.findIndex(this.#hasLentSlot), 1)[0]!
  }

  /** A task that must run alone runs on this worker. */
  get #isExclusive(): boolean {
    if (this.#slots > 1) for (const task of this.#answers.sent.values()) if (task.isExclusive) return true
    return false
  }

  #startSent(message: RunMessage, now: number): void {
    const { ticket, messageNumber, taskId, handlerId, handler, isExclusive, payload } = message
    if (!this.#tickets.startAddressed(ticket, messageNumber, taskId, this.#workerId)) return
    this.#tickets.noteStart(ticket, now + this.#toHostClock)
    const task = new WorkerTask(
      taskId,
      ticket,
      handlerId,
      handler ?? this.#handlerOf(handlerId),
      this.withResources(payload),
      now,
      true,
      this.#answers,
    )
    task.isExclusive = isExclusive
    task.usesLentSlot = message.lenderId > 0
    if (message.carrier !== undefined) task.carried = message.carrier.payload as Carrier
    if (message.limits !== undefined) task.deadline = deadlineOf(message.limits, now, this.#toHostClock)
    this.#answers.onSentStarted(task)
    this.#executor.run(task)
  }

  #startClaimed(ticket: number, now: number): void {
    const { reader } = this.#queue!
    const posting = reader.read(ticket)
    this.#answers.onClaimed()
    // If the host took the task back, the ticket may belong to another task. The data is then wrong, and the start
    // fails.
    const decoded = this.#decode(ticket, posting)
    const limits = (posting.flags & IS_TIMED) === 0 ? null : reader.readLimits(ticket)
    if (decoded === null || !reader.tickets.start(ticket, this.#workerId)) return this.#answers.onTakenBack()
    if (limits !== null) reader.tickets.noteStart(ticket, now + this.#toHostClock)
    const { taskId, handlerId } = posting
    const handler = decoded.handler ?? this.#handlerOf(handlerId)
    const { payload, carried } = decoded
    const task = new WorkerTask(taskId, ticket, handlerId, handler, payload, now, false, this.#answers)
    task.carried = carried
    if (limits !== null) task.deadline = deadlineOf(limits, now, this.#toHostClock)
    this.#executor.run(task)
  }

  /** Returns `null` when the host took the task back, because the bytes may then belong to another task. */
  #decode(
    ticket: number,
    { flags, from, to, int }: Posting,
  ): { handler: HandlerRef | null; payload: unknown; carried: Carrier | null } | null {
    let carried: Carrier | null = null
    try {
      if ((flags & HAS_CARRIER) !== 0)
        carried = this.#queue!.decoder.decode(
          carrierFrom(to),
          this.#queue!.reader.readCarrierTo(ticket),
        ) as Carrier
      if ((flags & IS_INT) !== 0) return { handler: null, payload: int, carried }
      const payload = this.#queue!.decoder.decode(from, to)
      if ((flags & IS_NAMED) === 0) return { handler: null, payload, carried }
      const [handler, inner] = payload as [HandlerRef, unknown]
      return { handler, payload: inner, carried }
    } catch (failure) {
      if (this.#queue!.reader.isStillClaimed(ticket)) throw failure
      return null
    }
  }

  /**
   * The host sends `register-handler` before it posts the task. So the message is at the port if it is not yet read.
   */
  #handlerOf(handlerId: number): HandlerRef {
    for (;;) {
      const handler = this.#known.get(handlerId)
      if (handler !== undefined) return handler
      this.#readNextMessage()
    }
  }

  /** The host sends `resource` before it posts the task, too. */
  #valueOfHandle(id: number): unknown {
    while (!this.#resources.has(id)) this.#readNextMessage()
    return this.#resources.valueOf(id)
  }

  #readNextMessage(): void {
    const next = receiveMessageOnPort(this.#port as MessagePort)
    invariant(next !== undefined, 'workers know handlers and resources before a task names them by number')
    const message = next.message as ToWorker
    if (kindOf(message) === 'exit') process.exit()
    this.receive(message)
  }

  /** False when the payload cannot be read. */
  #readPayload(message: RunMessage): boolean {
    try {
      this.#unpack(message)
      if (message.carrier !== undefined) this.#unpack(message.carrier)
      return true
    } catch {
      return false
    }
  }

  #unpack(packed: Pick<RunMessage, 'payload' | 'payloadForm'>): void {
    const { payload, payloadForm } = packed
    if (payloadForm === 'value') return
    packed.payload =
      payloadForm === 'packed'
        ? (unpackMessage(payload as Uint8Array) as { payload: unknown }).payload
        : decodeWholeLarge(payload as LargeMessage, this.#shapes!, id => this.#valueOfHandle(id))
    packed.payloadForm = 'value'
  }

  #cancel({ ticket, taskId, reason }: Extract<ToWorker, { kind: 'cancel' }>): void {
    const { abortSignals, sent } = this.#answers
    if (sent.has(taskId)) this.#tickets.noteCancelled(ticket)
    const isRunning =
      sent.has(taskId) ||
      (this.#queue?.reader.read(ticket).taskId === taskId &&
        this.#tickets.isCancelling(ticket, this.#workerId))
    if (isRunning) return abortSignals.cancel(taskId, deserializeError(reason))
    // Only for a process. For other workers the host has already taken the task back.
    const place = this.#inbox.findIndex(message => message.taskId === taskId)
    if (place < 0) return
    this.#inbox.splice(place, 1)
    this.#say({ kind: 'task-ended', taskId, ticket })
  }

  #say(message: ToHost): void {
    this.#port.postMessage(message)
  }
}

/** The earliest limit, on this thread's clock. */
function deadlineOf({ timeoutMs, deadline }: PostedLimits, now: number, toHostClock: number): number {
  const timeoutAt = timeoutMs === 0 ? Number.POSITIVE_INFINITY : now + timeoutMs
  const onHost = fromTimestamp32(deadline, now + toHostClock)
  return onHost === null ? timeoutAt : Math.min(timeoutAt, onHost - toHostClock)
}
