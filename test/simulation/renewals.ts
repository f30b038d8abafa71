// Calls of recycle() and reload(), and the rules for their settlement.
import { PoolClosedError, WorkerStartError } from '../../src/shared/errors/pool-errors.js'
import type { SimulatedThread } from './thread.js'
import { describe, type World } from './world.js'

export type RenewalKind = 'recycle' | 'reload'

interface Renewal {
  /** The workers at the time of the call. */
  readonly old: SimulatedThread[]
  /** The call that was pending at that time, as far as its caller knew. */
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

  /** A replacement worker may live beside the worker that it replaces. */
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
        if (left !== undefined) world.fail(`${how}() has resolved, but worker ${left.number} is still alive`)
      },
      problem => {
        renewal.state = 'rejected'
        world.note(`${how} is rejected: ${describe(problem)}`)
        const isStart = problem instanceof WorkerStartError && world.failedStarts > 0
        const isEnd = problem instanceof PoolClosedError && world.closes.length > 0
        if (!isStart && !isEnd) world.fail(`${how}() rejects with ${describe(problem)}`)
      },
    )
  }

  #workers(): SimulatedThread[] {
    const ids = this.#world.pool.workers.map(worker => worker.id)
    return this.#world.threads.filter(thread => ids.includes(thread.number))
  }
}

/**
 * The workers that must have exited when the call resolves. A pending call that had already failed was not joined. Its caller
 * learns of the failure first.
 */
function oldOf({ old, joined }: Renewal): SimulatedThread[] {
  return joined === undefined || joined.state === 'rejected' ? old : oldOf(joined)
}

function isPending({ state }: Renewal): boolean {
  return state === 'pending'
}
