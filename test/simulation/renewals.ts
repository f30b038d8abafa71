// Calls of recycle() and reload(), and what it means that they resolve.
import { PoolClosedError, WorkerStartError } from '../../src/shared/errors/pool-errors.js'
import type { SimulatedThread } from './thread.js'
import { describe, type World } from './world.js'

export type RenewalKind = 'recycle' | 'reload'

interface Renewal {
  /** Were there when it was asked for. */
  readonly old: SimulatedThread[]
  /** The one that was under way, as far as its caller knew. */
  readonly joined: Renewal | undefined
  state: 'pending' | 'resolved' | 'rejected'
}

export class Renewals {
  readonly #world: World
  readonly #all: Renewal[] = []

  constructor(world: World) {
    this.#world = world
  }

  get isAnyPending(): boolean {
    return this.#all.some(isPending)
  }

  get wereAsked(): boolean {
    return this.#all.length > 0
  }

  /** Some worker may live that was to take another's place. */
  get mayHaveLeftOne(): boolean {
    return this.isAnyPending || (this.wereAsked && this.#world.closes.length > 0)
  }

  ask(how: RenewalKind): void {
    const world = this.#world
    const joined = how === 'recycle' ? this.#all.findLast(isPending) : undefined
    const renewal: Renewal = { old: this.#workers(), joined, state: 'pending' }
    this.#all.push(renewal)
    world.note(how)
    world.pool[how]().then(
      () => {
        renewal.state = 'resolved'
        world.note(`${how} is done`)
        const left = oldOf(renewal).find(thread => !thread.isGone)
        if (left !== undefined) world.fail(`${how} is done, and worker ${left.number} lives`)
      },
      problem => {
        renewal.state = 'rejected'
        world.note(`${how} is rejected: ${describe(problem)}`)
        const isStart = problem instanceof WorkerStartError && world.failedStarts > 0
        const isEnd = problem instanceof PoolClosedError && world.closes.length > 0
        if (!isStart && !isEnd) world.fail(`${how} rejects with ${describe(problem)}`)
      },
    )
  }

  #workers(): SimulatedThread[] {
    const ids = this.#world.pool.workers.map(worker => worker.id)
    return this.#world.threads.filter(thread => ids.includes(thread.number))
  }
}

/**
 * Those that must have ended when it resolves. One that had failed already, though its caller was still to hear of it, was not
 * joined; its caller hears of it first.
 */
function oldOf({ old, joined }: Renewal): SimulatedThread[] {
  return joined === undefined || joined.state === 'rejected' ? old : oldOf(joined)
}

function isPending({ state }: Renewal): boolean {
  return state === 'pending'
}
