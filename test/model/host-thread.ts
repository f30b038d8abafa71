// The thread of the host: the real core of a pool, with workers of the model.

import { load } from '#atomics'
import type { Backend, LinkListener } from '../../src/host/backend/backend.js'
import { type Core, createCore } from '../../src/host/engine/core.js'
import { HandlerTasks } from '../../src/host/metrics/handler-tasks.js'
import { type CoreSettings, resolveOptions } from '../../src/host/options/settings.js'
import { FifoQueue } from '../../src/host/queue/fifo-queue.js'
import type { Task } from '../../src/host/task/task.js'
import { TaskCancelledError } from '../../src/shared/errors/pool-errors.js'
import { HOST, REST, wordsOf } from '../../src/shared/lane/layout.js'
import type { LaneOrder, ToHost, ToWorker } from '../../src/shared/messages/messages.js'
import { microtasks } from '../../src/shared/platform/microtask.js'
import { makeTask } from '../../src/testing/stand-ins.js'
import { beClockOfThread, ThreadClock } from './clock.js'
import type { Script, Self } from './history.js'
import type { Event, Message } from './operation.js'
import type { Plan, Request } from './plan.js'

export const ANSWER = 100
export const MOST_TIMERS_OF_HOST = 2

const defaults = resolveOptions({})

/** @param orders receives the order with which each worker starts */
export function hostThread(plan: Plan, orders: Map<number, LaneOrder>): Script {
  return self => new HostThread(self, plan, orders).run()
}

class HostThread {
  readonly #self: Self
  readonly #plan: Plan
  readonly #orders: Map<number, LaneOrder>
  readonly #clock: ThreadClock
  readonly #core: Core
  readonly #listeners: LinkListener[] = []
  readonly #tasks: Task[]
  readonly #requests: Request[][]
  /** Tasks whose payload was moved to a worker. */
  readonly #moved = new Set<number>()
  readonly #microtasks: (() => void)[] = []
  readonly #submitted = new Set<Task>()
  /** By task: answers the function that has submitted the task. */
  readonly #answers = new Map<number, () => void>()

  constructor(self: Self, plan: Plan, orders: Map<number, LaneOrder>) {
    microtasks.post = task => void this.#microtasks.push(task)
    self.onQuiet(() => this.#audit())
    this.#self = self
    this.#plan = plan
    this.#orders = orders
    this.#requests = [...plan.requests]
    this.#clock = new ThreadClock(plan.busyWaits ? 1 : 0, MOST_TIMERS_OF_HOST)
    beClockOfThread(this.#clock)
    this.#core = createCore({
      settings: settingsFor(plan),
      backend: this.#backend,
      clock: this.#clock,
      identity: { id: 1, label: 'model' },
      durationMetrics: null,
      handlerTasks: new HandlerTasks(),
      handlerMetrics: null,
      tickets: plan.workers * (plan.slots ?? 1) + (plan.ahead ?? 0),
      events: {
        onSettled: task => this.#core.posted.slots.lent.onSettled(task),
        onLeft() {},
        pendingTasks: () => 0,
        onNoneCancelled() {},
      },
      workerEvents: {
        onError() {},
        onUserMessage() {},
        onLog() {},
        onCreated() {},
        onDestroyed() {},
        onExited() {},
        onUnreportedDeath() {},
      },
    })
    this.#tasks = plan.tasks.map((_, index) => this.#makeTask(index + 1))
  }

  run(): void {
    const { group } = this.#core
    for (let count = 0; count < this.#plan.workers; count++) group.starts.spawn()
    for (const listener of this.#listeners) listener.onMessage({ kind: 'ready' })
    for (;;) {
      const own = this.#ownEvents()
      const event = this.#self.next([...own.keys()])
      if (event.kind === 'own') [...own.values()][event.index]!()
      else this.#onEvent(event)
      for (let task = this.#microtasks.shift(); task !== undefined; task = this.#microtasks.shift()) task()
    }
  }

  #ownEvents(): Map<string, () => void> {
    const { events } = this.#clock
    const requests = this.#requests[0]
    if (requests === undefined) return events
    return events.set(`carries out ${JSON.stringify(requests)}`, () => {
      this.#requests.shift()
      for (const request of requests) this.#carryOut(request)
    })
  }

  #carryOut(request: Request): void {
    const { cancelling, group } = this.#core
    if ('submit' in request) this.#submit(this.#tasks[request.submit - 1]!)
    else if ('cancel' in request) {
      const task = this.#tasks[request.cancel - 1]!
      if (task.state !== 'settled') cancelling.cancel(task, new TaskCancelledError('no more'))
    } else {
      const id = 'leave' in request ? request.leave : request.kill
      const worker = group.withId(id)
      if (worker === null) return
      if ('leave' in request) worker.leave('recycle')
      else void worker.kill('terminate')
    }
  }

  #submit(task: Task): void {
    this.#submitted.add(task)
    this.#core.posted.slots.lent.adopt(task)
    this.#core.pump.submit(task)
  }

  /** A task calls a function, which submits another task and answers when that one has settled. */
  #onCall(workerId: number, { ticket, taskId }: Extract<ToHost, { kind: 'from-task' }>): void {
    const { posted, pump, group } = this.#core
    const task = posted.at(ticket, taskId)
    if (task === null || task.state === 'settled') return
    const child = this.#tasks[this.#plan.tasks[taskId - 1]!.asksFor! - 1]!
    const lender = posted.slots.lend(task, workerId)
    this.#answers.set(child.id, () => {
      posted.slots.takeBack(task, lender)
      group
        .withId(workerId)
        ?.link.post({ kind: 'to-task', taskId, body: { kind: 'call-answer', callId: 0, value: 0 } })
    })
    posted.slots.lent.run(lender, () => this.#submit(child))
    pump.refill()
  }

  #onEvent(event: Exclude<Event, { kind: 'own' }>): void {
    if (event.kind === 'message') this.#onMessage(event.from, event.message)
    else this.#listeners[event.worker - 1]!.onExit(1, undefined)
  }

  /** Handles a report like the link to a process. */
  #onMessage(worker: number, message: Message): void {
    if (message !== 'bell' && message.kind === 'from-task') return this.#onCall(worker, message)
    if (message === 'bell' || message.kind !== 'report') {
      return this.#listeners[worker - 1]!.onMessage(message as ToHost)
    }
    const { tickets } = this.#core.posted
    const { report, ticket, taskId } = message
    if (report === 'started') tickets.startReported(ticket, taskId, worker, this.#clock.now())
    else tickets.markLoading(ticket, worker, report === 'loading')
  }

  #makeTask(id: number): Task {
    const { isExclusive = false, isMoved = false, isDeclined = false, key = null } = this.#plan.tasks[id - 1]!
    const settle = (outcome: string, value: number) => {
      this.#self.note({ kind: 'settled', task: id, outcome, value })
      const answer = this.#answers.get(id)
      if (answer !== undefined) this.#microtasks.push(answer)
    }
    return makeTask(id, {
      payload: isDeclined ? Declined.of(id) : id,
      isExclusive,
      key,
      transferList: isMoved ? [new ArrayBuffer(0)] : [],
      resolve: value => settle('fulfilled', value as number),
      reject: reason => settle((reason as Error).constructor.name, 0),
    })
  }

  get #backend(): Backend {
    return {
      start: (spec, listener) => {
        const worker = this.#listeners.push(listener)
        this.#orders.set(worker, spec.lane)
        this.#self.start(worker)
        return {
          kind: this.#plan.transport === 'pipe' ? 'process' : 'thread',
          thread: null,
          process: null,
          threadId: worker,
          post: message => this.#post(worker, message),
          terminate: () => this.#self.kill(worker),
        }
      },
    }
  }

  #post(worker: number, message: ToWorker): void {
    if (message !== 'bell' && message.kind === 'run') this.#refuseUnsendable(message.taskId)
    // A worker that is asked to exit may end at any step.
    if (message !== 'bell' && message.kind === 'exit') return this.#self.kill(worker)
    this.#self.post(worker, message)
  }

  /** Throws the error of a port for a payload that was moved before or cannot be sent. */
  #refuseUnsendable(taskId: number): void {
    const { isMoved = false, isUnsendable = false } = this.#plan.tasks[taskId - 1]!
    if (isUnsendable) throw new Error(`the payload of task ${taskId} cannot be sent`)
    if (isMoved && this.#moved.has(taskId)) {
      throw new Error(`the payload of task ${taskId} was moved before`)
    }
    this.#moved.add(taskId)
  }

  /** Called when no thread can take another step. */
  #audit(): string[] {
    const { posted, group } = this.#core
    const wrong: string[] = []
    // A function that was never called has submitted no task.
    for (const { id, state } of this.#submitted)
      if (state !== 'settled') wrong.push(`task ${id} stays ${state}`)
    if (wrong.length > 0) return wrong
    const { unclaimed } = posted.queue
    if (unclaimed !== 0) wrong.push(`the host counts ${unclaimed} offered tickets, expected 0`)
    if (posted.slots.used !== 0)
      wrong.push(`the host counts ${posted.slots.used} slots of posted tasks, expected 0`)
    for (const worker of group.workers) {
      const held = posted.heldBy(worker.id).length
      if (held > 0) wrong.push(`worker ${worker.id} keeps ${held} tickets`)
      if (worker.isLeaving) wrong.push(`worker ${worker.id} leaves and never ends`)
      if (!worker.isIdle) wrong.push(`worker ${worker.id} has a usage of ${worker.usage}, expected 0`)
    }
    const { inFlight, unplaced, occupied } = posted.slots
    if (inFlight + unplaced + occupied > 0) {
      wrong.push(
        `the host counts ${inFlight} tasks in flight, ${unplaced} queued tasks and ${occupied} taken slots, expected 0`,
      )
    }
    if (this.#plan.transport === undefined) wrong.push(...this.#sleepless())
    return wrong
  }

  #sleepless(): string[] {
    const { posted, group } = this.#core
    const wrong: string[] = []
    for (const { id } of group.workers) {
      const state = wordsOf(this.#orders.get(id)!.state)
      if (load(state, REST) === 0)
        wrong.push(`worker ${id} sleeps, but its shared state says that it is awake`)
    }
    if (load(wordsOf(posted.layout.memory), HOST) === 0) {
      wrong.push('the host sleeps, but the lane says that it is awake')
    }
    return wrong
  }
}

/** The codec declines instances of classes. A clone is an array, whose number is the same. */
class Declined extends Array<number> {}

function settingsFor(plan: Plan): CoreSettings {
  const { workers, slots = 1, busyWaits = false, retires = false, graceMs = 0, transport } = plan
  return {
    ...defaults,
    handler: { filename: '/handler.js', name: 'default' },
    size: { minWorkers: retires ? 1 : workers, maxWorkers: workers },
    idleTimeout: retires ? 0 : Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: slots,
    spinCores: busyWaits ? workers + 1 : 0,
    cores: workers + 1,
    cancelGrace: graceMs,
    queue: new FifoQueue(),
    transport: transport === undefined ? 'shared-memory' : 'messages',
    backend: transport === 'pipe' ? 'process' : 'thread',
  }
}
