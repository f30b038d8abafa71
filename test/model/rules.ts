// What must hold in every step of every order. A rule says what is wrong, or nothing.
import { laneIn, REST, STATE, ticketAt } from '../../src/shared/lane/layout.js'
import { POSITION_MASK, type TicketPhase, ticketPhases } from '../../src/shared/lane/tickets.js'
import { ANSWER } from './host-thread.js'
import type { Note } from './operation.js'
import type { Plan } from './plan.js'
import { ALIVE, type State, type StateRow } from './state.js'
import type { World } from './world.js'

const RETIRED = 3
/** The memory that is nobody's desk. */
const LANE = 0
/** The worker has it, and nobody else may use it. */
const heldPhases: TicketPhase[] = ['claimed', 'loading', 'begun', 'condemned']
const outcomes = ['fulfilled', 'TaskCancelledError', 'WorkerExitError']

export interface Rules {
  /** A word was changed. */
  onWrite(state: State, cell: number, before: number, after: number): string | null
  onNote(state: State, thread: number, note: Note): string | null
}

export function readState(word: number): { phase: TicketPhase; owner: number } {
  return { phase: ticketPhases[word & 7]!, owner: word >>> 3 }
}

export class LaneRules implements Rules {
  readonly #world: World
  readonly #plan: Plan
  readonly #row: StateRow
  /** The cell of each ticket's state. */
  readonly #tickets: number[] = []
  /** With their worker. */
  readonly #mayFail: boolean

  constructor(world: World, plan: Plan, row: StateRow) {
    const { deaths = 0, wishes } = plan
    this.#mayFail = deaths > 0 || wishes.flat().some(wish => !('submit' in wish))
    this.#world = world
    this.#plan = plan
    this.#row = row
    const layout = laneIn(world.lane)
    for (let ticket = 0; ticket < layout.tickets; ticket++) {
      this.#tickets.push(world.cellIn(0, ticketAt(layout, ticket) + STATE))
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
    const isHeld = heldPhases.includes(from.phase)
    if (
      to.phase === 'offered' &&
      (from.phase === 'offered' || (isHeld && this.#isAtWork(state, from.owner)))
    ) {
      return `ticket ${ticket} is given to two tasks at once`
    }
    if (to.phase === 'claimed') {
      if (from.phase !== 'offered') return `ticket ${ticket} is claimed though it is ${from.phase}`
      this.#noteClaim(state, ticket, to.owner)
      return this.#findEarlier(state, from.owner)
    }
    if (to.phase === 'begun' && (state[this.#row.lateClaims]! & (1 << ticket)) !== 0) {
      return `worker ${to.owner} was dismissed, claimed ticket ${ticket} and begins its task`
    }
    if (to.phase === 'free' && from.phase !== 'offered' && from.phase !== 'claimed') {
      return `ticket ${ticket} is taken back though it is ${from.phase}`
    }
    return null
  }

  onNote(state: State, thread: number, note: Note): string | null {
    if (note.kind !== 'begun' && note.kind !== 'settled') return null
    const begunBy = this.#row.begunBy(note.task)
    const settledAs = this.#row.settledAs(note.task)
    if (note.kind === 'begun') {
      if (state[begunBy] !== 0)
        return `task ${note.task} is begun by worker ${thread} and was by worker ${state[begunBy]}`
      if (state[settledAs] !== 0) return `task ${note.task} is begun after it was settled`
      state[begunBy] = thread
      return null
    }
    if (state[settledAs] !== 0) return `task ${note.task} is settled twice`
    state[settledAs] = outcomes.indexOf(note.outcome) + 1
    return this.#findFalseOutcome(state, note, state[begunBy]!)
  }

  /** Its word may be lost; that it was said is not forgotten. */
  #noteDismissal(state: State, cell: number, after: number): void {
    const { memory, index } = this.#world.cells[cell]!
    if (memory !== LANE && index === REST && after === RETIRED) state[this.#row.dismissed]! |= 1 << memory
  }

  #isDismissed(state: State, worker: number): boolean {
    return (state[this.#row.dismissed]! & (1 << worker)) !== 0
  }

  /** What a worker claims after it was dismissed, it must not begin. */
  #noteClaim(state: State, ticket: number, worker: number): void {
    if (this.#isDismissed(state, worker)) state[this.#row.lateClaims]! |= 1 << ticket
    else state[this.#row.lateClaims]! &= ~(1 << ticket)
  }

  /** First posted, first claimed. */
  #findEarlier(state: State, position: number): string | null {
    for (const [ticket, cell] of this.#tickets.entries()) {
      const { phase, owner } = readState(state[this.#row.cell(cell)]!)
      const distance = (owner - position) & POSITION_MASK
      if (phase === 'offered' && distance > POSITION_MASK / 2) {
        return `position ${position} is claimed before ${owner}, where ticket ${ticket} is on offer`
      }
    }
    return null
  }

  #findFalseOutcome(
    state: State,
    { task, outcome, value }: Extract<Note, { kind: 'settled' }>,
    worker: number,
  ): string | null {
    const { isMoved = false } = this.#plan.tasks[task - 1]!
    switch (outcome) {
      case 'fulfilled':
        return worker !== 0 && value === ANSWER + task ? null : `task ${task} is answered with ${value}`
      case 'TaskCancelledError':
        return null
      case 'WorkerExitError':
        // What was given away cannot be given once more.
        if (!this.#mayFail) return `task ${task} fails, though no worker dies or is given up`
        if (worker === 0) return isMoved ? null : `task ${task} fails, though no worker has begun it`
        return this.#isAtWork(state, worker) ? `task ${task} fails, though its worker lives` : null
      default:
        return `task ${task} fails with ${outcome}`
    }
  }

  /** It lives, and the host has not given it up. */
  #isAtWork(state: State, worker: number): boolean {
    return state[this.#row.lifeOf(worker)] === ALIVE && !this.#isDismissed(state, worker)
  }
}
