// A worker without a thread: the real code of a worker on a real port. Its handlers behave as the fate of their call says. The
// simulation decides when the worker moves, when its files are loaded and when its handlers end, and may let it die in the middle of
// a move.
import { type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import type { TransferItem } from '../../src/api/call-options.js'
import type { LinkListener, WorkerLink, WorkerSpec } from '../../src/host/backend/backend.js'
import { serializeError } from '../../src/shared/errors/serialize-error.js'
import { kindOf, type ToHost, type ToWorker } from '../../src/shared/messages/messages.js'
import { move } from '../../src/shared/messages/move.js'
import type { Timer } from '../../src/shared/platform/clock.js'
import { TaskSource } from '../../src/worker/lane/task-source.js'
import type { WorkerTask } from '../../src/worker/lane/worker-task.js'
import type { Executor } from '../../src/worker/run/executor.js'
import { type Loader, type WorkerEnvironment, WorkerLife } from '../../src/worker/run/life.js'
import type { ExportNames, HandlerFunction } from '../../src/worker/run/module-loader.js'
import { answerTo, type Call, type Death, type Fate, fateOf, type HandlerName } from './call.js'
import { takeChannel } from './channel.js'
import { type HandlerSteps, stepsOf } from './handler-steps.js'
import { type Played, stage } from './machine.js'
import type { Start } from './programme.js'
import type { World } from './world.js'

export type Move =
  | 'start'
  | 'load'
  | 'receive'
  | 'turn'
  | 'timer'
  | 'work'
  /** The teardown is done, and the worker exits. */
  | 'teardown'
  /** A kill takes effect. */
  | 'end'
  /** A move of the host: a message of this worker arrives, or its exit event. */
  | 'arrive'
  | 'exit'

export interface Running {
  call: Call
  fate: Fate
  /** `null` for a handler that only answers. */
  steps: HandlerSteps | null
  task: WorkerTask
  handler: HandlerName
  /** Ends the load of the handler's file. `null`: the file is loaded. */
  onLoaded: (() => void) | null
  /** The handler has returned a promise, which the simulation settles. */
  promise: Settling | null
}

/** A promise that calls back at once when the simulation settles it. */
class Settling<Value = unknown> implements PromiseLike<Value> {
  resolve: (value: Value) => void = () => {}
  reject: (reason: unknown) => void = () => {}

  then(onFulfilled?: ((value: Value) => any) | null, onRejected?: ((reason: any) => any) | null): never {
    this.resolve = onFulfilled!
    this.reject = onRejected!
    return undefined as never
  }
}

interface Alarm {
  dueAt: number
  callback: () => void
}

class ThreadEnded extends Error {}

export class SimulatedThread implements WorkerLink, Played {
  readonly number: number
  readonly kind = 'thread'
  readonly process = null
  readonly thread: Worker
  readonly start: Start
  /** `dead`: the worker makes no more moves, but the host may not know of its death. */
  life: 'new' | 'loading' | 'open' | 'dead' = 'new'
  /** The host has received the exit event. */
  isGone = false
  /** The host has killed the worker. */
  isKilled = false
  wasAskedToStop = false
  /** The host has asked the worker to leave or to stop. */
  wasAskedToLeave = false
  /** The worker has confirmed that it takes no more tasks. */
  isLeaving = false
  /** The number of started tasks. */
  startedTasks = 0
  death: { exitCode: number; error: unknown } | null = null
  /** The number of accesses to shared words until the worker dies. Below 0: the worker does not die. */
  deathIn = -1
  readonly running: Running[] = []
  readonly #world: World
  readonly #spec: WorkerSpec
  readonly #listener: LinkListener
  readonly #hostEnd: MessagePort
  readonly #end: MessagePort
  #mailForWorker = 0
  #mailForHost = 0
  #deathToCome: Death = { exitCode: 1, with: 'nothing' }
  #onMessage: (message: ToWorker) => void = () => {}
  #onUnreadable: () => void = () => {}
  /** The load of the pool's file. */
  #preload: Settling<HandlerFunction | ExportNames> | null = null
  /** The task that the executor starts now. */
  #starting: Running | null = null
  #turn: (() => void)[] = []
  readonly #alarms = new Set<Alarm>()
  #brokenLoads = 0
  /** The worker has read the request to end. Its planned end runs in microtasks. */
  isEnding = false
  /** The worker may exit. */
  #mayExit = false
  /** The number of reads of the clock. Each read takes 0.03 ms. */
  #looks = 0

  constructor(world: World, number: number, start: Start, spec: WorkerSpec, listener: LinkListener) {
    this.#world = world
    this.number = number
    this.start = start
    this.#spec = spec
    this.#listener = listener
    this.thread = { threadId: number } as Worker
    const { host, worker } = takeChannel()
    this.#hostEnd = host
    this.#end = worker
    worker.postMessage = (message: ToHost, transfer?: readonly TransferItem[]) => {
      if (this.life === 'dead') throw new ThreadEnded()
      MessagePortPost.call(worker, message, transfer as TransferItem[])
      this.#mailForHost++
      if (message !== 'bell' && message.kind === 'from-task') this.#onMessageOfTask(message)
      if (kindOf(message) === 'leaving') this.isLeaving = true
    }
  }

  // Called by the host.

  get threadId(): number {
    return this.isGone ? -1 : this.number
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    this.#hostEnd.postMessage(message, transferList as TransferItem[])
    this.#mailForWorker++
    const kind = kindOf(message)
    if (kind === 'exit') this.wasAskedToStop = true
    if (kind === 'leave' || kind === 'stop') this.wasAskedToLeave = true
  }

  terminate(): void {
    this.isKilled = true
  }

  /** The worker belongs to the pool, as far as the host knows. */
  get isAlive(): boolean {
    return !this.isGone && !this.isKilled && !this.wasAskedToStop
  }

  // The side of the worker.

  /** Adds the moves that are possible now. */
  moves(isCalm: boolean, into: [SimulatedThread, Move][]): void {
    if (this.isGone) return
    if (this.#mailForHost > 0) into.push([this, 'arrive'])
    if (this.life === 'dead') {
      into.push([this, 'exit'])
      return
    }
    if (this.isKilled) into.push([this, 'end'])
    this.ownMoves(isCalm, into)
  }

  ownMoves(isCalm: boolean, into: [SimulatedThread, Move][]): void {
    const { life } = this
    if (life === 'dead') return
    if (life === 'new') {
      into.push([this, 'start'])
      return
    }
    const isStuck = life === 'loading' && this.start === 'blocks' && !isCalm
    if (this.#mailForWorker > 0 && !isStuck) into.push([this, 'receive'])
    if (life === 'loading') {
      if (!isStuck && (isCalm || this.start !== 'slow')) into.push([this, 'load'])
      return
    }
    if (this.#turn.length > 0) into.push([this, 'turn'])
    for (const alarm of this.#alarms) {
      if (alarm.dueAt > this.#world.clock.now()) continue
      into.push([this, 'timer'])
      break
    }
    if (this.running.some(running => mayGoOn(running, isCalm))) into.push([this, 'work'])
    if (this.#mayExit) into.push([this, 'teardown'])
  }

  /** The time at which the next timer of the worker is due. */
  get nextAlarm(): number {
    let next = Number.POSITIVE_INFINITY
    if (this.life === 'dead') return next
    for (const { dueAt } of this.#alarms) next = Math.min(next, dueAt)
    return next
  }

  make(move: Move): void {
    switch (move) {
      case 'arrive':
        return this.#arrive()
      case 'exit':
        return this.#tellEnd()
      case 'end':
        this.#die({ exitCode: 1, with: 'nothing' })
        return
      default:
        this.#play(() => this.#act(move))
    }
  }

  /** Lets the worker die after this number of accesses to shared words. */
  dieAfter(accesses: number, death: Death): void {
    if (this.life === 'dead') return
    this.#deathToCome = death
    if (accesses === 0) this.#die(death)
    else this.deathIn = accesses
  }

  /** Called before each access of this worker to a shared word. */
  beforeAccess(): void {
    if (this.life === 'dead') throw new ThreadEnded()
    if (this.deathIn > 0 && --this.deathIn === 0) {
      this.#die(this.#deathToCome)
      throw new ThreadEnded()
    }
  }

  exit(exitCode: number): never {
    this.#die({ exitCode, with: 'nothing' })
    throw new ThreadEnded()
  }

  now(): number {
    return this.#world.clock.now() + 0.03 * this.#looks++
  }

  after(delayMs: number, callback: () => void): Timer {
    const alarm: Alarm = { dueAt: this.#world.clock.now() + delayMs, callback }
    this.#alarms.add(alarm)
    return { cancel: () => this.#alarms.delete(alarm) }
  }

  nextTurn(callback: () => void): Timer {
    this.#turn.push(callback)
    return { cancel: () => (this.#turn = this.#turn.filter(other => other !== callback)) }
  }

  #play(act: () => void): void {
    const before = stage.played
    stage.played = this
    this.#looks = 0
    try {
      act()
    } catch (problem) {
      if (problem instanceof ThreadEnded) return
      this.#world.fail(`worker ${this.number} throws ${problem instanceof Error ? problem.stack : problem}`)
      if (this.life !== 'dead') this.#die({ exitCode: 1, with: 'error' })
    } finally {
      stage.played = before
    }
  }

  #act(move: Move): void {
    switch (move) {
      case 'start':
        return this.#startUp()
      case 'load':
        return this.#load()
      case 'receive':
        return this.#receive()
      case 'turn': {
        const due = this.#turn
        this.#turn = []
        for (const callback of due) callback()
        return
      }
      case 'timer':
        for (const alarm of this.#alarms) {
          if (alarm.dueAt > this.#world.clock.now()) continue
          this.#alarms.delete(alarm)
          return alarm.callback()
        }
        return
      case 'work': {
        const isCalm = this.#world.isCalm
        const able = this.running.filter(running => mayGoOn(running, isCalm))
        return this.#goOn(able[this.#world.random(able.length)]!)
      }
      case 'teardown':
        return this.exit(0)
    }
  }

  #startUp(): void {
    if (this.start === 'exits') return this.exit(3)
    const { lane, preload, preloadId, startCalls, limits, origin } = this.#spec
    const order = {
      niceIncrement: 0,
      setupTimeoutMs: 0,
      preload,
      preloadId,
      loading: [],
      startCalls,
      limits,
      measures: false,
      origin,
    }
    const life = new WorkerLife(order, this.#environment(lane))
    this.life = 'loading'
    life.begin()
  }

  #environment(lane: WorkerSpec['lane']): WorkerEnvironment {
    return {
      threadId: 1,
      work: null,
      port: {
        postMessage: (message, transferList) =>
          this.#end.postMessage(message, transferList as TransferItem[]),
        on: (event: string, listener: never) => {
          if (event === 'message') this.#onMessage = listener
          else this.#onUnreadable = listener
        },
      },
      makeLoader: () => this.#loader,
      makeSource: executor => new TaskSource(this.#end, lane, this.#watched(executor)),
      flush: () => undefined,
      cpuMs: () => null,
      onEnd() {},
      onCrash() {},
      settled: (promise, onFulfilled, onRejected) => void (promise as Settling).then(onFulfilled, onRejected),
      defer: callback => callback(),
      // The planned end is asynchronous, so it comes between two moves.
      end: exitCode => {
        if (stage.played === this) this.exit(exitCode ?? 0)
        this.#mayExit = true
      },
    }
  }

  readonly #loader: Loader = {
    load: () => {
      const settling = new Settling<HandlerFunction | ExportNames>()
      if (this.life === 'loading') this.#preload = settling
      else {
        const running = this.#starting!
        running.call.wasLoading = true
        running.onLoaded = () => this.#endLoad(running, settling)
      }
      return settling
    },
    hasFailedAgain: () => ++this.#brokenLoads >= 2,
    takeTeardowns: () => [],
  }

  #load(): void {
    const preload = this.#preload!
    if (this.start === 'fails') return preload.reject(new SyntaxError('the file does not load'))
    this.life = 'open'
    preload.resolve(() => this.#handle())
  }

  #receive(): void {
    this.#mailForWorker--
    const received = receiveMessageOnPort(this.#end)
    if (received === undefined) return
    const message = received.message as ToWorker
    if (message !== 'bell' && message.kind === 'to-task' && message.body.kind === 'call-answer') {
      const running = this.running.find(({ task }) => task.taskId === message.taskId)
      running?.steps?.onCallAnswer(message.body.callId)
    }
    const kind = kindOf(message)
    if (kind === 'stop' || kind === 'exit') this.isEnding = true
    if (message !== 'bell' && message.kind === 'run' && hasMark(message.payload)) this.#onUnreadable()
    else this.#onMessage(message)
  }

  /** The executor, with the record of the task that it starts. The simulation itself sends the chunks of streams. */
  #watched(executor: Executor): Executor {
    const run = (task: WorkerTask) => {
      const running = this.#noteStart(task)
      if (running === null) return
      this.#during(running, () => {
        if (running.fate !== 'streams') return executor.run(task)
        executor.limits?.onStart()
        this.#startStream(running)
      })
      if (running.onLoaded !== null && running.call.isQuick) this.#goOn(running)
    }
    return { run } as Executor
  }

  /** A handler that runs at once may let the executor start another task. */
  #during(running: Running, act: () => void): void {
    const before = this.#starting
    this.#starting = running
    try {
      act()
    } finally {
      this.#starting = before
    }
  }

  #noteStart(task: WorkerTask): Running | null {
    const call = this.#world.onStarted(this, task.payload)
    if (call === null) return null
    this.startedTasks++
    const handler = task.handler.name as HandlerName
    if (handler !== call.handler) {
      this.#world.fail(`call ${call.id} needs the handler ${call.handler}, but gets ${handler}`)
      return null
    }
    const isStream = task.handler.call === 'stream'
    if (isStream !== (call.fate === 'streams')) {
      this.#world.fail(`call ${call.id} gets a handler of the kind '${task.handler.call}'`)
      return null
    }
    const fate = fateOf(call)
    const steps = stepsOf(this.#world, call, fate, task)
    const running: Running = { call, fate, steps, task, handler, onLoaded: null, promise: null }
    this.running.push(running)
    return running
  }

  #startStream(running: Running): void {
    const { call, task, handler } = running
    call.wasLoading = true
    task.markLoading(true)
    running.onLoaded = () => {
      running.onLoaded = null
      task.markLoading(false)
      if (handler !== 'missing' && handler !== 'broken') return
      this.#leave(running)
      const reason = handler === 'missing' ? 'missing' : 'load'
      this.#note(call, reason)
      task.fail(reason, serializeError(new SyntaxError('does not load')), '')
    }
  }

  #endLoad(running: Running, settling: Settling<HandlerFunction | ExportNames>): void {
    const { call, handler, task } = running
    running.onLoaded = null
    if (handler === 'missing' || handler === 'broken') {
      this.#leave(running)
      this.#note(call, handler === 'missing' ? 'missing' : 'load')
      if (handler === 'missing') settling.resolve([])
      else settling.reject(new SyntaxError('does not load'))
      return
    }
    this.#during(running, () => settling.resolve(() => this.#handle()))
    // The task was cancelled while its file was loading.
    if (running.promise === null && task.state !== 'running' && this.running.includes(running))
      this.#leave(running)
  }

  /** The handler is called. It answers at once, or returns a promise. */
  #handle(): unknown {
    const running = this.#starting!
    const { call, steps, fate } = running
    if (call.isQuick && mayGoOn(running, false)) {
      const result = steps === null ? fate : steps.step()
      if (result !== null) return this.#answer(running, result)
    }
    running.promise = new Settling()
    return running.promise
  }

  #goOn(running: Running): void {
    const { call, fate, steps } = running
    if (running.onLoaded !== null) {
      running.onLoaded()
      if (fate !== 'streams' || !call.isQuick || !this.running.includes(running)) return
    }
    const result = steps === null ? (fate === 'late' ? 'int' : fate) : steps.step()
    if (result === null) return
    if (fate === 'streams') return this.#answerStream(running, result)
    let value: unknown
    try {
      value = this.#answer(running, result)
    } catch (thrown) {
      if (thrown instanceof ThreadEnded) throw thrown
      return running.promise!.reject(thrown)
    }
    running.promise!.resolve(value)
  }

  #onMessageOfTask({ taskId, body }: Extract<ToHost, { kind: 'from-task' }>): void {
    if (body.kind !== 'call') return
    this.running.find(({ task }) => task.taskId === taskId)?.steps?.onCall(body.callId)
  }

  #answerStream(running: Running, result: Fate | 'cancelled'): void {
    const { call, task } = running
    this.#leave(running)
    if (result === 'cancelled') return task.succeed(undefined)
    this.#note(call, result)
    if (result === 'throws') task.fail('thrown', serializeError(new RangeError(`thrown by ${call.id}`)), '')
    else task.succeed(undefined)
  }

  /** The result of a handler. Throws what the handler throws. */
  #answer(running: Running, fate: Fate | 'cancelled'): unknown {
    const { call } = running
    if (fate === 'dies') {
      this.#die(call.death)
      throw new ThreadEnded()
    }
    this.#leave(running)
    // The worker drops the answer of a cancelled task.
    if (fate === 'cancelled') return undefined
    this.#note(call, fate)
    switch (fate) {
      case 'int':
      case 'object':
      case 'sizable':
        return answerTo(call, fate)
      case 'moved':
        return moved(answerTo(call, 'moved') as { bytes: ArrayBuffer })
      case 'throws':
        throw new RangeError(`thrown by ${call.id}`)
      case 'uncloneable':
        return { answer: call.id, method() {} }
      case 'unreadable':
        return moved({ mark: UNREADABLE, bytes: new ArrayBuffer(1) })
    }
    return undefined
  }

  /** A killed worker may continue for some time. Its answer does not count when another worker has started the call again. */
  #note(call: Call, answer: NonNullable<Call['answer']>): void {
    if (call.startedBy[call.startedBy.length - 1] === this) call.answer = answer
  }

  #leave(running: Running): void {
    this.running.splice(this.running.indexOf(running), 1)
  }

  #arrive(): void {
    this.#mailForHost--
    const received = receiveMessageOnPort(this.#hostEnd)
    if (received === undefined) return
    const message = received.message as ToHost
    if (isUnreadable(message)) this.#listener.onUnreadable()
    else this.#listener.onMessage(message)
  }

  /** Like the link of a thread: the messages of the worker arrive before its exit event. */
  #tellEnd(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#hostEnd)
      if (received === undefined) break
      const message = received.message as ToHost
      // An unreadable message is skipped.
      if (!isUnreadable(message)) this.#listener.onMessage(message)
    }
    this.isGone = true
    this.#listener.onExit(this.death!.exitCode, this.death!.error)
  }

  #die({ exitCode, with: how }: Death): void {
    this.life = 'dead'
    this.#world.onDeath(this)
    this.death = { exitCode, error: errorOf(how) }
  }
}

const MessagePortPost = Object.getPrototypeOf(takeChannel().worker).postMessage as MessagePort['postMessage']

/** The receiver cannot read a value with this mark. */
export const UNREADABLE = 'cannot be read'

function isUnreadable(message: ToHost): boolean {
  return message !== 'bell' && message.kind === 'done' && hasMark(message.result)
}

function hasMark(value: unknown): boolean {
  return (value as { mark?: unknown } | null | undefined)?.mark === UNREADABLE
}

function moved<Value extends { bytes: ArrayBuffer }>(value: Value): Value {
  return move({
    [Symbol.for('Piscina.transferable')]: value.bytes,
    [Symbol.for('Piscina.valueOf')]: value,
  }) as unknown as Value
}

function mayGoOn({ fate, steps, onLoaded }: Running, isCalm: boolean): boolean {
  if (onLoaded !== null) return true
  if (steps !== null) return steps.mayGoOn
  return fate !== 'never' && (isCalm || fate !== 'late')
}

function errorOf(how: Death['with']): unknown {
  if (how === 'nothing') return undefined
  if (how === 'error') return new TypeError('thrown in a timer')
  return Object.assign(new Error('the heap limit'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
}
