// The rules for every step of every order. A rule returns a text that says what is wrong, or `null`.
import { laneIn, REST, STATE, TASK_ID, ticketAt } from '../../src/shared/lane/layout.js'
import { POSITION_MASK, readState, type TicketPhase } from '../../src/shared/lane/ticket.js'
import { ANSWER } from './host-thread.js'
import type { Message, Note } from './operation.js'
import type { Plan } from './plan.js'
import { ALIVE, type State, type StateRow } from './state.js'
import type { World } from './world.js'

const RETIRED = 3
/** The memory that belongs to no worker. */
const LANE = 0
/** A worker has the ticket, and no other task may use it. */
const heldPhases: TicketPhase[] = ['claimed', 'loading', 'started', 'cancelling']
const outcomes = ['fulfilled', 'TaskCancelledError', 'WorkerExitError', 'NotCloneableError']

export interface Rules {
  /** A word was changed. */
  onWrite(state: State, cell: number, before: number, after: number): string | null
  onPost(state: State, to: number, message: Message): string | null
  onNote(state: State, thread: number, note: Note): string | null
}

export class LaneRules implements Rules {
  readonly #world: World
  readonly #plan: Plan
  readonly #row: StateRow
  readonly #slots: number
  /** Workers are processes. */
  readonly #isPiped: boolean
  readonly #hasRing: boolean
  /** The cell of each ticket's state. */
  readonly #tickets: number[] = []
  /** The cell of each ticket's task. */
  readonly #taskIds: number[] = []
  /** Tasks may fail with their worker. */
  readonly #mayFail: boolean

  constructor(world: World, plan: Plan, row: StateRow) {
    const { deaths = 0, requests, slots = 1 } = plan
    this.#mayFail = deaths > 0 || requests.flat().some(request => !('submit' in request))
    this.#world = world
    this.#plan = plan
    this.#row = row
    this.#slots = slots
    this.#isPiped = plan.transport === 'pipe'
    this.#hasRing = plan.transport === undefined
    const layout = laneIn(world.lane)
    for (let ticket = 0; ticket < layout.tickets; ticket++) {
      this.#tickets.push(world.cellIn(0, ticketAt(layout, ticket) + STATE))
      this.#taskIds.push(world.cellIn(0, ticketAt(layout, ticket) + TASK_ID))
    }
  }

  onWrite(state: State, cell: number, before: number, after: number): string | null {
    const ticket = this.#tickets.indexOf(cell)
    if (ticket < 0) {
      this.#noteDismissal(state, cell, after)
      return null
    }
    const from = readState(before)
    const to = readState(after)
    const addressee = this.#row.addressee(ticket)
    const sentTo = state[addressee]!
    state[addressee] = 0
    switch (to.phase) {
      case 'offered':
      case 'addressed':
        return this.#findSecondTask(state, ticket, from)
      case 'claimed':
        if (from.phase !== 'offered') return `ticket ${ticket} is claimed although it is ${from.phase}`
        this.#noteClaim(state, ticket, to.owner)
        return this.#findEarlier(state, from.owner) ?? this.#findOvertaken(state, to.owner)
      case 'started':
        return this.#findFalseStart(state, ticket, from, to.owner, sentTo)
      case 'free':
        return ['offered', 'addressed', 'claimed'].includes(from.phase)
          ? null
          : `the host takes ticket ${ticket} back although it is ${from.phase}`
      default:
        return null
    }
  }

  onPost(state: State, to: number, message: Message): string | null {
    if (message === 'bell' || message.kind !== 'run') return null
    const { ticket, messageNumber, taskId, lenderId, isExclusive } = message
    const { phase, owner } = this.#stateOf(state, ticket)
    if (phase !== 'addressed' || owner !== messageNumber) {
      return `task ${taskId} is sent with ticket ${ticket}, which is ${phase}`
    }
    const held = this.#countHeld(state, to)
    if (lenderId === 0 && (held >= this.#slots || (isExclusive && held > 0))) {
      return `task ${taskId} is sent to worker ${to}, which has ${held} tasks`
    }
    for (const other of this.#tickets.keys()) {
      // The tasks in the queue are older. A task that gets a lent slot overtakes them.
      if (lenderId === 0 && this.#stateOf(state, other).phase === 'offered')
        return `task ${taskId} is sent while ticket ${other} is offered`
    }
    state[this.#row.addressee(ticket)] = to
    state[this.#row.overtaking]! &= ~(1 << to)
    return null
  }

  onNote(state: State, thread: number, note: Note): string | null {
    if (note.kind === 'finished') state[this.#row.finished]! |= 1 << note.task
    if (note.kind === 'started') {
      // The ticket changes first, unless the worker is a process.
      if (this.#isPiped) return this.#onStarted(state, thread, note.task)
      return state[this.#row.startedBy(note.task)] === thread
        ? null
        : `worker ${thread} runs task ${note.task}, which it has not started`
    }
    return note.kind === 'settled' ? this.#onSettled(state, note) : null
  }

  #onStarted(state: State, worker: number, task: number): string | null {
    const startedBy = this.#row.startedBy(task)
    if (state[startedBy] !== 0)
      return `worker ${worker} starts task ${task}, which worker ${state[startedBy]} has already started`
    // The host cannot take a task back from a process, and asks it to stop the task instead.
    if (state[this.#row.settledAs(task)] !== 0 && !this.#isPiped)
      return `task ${task} is started after it was settled`
    const others = this.#runningOn(state, worker).filter(other => !this.#waitsFor(other, task))
    state[startedBy] = worker
    if (others.length >= this.#slots) return `worker ${worker} runs more tasks than it has slots`
    const isAnyExclusive = [task, ...others].some(id => this.#plan.tasks[id - 1]!.isExclusive)
    return others.length > 0 && isAnyExclusive
      ? `worker ${worker} runs task ${task} beside task ${others}, although one of them is exclusive`
      : null
  }

  /** The task waits for the other one, or for a task that waits for the other one. */
  #waitsFor(task: number, other: number): boolean {
    const { asksFor } = this.#plan.tasks[task - 1]!
    return asksFor !== undefined && (asksFor === other || this.#waitsFor(asksFor, other))
  }

  /** Tasks whose handlers the worker has called and that have not finished. */
  #runningOn(state: State, worker: number): number[] {
    const running: number[] = []
    for (let task = 1; task <= this.#plan.tasks.length; task++) {
      const isFinished = (state[this.#row.finished]! & (1 << task)) !== 0
      if (state[this.#row.startedBy(task)] === worker && !isFinished) running.push(task)
    }
    return running
  }

  #onSettled(state: State, note: Extract<Note, { kind: 'settled' }>): string | null {
    const settledAs = this.#row.settledAs(note.task)
    if (state[settledAs] !== 0) return `task ${note.task} is settled twice`
    state[settledAs] = outcomes.indexOf(note.outcome) + 1
    return this.#findFalseOutcome(state, note, state[this.#row.startedBy(note.task)]!)
  }

  /** Notes the dismissal of a worker, because the word may change again. */
  #noteDismissal(state: State, cell: number, after: number): void {
    const { memory, index } = this.#world.cells[cell]!
    if (memory !== LANE && index === REST && after === RETIRED) state[this.#row.dismissed]! |= 1 << memory
  }

  #isDismissed(state: State, worker: number): boolean {
    return (state[this.#row.dismissed]! & (1 << worker)) !== 0
  }

  /** A dismissed worker must not start what it claims. */
  #noteClaim(state: State, ticket: number, worker: number): void {
    if (this.#isDismissed(state, worker)) state[this.#row.lateClaims]! |= 1 << ticket
    else state[this.#row.lateClaims]! &= ~(1 << ticket)
  }

  #findSecondTask(state: State, ticket: number, from: ReturnType<typeof readState>): string | null {
    // Without a ring, the host frees a ticket when the answer arrives as a message. The state of the ticket does not change.
    const isHeld = heldPhases.includes(from.phase) && this.#hasRing
    const isPosted = from.phase === 'offered' || from.phase === 'addressed'
    return isPosted || (isHeld && this.#isAtWork(state, from.owner))
      ? `two tasks have ticket ${ticket} at the same time`
      : null
  }

  #findFalseStart(
    state: State,
    ticket: number,
    from: ReturnType<typeof readState>,
    worker: number,
    sentTo: number,
  ): string | null {
    const task = state[this.#row.cell(this.#taskIds[ticket]!)]!
    switch (from.phase) {
      case 'addressed':
        if (this.#isPiped) return null
        state[this.#row.overtaking]! &= ~(1 << worker)
        return worker === sentTo
          ? this.#onStarted(state, worker, task)
          : `worker ${worker} starts ticket ${ticket}, which was sent to worker ${sentTo}`
      case 'claimed':
        return (state[this.#row.lateClaims]! & (1 << ticket)) === 0
          ? this.#onStarted(state, worker, task)
          : `worker ${worker} starts the task of ticket ${ticket}, which it claimed after its dismissal`
      case 'loading':
        return null
      default:
        return `ticket ${ticket} is started although it is ${from.phase}`
    }
  }

  /** The task that was posted first must be claimed first. A task with a key waits for its worker. */
  #findEarlier(state: State, position: number): string | null {
    for (const ticket of this.#tickets.keys()) {
      if (this.#plan.tasks[state[this.#row.cell(this.#taskIds[ticket]!)]! - 1]?.key !== undefined) continue
      const { phase, owner } = this.#stateOf(state, ticket)
      const distance = (owner - position) & POSITION_MASK
      if (phase === 'offered' && distance > POSITION_MASK / 2) {
        return `position ${position} is claimed before the earlier position ${owner}, where ticket ${ticket} is offered`
      }
    }
    return null
  }

  /** A worker may finish a claim while another task is sent to it. After that it must wait for the message. */
  #findOvertaken(state: State, worker: number): string | null {
    if (this.#isDismissed(state, worker) || this.#addressedTo(state, worker) === 0) return null
    const bit = 1 << worker
    if ((state[this.#row.overtaking]! & bit) !== 0) {
      return `worker ${worker} claims two tasks before it starts the task that was sent to it`
    }
    state[this.#row.overtaking]! |= bit
    return null
  }

  #addressedTo(state: State, worker: number): number {
    return count([...this.#tickets.keys()], ticket => state[this.#row.addressee(ticket)] === worker)
  }

  /** Tasks that the worker was sent or has claimed, and whose handlers have not ended. */
  #countHeld(state: State, worker: number): number {
    // For processes, the states of old tickets have no meaning.
    if (this.#isPiped) return this.#runningOn(state, worker).length
    const held = count([...this.#tickets.keys()], ticket => {
      const { phase, owner } = this.#stateOf(state, ticket)
      return heldPhases.includes(phase) && owner === worker
    })
    return held + this.#addressedTo(state, worker)
  }

  #stateOf(state: State, ticket: number): ReturnType<typeof readState> {
    return readState(state[this.#row.cell(this.#tickets[ticket]!)]!)
  }

  #findFalseOutcome(
    state: State,
    { task, outcome, value }: Extract<Note, { kind: 'settled' }>,
    worker: number,
  ): string | null {
    const { isMoved = false, isUnsendable = false } = this.#plan.tasks[task - 1]!
    switch (outcome) {
      case 'fulfilled':
        return worker !== 0 && value === ANSWER + task ? null : `task ${task} is fulfilled with ${value}`
      case 'TaskCancelledError':
        return null
      case 'WorkerExitError':
        if (!this.#mayFail) return `task ${task} fails with a worker, although no worker dies or is killed`
        // A payload that was moved cannot be sent again.
        if (worker === 0)
          return isMoved ? null : `task ${task} fails with a worker, although no worker has started it`
        return this.#isAtWork(state, worker)
          ? `task ${task} fails with a worker, although its worker is alive`
          : null
      case 'NotCloneableError':
        return isUnsendable ? null : `task ${task} fails, although its payload can be sent`
      default:
        return `task ${task} fails with ${outcome}`
    }
  }

  /** The worker lives, and the host has not killed it. */
  #isAtWork(state: State, worker: number): boolean {
    return state[this.#row.lifeOf(worker)] === ALIVE && !this.#isDismissed(state, worker)
  }
}

function count(tickets: readonly number[], isMeant: (ticket: number) => boolean): number {
  return tickets.filter(isMeant).length
}
