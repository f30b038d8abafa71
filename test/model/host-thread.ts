// The host's thread: the real dispatcher, supervisor and lane road, with workers that the model plays.

import { load } from '#atomics'
import type { Backend, LinkListener } from '../../src/host/backend/backend.js'
import { Dispatcher } from '../../src/host/dispatch/dispatcher.js'
import { HandlerTable } from '../../src/host/dispatch/handler-table.js'
import { FifoQueue } from '../../src/host/queue/fifo-queue.js'
import { Settler } from '../../src/host/task/settle.js'
import type { Task } from '../../src/host/task/task.js'
import { LaneDesk } from '../../src/host/workers/lane-desk.js'
import { LaneTasks } from '../../src/host/workers/lane-tasks.js'
import { Supervisor } from '../../src/host/workers/supervisor.js'
import { lifeDefaults } from '../../src/host/workers/worker-limits.js'
import { TaskCancelledError } from '../../src/shared/errors/pool-errors.js'
import { ErrorClasses } from '../../src/shared/errors/serialize-error.js'
import { HOST, REST, wordsOf } from '../../src/shared/lane/layout.js'
import type { RoadOrder } from '../../src/shared/messages/messages.js'
import { microtasks } from '../../src/shared/platform/microtask.js'
import { makeTask } from '../../src/testing/stand-ins.js'
import { ThreadClock } from './clock.js'
import type { Script, Self } from './history.js'
import type { Event } from './operation.js'
import type { Plan, Wish } from './plan.js'

export type LaneOrder = Extract<RoadOrder, { kind: 'lane' }>
export const ANSWER = 100
export const MOST_TIMERS_OF_HOST = 2

/** @param orders is told what each worker is started with */
export function hostThread(plan: Plan, orders: Map<number, LaneOrder>): Script {
  return self => new HostThread(self, plan, orders).run()
}

class HostThread {
  readonly #self: Self
  readonly #plan: Plan
  readonly #orders: Map<number, LaneOrder>
  readonly #clock: ThreadClock
  readonly #lane: LaneTasks
  readonly #supervisor: Supervisor
  readonly #dispatcher: Dispatcher
  readonly #listeners: LinkListener[] = []
  readonly #tasks: Task[]
  readonly #wishes: Wish[][]
  /** Tasks whose payload was posted. */
  readonly #given = new Set<number>()
  readonly #microtasks: (() => void)[] = []

  constructor(self: Self, plan: Plan, orders: Map<number, LaneOrder>) {
    const { workers, slots = 1, ahead = 0, looksOut = false, retires = false } = plan
    microtasks.post = task => void this.#microtasks.push(task)
    self.onQuiet(() => this.#audit())
    this.#self = self
    this.#plan = plan
    this.#orders = orders
    this.#wishes = [...plan.wishes]
    this.#clock = new ThreadClock(looksOut ? 1 : 0, MOST_TIMERS_OF_HOST)
    this.#lane = new LaneTasks(workers * slots, ahead)
    const handlers = new HandlerTable()
    this.#tasks = plan.tasks.map((_, index) => this.#makeTask(index + 1))
    for (const { filename, name } of this.#tasks) {
      const handlerId = handlers.idOf({ filename, name })
      if (this.#lane.handlers.length === 0)
        this.#lane.handlers.push({ handlerId, handler: { filename, name } })
    }
    const errorClasses = new ErrorClasses()
    const settings = {
      ...lifeDefaults,
      size: { minWorkers: retires ? 1 : workers, maxWorkers: workers },
      idleTimeout: retires ? 0 : Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: slots,
      workerHistogram: false,
      niceIncrement: 0,
      recordTiming: false,
      preload: null,
      workerOptions: {},
      spinCores: looksOut ? workers + 1 : 0,
      errorClasses,
      makeHolding: (workerId: number) => new LaneDesk(workerId, slots, this.#lane),
    }
    this.#supervisor = new Supervisor(settings, this.#backend, this.#clock, {
      onReady: worker => this.#dispatcher.onReady(worker),
      onMessage: (worker, message) => this.#dispatcher.onMessage(worker, message),
      onUnreadable: worker => this.#dispatcher.onUnreadable(worker),
      onGivenUp: (worker, error) => this.#dispatcher.onGivenUp(worker, error),
      onGone: worker => this.#dispatcher.onGone(worker),
      onLeaving: worker => this.#dispatcher.onLeaving(worker),
      onTrouble() {},
      onLost: (worker, death) => void this.#dispatcher.onLost(worker, death),
      onPauseOver: () => void this.#dispatcher.pump(),
      onUserMessage() {},
      onCreated() {},
      onDestroyed() {},
    })
    this.#dispatcher = new Dispatcher({
      clock: this.#clock,
      supervisor: this.#supervisor,
      settler: new Settler({ onSettled() {} }),
      timings: null,
      handlerMetrics: null,
      queue: new FifoQueue(),
      loadBalancer: null,
      handlers,
      errorClasses,
      lane: this.#lane,
      decodeSliceMs: 5,
      slotsPerWorker: slots,
      canTakeBack: true,
      cancelGraceMs: plan.graceMs ?? 0,
      onCondemnedGone() {},
      onLeft() {},
      onQueueFailure(failure) {
        throw failure
      },
    })
  }

  run(): void {
    for (let count = 0; count < this.#plan.workers; count++) this.#supervisor.spawn()
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
    const wishes = this.#wishes[0]
    if (wishes === undefined) return events
    return events.set(`it is asked: ${JSON.stringify(wishes)}`, () => {
      this.#wishes.shift()
      for (const wish of wishes) this.#grant(wish)
    })
  }

  #grant(wish: Wish): void {
    if ('submit' in wish) this.#dispatcher.submit(this.#tasks[wish.submit - 1]!)
    else if ('cancel' in wish) {
      const task = this.#tasks[wish.cancel - 1]!
      if (task.state !== 'settled') this.#dispatcher.cancel(task, new TaskCancelledError('no more'))
    } else {
      const worker = this.#supervisor.workers.find(({ id }) => id === wish.giveUp)
      if (worker !== undefined) void this.#supervisor.giveUp(worker)
    }
  }

  #onEvent(event: Exclude<Event, { kind: 'own' }>): void {
    if (event.kind === 'message') this.#listeners[event.from - 1]!.onMessage(event.message as never)
    else this.#listeners[event.worker - 1]!.onExit(1, undefined)
  }

  #makeTask(id: number): Task {
    const { isAlone = false, isMoved = false } = this.#plan.tasks[id - 1]!
    const settle = (outcome: string, value: number) =>
      this.#self.note({ kind: 'settled', task: id, outcome, value })
    return makeTask(id, {
      payload: id,
      isExclusive: isAlone,
      transferList: isMoved ? [new ArrayBuffer(0)] : [],
      resolve: value => settle('fulfilled', value as number),
      reject: reason => settle((reason as Error).constructor.name, 0),
    })
  }

  get #backend(): Backend {
    return {
      start: (spec, listener) => {
        const worker = this.#listeners.push(listener)
        this.#orders.set(worker, spec.road as LaneOrder)
        this.#self.start(worker)
        return {
          kind: 'thread',
          thread: {} as never,
          process: null,
          threadId: worker,
          post: message => {
            if (message !== 'bell' && message.kind === 'run') this.#giveAway(message.taskId)
            this.#self.post(worker, message)
          },
          terminate: () => this.#self.kill(worker),
        }
      },
    }
  }

  /** As a port would refuse what was transferred before. */
  #giveAway(taskId: number): void {
    const { isMoved = false } = this.#plan.tasks[taskId - 1]!
    if (isMoved && this.#given.has(taskId))
      throw new Error(`the payload of task ${taskId} was given away before`)
    this.#given.add(taskId)
  }

  /** Called when nothing goes on any more. */
  #audit(): string[] {
    const { lane, layout } = this.#lane
    const wrong: string[] = []
    for (const { id, state } of this.#tasks)
      if (state !== 'settled') wrong.push(`task ${id} is ${state} for ever`)
    if (wrong.length > 0) return wrong
    if (lane.unclaimed !== 0) wrong.push(`the host counts ${lane.unclaimed} tickets on offer; there is none`)
    for (const worker of this.#supervisor.workers) {
      const held = this.#lane.heldBy(worker.id).length
      if (held > 0) wrong.push(`worker ${worker.id} has ${held} tickets for ever`)
    }
    const { inFlight, waiting, occupied } = this.#dispatcher
    if (inFlight + waiting + occupied > 0) {
      wrong.push(`the host counts ${inFlight} in flight, ${waiting} waiting, ${occupied} slots taken`)
    }
    for (const worker of this.#supervisor.workers) {
      if (!worker.isIdle) wrong.push(`worker ${worker.id} says that it holds ${worker.usage}`)
      const desk = wordsOf(this.#orders.get(worker.id)!.desk)
      if (load(desk, REST) === 0) wrong.push(`worker ${worker.id} sleeps, but says that it is awake`)
    }
    if (load(wordsOf(layout.memory), HOST) === 0) wrong.push('the host sleeps, but says that it is awake')
    return wrong
  }
}
