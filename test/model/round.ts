// The states that are the same number of steps away from the first state, and the ways to them.
import type { Move } from './moves.js'
import { hashOf, type State } from './state.js'

/** A way to a state. */
export interface Node {
  before: Node | null
  move: Move
  /** The number of ways. */
  orders: number
}

const FIRST_ROOM = 64

/** The states of one round. They are rows of one array, because millions of objects would be slow to collect. */
export class Round {
  nodes: Node[] = []
  readonly #size: number
  #rows: Int32Array
  /** A hash table with linear probing, at most half full. An entry is the place of a state plus 1, or 0. */
  #places = new Int32Array(2 * FIRST_ROOM)

  /** @param size the length of a row */
  constructor(size: number) {
    this.#size = size
    this.#rows = new Int32Array(FIRST_ROOM * size)
  }

  add(state: State, before: Node | null, move: Move): void {
    const orders = before?.orders ?? 1
    const slot = this.#slotOf(state)
    const place = this.#places[slot]! - 1
    if (place >= 0) {
      this.nodes[place]!.orders += orders
      return
    }
    if (2 * this.nodes.length === this.#places.length) {
      this.#grow()
      this.#append(state, this.#slotOf(state))
    } else this.#append(state, slot)
    this.nodes.push({ before, move, orders })
  }

  read(place: number, state: State): void {
    const from = place * this.#size
    for (let index = 0; index < state.length; index++) state[index] = this.#rows[from + index]!
  }

  /** Removes all states and keeps the memory. */
  clear(): void {
    this.nodes = []
    this.#places.fill(0)
  }

  #append(state: State, slot: number): void {
    this.#rows.set(state, this.nodes.length * this.#size)
    this.#places[slot] = this.nodes.length + 1
  }

  /** The slot of the state, or the free slot for it. */
  #slotOf(state: State): number {
    const mask = this.#places.length - 1
    let slot = hashOf(state) & mask
    while (this.#places[slot] !== 0 && !this.#standsAt(this.#places[slot]! - 1, state))
      slot = (slot + 1) & mask
    return slot
  }

  #standsAt(place: number, state: State): boolean {
    const from = place * this.#size
    for (let index = 0; index < state.length; index++) {
      if (this.#rows[from + index] !== state[index]) return false
    }
    return true
  }

  #grow(): void {
    const rows = new Int32Array(2 * this.#rows.length)
    rows.set(this.#rows)
    this.#rows = rows
    this.#places = new Int32Array(2 * this.#places.length)
    const state = new Int32Array(this.#size)
    for (let place = 0; place < this.nodes.length; place++) {
      this.read(place, state)
      this.#places[this.#slotOf(state)] = place + 1
    }
  }
}

export function movesTo(node: Node): Move[] {
  const moves: Move[] = []
  for (let at = node; at.before !== null; at = at.before) moves.push(at.move)
  return moves.reverse()
}
