// A run: a real pool on a manual clock, and simulated threads. A random number decides who makes the next move.

import type { RunOptions } from '../../src/api/call-options.js'
import type { PoolEvents } from '../../src/api/events.js'
import type { LinkListener, WorkerSpec } from '../../src/host/backend/backend.js'
import { Pool } from '../../src/host/pool.js'
import { realClock as hostClock } from '../../src/shared/platform/clock.js'
import { interruption } from '../../src/testing/interrupted-atomics.js'
import { ManualClock } from '../../src/testing/manual-clock.js'
import { seededRandom } from '../../src/testing/stand-ins.js'
import { workerClock } from '../../src/worker/run/clock.js'
import { type Call, groupOf, mayUseKey } from './call.js'
import type { Random } from './draw.js'
import { callers, exchangeOptions, readChunks } from './exchange.js'
import { newSpace, stage } from './machine.js'
import { toPoolOptions, toRetryOptions } from './options.js'
import { makePayload } from './payload.js'
import type { Programme } from './programme.js'
import { Renewals } from './renewals.js'
import { Rules } from './rules.js'
import { type Move, SimulatedThread } from './thread.js'
import { nextTurn } from './turn.js'
import { act, type Event, type Killing, type Submission } from './vocabulary.js'

export type Ending = 'close' | 'force' | 'destroy'

export interface Close {
  how: Ending
  at: number
  report: unknown
}

export interface Waiter {
  state: 'waiting' | 'resolved' | 'rejected'
  reason: unknown
  controller: AbortController | null
}

/** The host is interrupted once in this number of accesses to shared words. */
const INTERRUPTED = 8

/** How long a turn of the host's event loop takes. */
const TURN_MS = 0.1

export class World {
  readonly programme: Programme
  readonly clock = new ManualClock()
  readonly random: Random
  readonly threads: SimulatedThread[] = []
  readonly calls: Call[] = []
  readonly closes: Close[] = []
  readonly waiters: Waiter[] = []
  readonly pool: Pool
  readonly rules: Rules
  readonly renewals = new Renewals(this)
  /** A text for each event, or `null` when the run is not traced. */
  readonly trace: string[] | null
  /** The events of the programme are over, and every start and every handler may finish. */
  isCalm = false
  /** Failed starts, and workers that died before they started a task. */
  failedStarts = 0
  deaths = 0
  wrong: string | null = null
  #shared: AbortController | null = null
  readonly #controllers: AbortController[] = []
  /** The rules check the pool. No thread may move meanwhile. */
  #isLooking = false
  readonly #moves: [SimulatedThread, Move][] = []

  constructor(programme: Programme, isTraced: boolean) {
    this.programme = programme
    this.trace = isTraced ? [] : null
    this.random = seededRandom(programme.seed ^ 0x5eed)
    actAsMachine(this)
    this.pool = new Pool(toPoolOptions(programme.options), {
      clock: this.clock,
      backend: { start: (spec, listener) => this.#start(spec, listener) },
      decodeSliceMs: programme.options.decodeSliceMs,
    })
    // Without a listener the pool reports deaths to stderr.
    this.pool.on('error', () => {})
    this.rules = new Rules(this)
  }

  get controllers(): readonly AbortController[] {
    return this.#controllers
  }

  /** Only the first problem counts, because later problems may follow from it. */
  fail(what: string): void {
    this.wrong ??= what
    this.note(`WRONG: ${what}`)
  }

  note(what: string): void {
    this.trace?.push(what)
  }

  // The actions of the programme.

  /** The promise resolves when the call has settled. */
  submit(submission: Submission): Promise<void> {
    const { pool } = this
    const { payload, signal, handler, priority, retry, inGetter, whenSettled } = submission
    const parent = callers.getStore() ?? null
    const controller =
      signal === 'none' ? null : signal === 'own' ? this.#newController() : this.#sharedController()
    const call: Call = {
      id: this.calls.length + 1,
      parent,
      key: mayUseKey(submission.key, parent) ? submission.key : 'none',
      payload,
      fate: submission.fate,
      death: submission.death,
      isQuick: submission.isQuick,
      isExclusive: submission.isExclusive,
      limit: submission.limit,
      handler,
      exchange: submission.exchange,
      retry:
        submission.fate === 'streams' || payload === 'transferred' || payload === 'unreadable' ? null : retry,
      controller,
      wasAbortedBefore: controller?.signal.aborted === true,
      metFullQueue: this.#isQueueFull(),
      state: 'pending',
      value: undefined,
      startedBy: [],
      wasLoading: false,
      hasReacted: false,
      reported: 0,
      heard: 0,
      openLookUps: [],
      takenChunks: 0,
      wasCancelled: false,
      answer: null,
    }
    this.calls.push(call)
    if (this.trace !== null)
      this.note(
        `run ${call.id}: ${payload}, ${call.fate}${call.retry === null ? '' : `, retry ${describe(call.retry)}`}${controller === null ? '' : `, signal ${signal}`}, ${handler}, key ${call.key}`,
      )
    const made = makePayload(call, () => this.react(inGetter))
    const options: RunOptions = { priority, exclusive: call.isExclusive, ...exchangeOptions(this, call) }
    if (call.limit === 'deadline') options.deadline = this.clock.epochNow() + 20
    else if (call.limit !== 'none') options[call.limit] = 20
    if (this.programme.options.queue === 'groups') options.group = groupOf(call)
    if (call.key !== 'none') options.key = call.key
    if (call.key === 'loose') options.keyOrder = 'none'
    if (call.retry !== null) options.retry = toRetryOptions(call.retry)
    if (controller !== null) options.signal = controller.signal
    if (handler !== 'default') options.name = handler
    if (made.transferList !== null) options.transferList = made.transferList
    const settle = (state: 'fulfilled' | 'rejected') => (value: unknown) => {
      call.state = state
      call.value = value
      if (this.trace !== null) this.note(`  ${call.id} is ${state}: ${describe(value)}`)
      this.rules.onSettled(call)
      this.react(whenSettled)
    }
    const { highWaterMark } = call.exchange
    const answer =
      call.fate === 'streams'
        ? readChunks(this, call, pool.stream(made.payload, { ...options, highWaterMark }))
        : pool.run(made.payload, options)
    const settled = answer.then(settle('fulfilled'), settle('rejected'))
    // A worker may have moved in the middle of the call.
    call.metFullQueue ||= this.#isQueueFull()
    return settled
  }

  #isQueueFull(): boolean {
    const { pool } = this
    return this.look(() => pool.queueSize >= pool.maxQueue || pool.queueSize >= 4)
  }

  abort(which: number): void {
    const controller = this.#controllers[which % this.#controllers.length]
    if (controller === undefined) return
    const calls = this.calls.filter(call => call.controller === controller)
    this.note(`abort ${calls.map(({ id }) => id)}`)
    controller.abort(`reason ${which}`)
    for (const call of calls) call.wasCancelled = true
  }

  kill({ who, which, after, death }: Killing): void {
    const able = this.threads.filter(thread => thread.life !== 'dead' && isSuch(thread, who))
    const thread = able[which % able.length]
    if (thread === undefined) return
    this.note(`worker ${thread.number} dies after ${after} accesses, with ${death.with}`)
    thread.dieAfter(after, death)
  }

  terminateWorker(which: number): void {
    const { workers } = this.pool
    const worker = workers[which % workers.length]
    if (worker === undefined) return
    this.note(`terminate worker ${worker.id}`)
    void worker.terminate()
  }

  wait(milliseconds: number): void {
    this.#waitUntil = this.clock.now() + milliseconds
  }

  awaitRoom({ hasSignal, submits }: { hasSignal: boolean; submits: boolean }): void {
    const controller = hasSignal ? this.#newController() : null
    const waiter: Waiter = { state: 'waiting', reason: undefined, controller }
    this.waiters.push(waiter)
    this.note('await room')
    this.pool.room(controller === null ? {} : { signal: controller.signal }).then(
      () => {
        waiter.state = 'resolved'
        if (submits) void this.submit(plainSubmission)
      },
      reason => {
        waiter.state = 'rejected'
        waiter.reason = reason
      },
    )
  }

  listen(name: keyof PoolEvents, reaction: Event | null): void {
    this.note(`listen to ${name}`)
    this.pool.once(name as 'drain', () => this.react(reaction))
  }

  close(how: Ending): void {
    const { pool } = this
    const close: Close = { how, at: this.clock.now(), report: null }
    this.closes.push(close)
    this.note(how)
    const done = how === 'destroy' ? pool.destroy() : pool.close({ force: how === 'force' })
    done.then(
      report => {
        close.report = report ?? 'done'
        this.note(`${how} is done`)
      },
      problem => this.fail(`${how} rejects with ${describe(problem)}`),
    )
  }

  /** Resolves in the next turn of the host's event loop. */
  nextTurn(): Promise<void> {
    return new Promise(resolve => {
      this.clock.nextTurn(resolve)
    })
  }

  /** The tasks that the pool counts as cancelled. */
  get cancelledTasks(): number {
    return this.look(() => this.pool.stats().tasks.cancelled)
  }

  react(event: Event | null): void {
    if (event === null || this.isCalm) return
    this.note(`  in the pool's own work: ${event.word}`)
    act(this, event)
  }

  // The choice of the next move.

  async play(): Promise<void> {
    await this.#turn()
    for (const { event, isStacked, moves } of this.programme.events) {
      this.#attempt(() => act(this, event))
      if (isStacked) continue
      await this.#turn()
      if (event.word === 'wait') await this.#passTime()
      for (let count = 0; count < moves; count++) await this.#move()
      if (this.wrong !== null) return
    }
    await this.#turn()
  }

  /** Makes moves and lets time pass until `isOver` returns true, or until nothing can happen any more. */
  async calmDown(isOver: () => boolean): Promise<void> {
    this.isCalm = true
    for (const thread of this.threads) thread.deathIn = -1
    await this.#turn()
    for (let rounds = 0; rounds < 400 && this.wrong === null; rounds++) {
      for (let moves = 0; await this.#move(); moves++) {
        if (this.wrong !== null) return
        if (moves > 5000) return this.fail('the moves never end')
      }
      if (isOver()) return
      const next = this.#nextAlarm()
      if (next === Number.POSITIVE_INFINITY) return
      this.#waitUntil = next
      await this.#passTime()
    }
  }

  async advance(milliseconds: number): Promise<void> {
    this.wait(milliseconds)
    await this.#passTime()
    while (await this.#move()) if (this.wrong !== null) return
  }

  look<Seen>(see: () => Seen): Seen {
    const before = this.#isLooking
    this.#isLooking = true
    try {
      return see()
    } finally {
      this.#isLooking = before
    }
  }

  /** A worker starts a payload. Returns its call, or `null` for an unknown payload. */
  onStarted(thread: SimulatedThread, payload: unknown): Call | null {
    const id = typeof payload === 'number' ? payload : (payload as { id: number } | null)?.id
    const call = this.calls[(id ?? 0) - 1]
    if (call === undefined) {
      this.fail(`worker ${thread.number} starts an unknown payload: ${describe(payload)}`)
      return null
    }
    if (this.trace !== null) this.note(`  worker ${thread.number} starts call ${call.id}`)
    this.rules.onStarted(thread, call)
    call.startedBy.push(thread)
    call.answer = null
    call.reported = call.heard = 0
    return call
  }

  onDeath(thread: SimulatedThread): void {
    this.deaths++
    if (thread.startedTasks === 0) this.failedStarts++
    if (this.trace !== null) this.note(`  worker ${thread.number} is dead`)
  }

  #waitUntil = 0

  /** Makes a random move of the host or of a worker. Returns false when no move is possible. */
  async #move(): Promise<boolean> {
    const moves = this.#moves
    moves.length = 0
    for (const thread of this.threads) thread.moves(this.isCalm, moves)
    const turns = this.clock.awaitsTurn ? 1 : 0
    if (moves.length + turns === 0) return false
    const chosen = this.random(moves.length + turns)
    if (chosen === moves.length) {
      this.note("the host's event loop turns")
      this.#attempt(() => {
        this.clock.advance(TURN_MS)
        this.clock.turn()
      })
      await this.#turn()
      return true
    }
    const [thread, move] = moves[chosen]!
    if (this.trace !== null) this.note(`worker ${thread.number}: ${move}`)
    this.#attempt(() => thread.make(move))
    if (move === 'arrive' || move === 'exit' || thread.isEnding) await this.#turn()
    return true
  }

  /** Runs all microtasks, then checks the rules. */
  async #turn(): Promise<void> {
    await nextTurn()
    if (this.wrong === null) this.look(() => this.rules.lookOn())
  }

  async #passTime(): Promise<void> {
    do {
      const until = Math.min(this.#nextAlarm(), this.#waitUntil)
      if (this.trace !== null) this.note(`${until - this.clock.now()} ms pass`)
      this.#attempt(() => this.clock.advance(Math.max(until - this.clock.now(), 0)))
      await this.#turn()
    } while (this.clock.now() < this.#waitUntil && this.wrong === null)
  }

  #nextAlarm(): number {
    let next = Number.POSITIVE_INFINITY
    for (const thread of this.threads) next = Math.min(next, thread.nextAlarm)
    // A timer that is due already is a possible move.
    if (next <= this.clock.now()) next = Number.POSITIVE_INFINITY
    const [delay] = this.clock.pending
    return delay === undefined ? next : Math.min(next, this.clock.now() + Math.max(delay, 0))
  }

  /** An error that the host throws here would be an uncaught exception. */
  #attempt(act: () => void): void {
    try {
      act()
    } catch (problem) {
      this.fail(`the host throws ${problem instanceof Error ? problem.stack : describe(problem)}`)
    }
  }

  /** Lets a worker move in the middle of the host's work. */
  interrupt(): void {
    if (stage.played !== null) return (stage.played as SimulatedThread).beforeAccess()
    if (this.#isLooking || this.threads.length === 0 || this.random(INTERRUPTED) > 0) return
    const moves: [SimulatedThread, Move][] = []
    for (const thread of this.threads) thread.ownMoves(this.isCalm, moves)
    if (moves.length === 0) return
    const [thread, move] = moves[this.random(moves.length)]!
    if (this.trace !== null) this.note(`  meanwhile worker ${thread.number}: ${move}`)
    thread.make(move)
  }

  #start(spec: WorkerSpec, listener: LinkListener): SimulatedThread {
    const start = this.programme.starts[this.#started] ?? 'fine'
    // The pool also numbers workers that cannot be started.
    const number = ++this.#started
    if (start === 'refused' && !this.isCalm) {
      this.failedStarts++
      this.note('  a worker cannot be started')
      throw new Error('no thread is available')
    }
    this.note(`  worker ${number} is started, ${start}`)
    const isCured = this.isCalm || start === 'refused'
    const thread = new SimulatedThread(this, number, isCured ? 'fine' : start, spec, listener)
    this.threads.push(thread)
    return thread
  }

  #started = 0

  #newController(): AbortController {
    const controller = new AbortController()
    this.#controllers.push(controller)
    return controller
  }

  #sharedController(): AbortController {
    this.#shared ??= this.#newController()
    return this.#shared
  }
}

export const plainSubmission: Submission = {
  payload: 'object',
  fate: 'object',
  death: { exitCode: 0, with: 'nothing' },
  isQuick: true,
  retry: null,
  handler: 'default',
  exchange: {
    reports: 1,
    lookUps: 1,
    lookUp: 'atOnce',
    nested: null,
    isHasty: false,
    highWaterMark: 1,
    isGrouped: false,
    stopsEarly: false,
    throws: false,
    inCallback: null,
  },
  priority: 0,
  signal: 'none',
  isExclusive: false,
  limit: 'none',
  inGetter: null,
  whenSettled: null,
  key: 'none',
}

function isSuch(thread: SimulatedThread, who: Killing['who']): boolean {
  if (who === 'any') return true
  if (who === 'retired') return thread.isKilled || thread.wasAskedToStop
  if (who === 'loading') return thread.life !== 'open'
  return thread.life === 'open' && thread.running.length > 0 === (who === 'running')
}

function actAsMachine(world: World): void {
  const thread = () => stage.played as SimulatedThread | null
  // The clocks of all threads have the origin of the simulation. The origins of real clocks would differ slightly.
  for (const clock of [hostClock, workerClock]) {
    clock.origin = () => 0
    clock.now = () => thread()?.now() ?? world.clock.now()
    clock.after = (delayMs, callback) => (thread() ?? world.clock).after(delayMs, callback)
    clock.nextTurn = callback => (thread() ?? world.clock).nextTurn(callback)
  }
  interruption.beforeAccess = () => world.interrupt()
  newSpace.usedBytes = 0
}

export function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
