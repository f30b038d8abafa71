// Explores every order in which the threads of a case can take their steps. Equal states are explored once. All orders that lead
// to a state have the same length, so they are found in the same round. Shorter orders come first.
import { type History, Run } from './history.js'
import { DEATH, type Move, Moves } from './moves.js'
import type { Operation } from './operation.js'
import { describeStep, type Step } from './order.js'
import { movesTo, type Node, Round } from './round.js'
import type { Rules } from './rules.js'
import { ABSENT, ALIVE, BURIED, DEAD, DOOMED, type State, type StateRow } from './state.js'
import type { World } from './world.js'

export interface ExplorerParts {
  world: World
  row: StateRow
  rules: Rules
  isFine: boolean
  /** Workers may die or be killed. */
  mayDie: boolean
  /** How often another thread may continue although the last thread could. */
  switches: number
}

export interface Findings {
  states: number
  /** The number of orders that these states represent. */
  orders: number
  /** The number of steps in the longest order. */
  steps: number
  ends: number
  /** The problem, and the shortest order that leads to it. */
  wrong: { what: string; order: string[] } | null
}

class Wrong extends Error {}

export class Explorer {
  readonly #parts: ExplorerParts
  readonly #moves: Moves
  /** The current state, and the state that a move makes of it. */
  readonly #state: State
  readonly #child: State

  constructor(parts: ExplorerParts) {
    this.#parts = parts
    this.#state = new Int32Array(parts.row.size)
    this.#child = new Int32Array(parts.row.size)
    this.#moves = new Moves(parts.world, parts.row, parts.switches)
  }

  explore(first: State): Findings {
    const findings: Findings = { states: 1, orders: 0, steps: 0, ends: 0, wrong: null }
    let round = new Round(first.length)
    let next = new Round(first.length)
    round.add(first, null, { thread: 0, event: 0, isSwitch: false })
    while (round.nodes.length > 0) {
      next.clear()
      for (let place = 0; place < round.nodes.length; place++) {
        round.read(place, this.#state)
        const wrong = this.#expand(round.nodes[place]!, next, findings)
        if (wrong !== null) {
          const { what, moves } = wrong
          return { ...findings, wrong: { what, order: this.#retell(first, moves) } }
        }
      }
      ;[round, next] = [next, round]
      findings.states += round.nodes.length
      if (round.nodes.length > 0) findings.steps++
    }
    return findings
  }

  #expand(node: Node, next: Round, findings: Findings): { what: string; moves: Move[] } | null {
    const state = this.#state
    const child = this.#child
    const moves = this.#moves.of(state)
    for (const move of moves) {
      child.set(state)
      try {
        this.#take(child, move, null)
      } catch (problem) {
        if (problem instanceof Wrong) return { what: problem.message, moves: [...movesTo(node), move] }
        throw problem
      }
      next.add(child, node, move)
    }
    if (moves.some(move => this.#moves.isSure(state, move))) return null
    findings.ends++
    findings.orders += node.orders
    const [what] = this.#audit(state)
    return what === undefined ? null : { what, moves: movesTo(node) }
  }

  #take(state: State, { thread, event, isSwitch }: Move, steps: Step[] | null): void {
    const { row, switches } = this.#parts
    if (event === DEATH) {
      if (state[row.lifeOf(thread)] === ALIVE) state[row.deaths]!--
      state[row.lifeOf(thread)] = DEAD
      steps?.push({ thread, operation: { kind: 'die' }, found: 0 })
      return
    }
    if (switches < Number.POSITIVE_INFINITY) {
      state[row.lastThread] = thread
      if (isSwitch) state[row.switches]!++
    }
    this.step(state, thread, event, steps)
  }

  /** Other threads cannot notice whether this step comes at once or later, so it needs no move of its own. */
  #isUnnoticed(thread: number, operation: Operation): boolean {
    switch (operation.kind) {
      case 'note':
      case 'start':
        return true
      case 'read':
      case 'write':
        return !this.#parts.isFine
      case 'kill':
        return true
      case 'post':
        // A message may arrive at any later time. The moment matters only when the worker may die before it.
        return thread === 0 || !this.#parts.mayDie
      default:
        return false
    }
  }

  #historyOf(state: State, thread: number): History {
    return this.#parts.world.history(state[this.#parts.row.historyOf(thread)]!)
  }

  /** Takes the next step of a thread, and then all steps that no other thread can notice. */
  step(state: State, thread: number, event: number, steps: Step[] | null): void {
    const { world, row } = this.#parts
    let history = this.#historyOf(state, thread)
    let operation = world.next(history)
    let chosen = event
    do {
      steps?.push({ thread, operation, found: 0 })
      const found = this.#apply(state, thread, operation, chosen)
      if (steps !== null) steps.at(-1)!.found = found
      chosen = 0
      history = history.child(found, world)
      operation = world.next(history)
    } while (this.#isUnnoticed(thread, operation))
    state[row.historyOf(thread)] = history.number
    if (operation.kind === 'end') state[row.lifeOf(thread)] = DEAD
    if (operation.kind === 'failed') {
      steps?.push({ thread, operation, found: 0 })
      throw new Wrong(`${thread === 0 ? 'the host' : `worker ${thread}`} throws: ${operation.error}`)
    }
  }

  #apply(state: State, thread: number, operation: Operation, event: number): number {
    const { world, row, rules } = this.#parts
    switch (operation.kind) {
      case 'load':
      case 'read':
        return state[row.cell(operation.cell)]!
      case 'store':
      case 'write':
        this.#write(state, operation.cell, operation.value)
        return 0
      case 'replace':
        if (state[row.cell(operation.cell)] !== (operation.expected | 0)) return 0
        this.#write(state, operation.cell, operation.value)
        return 1
      case 'post': {
        const { to, message } = operation
        const box = to === 0 ? row.outboxOf(thread) : row.inboxOf(to)
        state[box] = world.mailAfter(state[box]!, message)
        refuse(rules.onPost(state, to, message))
        return 0
      }
      case 'note':
        refuse(rules.onNote(state, thread, operation.note))
        return 0
      case 'start':
        if (operation.worker >= row.threads)
          throw new Error('the case starts more workers than it has threads')
        state[row.lifeOf(operation.worker)] = ALIVE
        state[row.historyOf(operation.worker)] = world.rootOf(operation.worker).number
        return 0
      case 'kill':
        if (state[row.lifeOf(operation.worker)] === ALIVE) state[row.lifeOf(operation.worker)] = DOOMED
        return 0
      case 'next':
        this.#onEvent(state, thread, event)
        return event
      default:
        throw new Error(`the operation '${operation.kind}' is not a step`)
    }
  }

  #write(state: State, cell: number, value: number): void {
    const { row, rules } = this.#parts
    const before = state[row.cell(cell)]!
    state[row.cell(cell)] = value
    refuse(rules.onWrite(state, cell, before, value))
  }

  #onEvent(state: State, thread: number, number: number): void {
    const { world, row } = this.#parts
    const event = world.event(number)
    if (event.kind === 'exit') state[row.lifeOf(event.worker)] = BURIED
    if (event.kind !== 'message') return
    const box = thread === 0 ? row.outboxOf(event.from) : row.inboxOf(thread)
    state[box] = world.withoutFirst(state[box]!)
  }

  #audit(state: State): string[] {
    const { world, row } = this.#parts
    const wrong: string[] = []
    for (let thread = 0; thread < row.threads; thread++) {
      const life = state[row.lifeOf(thread)]
      if (life === ABSENT || life === DEAD || life === BURIED) continue
      const run = new Run(world, this.#historyOf(state, thread))
      wrong.push(...run.audit(cell => state[row.cell(cell)]!))
    }
    return wrong
  }

  #retell(first: State, moves: Move[]): string[] {
    const state = first.slice()
    const steps: Step[] = []
    for (const move of moves) {
      try {
        this.#take(state, move, steps)
      } catch (problem) {
        if (!(problem instanceof Wrong)) throw problem
      }
    }
    return steps.map(step => describeStep(this.#parts.world, step))
  }
}

function refuse(wrong: string | null): void {
  if (wrong !== null) throw new Wrong(wrong)
}
