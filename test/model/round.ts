// The states that are equally far from the first, and how one came to each.
import type { Move } from './moves.js'
import { hashOf, isSame, type State } from './state.js'

/** A state, and one way to it. */
export interface Node {
  state: State
  before: Node | null
  move: Move
  /** How many ways there are. */
  orders: number
}

/** The states that are so many steps away from the first. */
export class Round {
  readonly nodes: Node[] = []
  readonly #byHash = new Map<number, Node[]>()

  add(state: State, before: Node, move: Move): void {
    const hash = hashOf(state)
    let same = this.#byHash.get(hash)
    if (same === undefined) {
      same = []
      this.#byHash.set(hash, same)
    }
    const known = same.find(node => isSame(node.state, state))
    if (known !== undefined) {
      known.orders += before.orders
      return
    }
    const node = { state, before, move, orders: before.orders }
    same.push(node)
    this.nodes.push(node)
  }
}

export function movesTo(node: Node): Move[] {
  const moves: Move[] = []
  for (let at = node; at.before !== null; at = at.before) moves.push(at.move)
  return moves.reverse()
}
