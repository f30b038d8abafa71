// Calls of recycle() and reload(), and what it means that they resolve.
import { PoolClosedError, WorkerStartError } from '../../src/shared/errors/pool-errors.js'
import type { SimulatedThread } from './thread.js'
import { describe, type World } from './world.js'

export type RenewalKind = 'recycle' | 'reload'

interface Renewal {
  /** Must have ended when it resolves. */
  readonly old: SimulatedThread[]
  isPending: boolean
}

export class Renewals {
  readonly #world: World
  readonly #all: Renewal[] = []

  constructor(world: World) {
    this.#world = world
  }

  get isAnyPending(): boolean {
    return this.#all.some(renewal => renewal.isPending)
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
    const joined = how === 'recycle' ? this.#all.findLast(renewal => renewal.isPending) : undefined
    const renewal: Renewal = { old: joined?.old ?? this.#workers(), isPending: true }
    this.#all.push(renewal)
    world.note(how)
    world.pool[how]().then(
      () => {
        renewal.isPending = false
        world.note(`${how} is done`)
        const left = renewal.old.find(thread => !thread.isGone)
        if (left !== undefined) world.fail(`${how} is done, and worker ${left.number} lives`)
      },
      problem => {
        renewal.isPending = false
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
