// The moves that are possible in a state.
import type { Operation } from './operation.js'
import { ALIVE, DEAD, DOOMED, type State, type StateRow } from './state.js'
import type { World } from './world.js'

export interface Move {
  thread: number
  /** The event that arrives when the thread waits for an event, or the death of the thread. */
  event: number | typeof DEATH
  isSwitch: boolean
}

export const DEATH = -1

export class Moves {
  readonly #world: World
  readonly #row: StateRow
  /** How often a thread may be interrupted. */
  readonly #switches: number
  /** Moves by thread and event. They are reused, because there are few moves and millions of states. */
  readonly #known: Move[][] = []

  constructor(world: World, row: StateRow, switches: number) {
    this.#world = world
    this.#row = row
    this.#switches = switches
  }

  of(state: State): Move[] {
    const row = this.#row
    const moves: Move[] = []
    const last = state[row.lastThread]!
    const choices = this.#choices(state, last)
    // A thread that waits for its next event is not in the middle of an event.
    const isAtWork = choices.length > 0 && this.#next(state, last).kind !== 'next'
    const mayLeave = !isAtWork || state[row.switches]! < this.#switches
    for (let thread = 0; thread < row.threads; thread++) {
      if (thread !== last && !mayLeave) continue
      const isSwitch = thread !== last && isAtWork
      for (const event of thread === last ? choices : this.#choices(state, thread)) {
        moves.push(this.#moveOf(thread, event, isSwitch))
      }
    }
    for (let worker = 1; worker < row.threads; worker++) {
      const life = state[row.lifeOf(worker)]
      const mayDie = life === DOOMED || (life === ALIVE && state[row.deaths]! > 0)
      if (mayDie) moves.push(this.#moveOf(worker, DEATH, false))
    }
    return moves
  }

  /** The move must happen at some time. A death must happen only after a kill. */
  isSure(state: State, { thread, event }: Move): boolean {
    return event !== DEATH || state[this.#row.lifeOf(thread)] === DOOMED
  }

  #moveOf(thread: number, event: number, isSwitch: boolean): Move {
    this.#known[2 * thread + Number(isSwitch)] ??= []
    const known = this.#known[2 * thread + Number(isSwitch)]!
    known[event - DEATH] ??= { thread, event, isSwitch }
    return known[event - DEATH]!
  }

  /** The numbers of the events that may come next: a single 0 when there is no choice, none when the thread cannot continue. */
  #choices(state: State, thread: number): number[] {
    const row = this.#row
    const world = this.#world
    const life = state[row.lifeOf(thread)]!
    if (life !== ALIVE && life !== DOOMED) return []
    const operation = this.#next(state, thread)
    if (operation.kind !== 'next') return oneStep
    const events = operation.own.map((_, index) => world.eventNumber({ kind: 'own', index }))
    if (thread > 0) {
      const mail = state[row.inboxOf(thread)]!
      if (mail !== 0) events.push(world.arrival(0, mail))
      return events
    }
    for (let worker = 1; worker < row.threads; worker++) {
      const mail = state[row.outboxOf(worker)]!
      if (mail !== 0) events.push(world.arrival(worker, mail))
      else if (state[row.lifeOf(worker)] === DEAD) events.push(world.eventNumber({ kind: 'exit', worker }))
    }
    return events
  }

  #next(state: State, thread: number): Operation {
    return this.#world.next(this.#world.history(state[this.#row.historyOf(thread)]!))
  }
}

const oneStep = [0]
