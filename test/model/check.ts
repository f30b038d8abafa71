// Puts a case together and goes through it.
import { HEAD, TAIL } from '../../src/shared/lane/layout.js'
import { Explorer, type Findings } from './explorer.js'
import { hostThread, type LaneOrder, MOST_TIMERS_OF_HOST } from './host-thread.js'
import type { Plan } from './plan.js'
import { LaneRules } from './rules.js'
import { ALIVE, NoRoom, StateRow } from './state.js'
import { workerThread } from './worker-thread.js'
import { World } from './world.js'

export interface Result extends Findings {
  histories: number
  seconds: number
}

export function check(plan: Plan): Result {
  const start = process.hrtime.bigint()
  const world = makeWorld(plan)
  const { stackTraceLimit } = Error
  // Nobody reads the stacks of the errors that tasks come to in so many orders, and they are most of what these cost.
  Error.stackTraceLimit = 0
  try {
    const findings = exploreWith(world, plan, 64)
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    return { ...findings, histories: world.historyCount, seconds }
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** A thread that is started in place of another needs a place of its own. */
function makeWorld(plan: Plan): World {
  const { workers, deaths = 0, retires = false, wishes } = plan
  const ends = wishes.flat().filter(wish => !('submit' in wish)).length + (retires ? MOST_TIMERS_OF_HOST : 0)
  const orders = new Map<number, LaneOrder>()
  const scripts = [hostThread(plan, orders)]
  while (scripts.length <= workers + deaths + ends) scripts.push(workerThread(plan, orders))
  return new World(scripts)
}

/** How many words a case touches is known only when it has touched them. */
function exploreWith(world: World, plan: Plan, cells: number): Findings {
  try {
    return explore(world, plan, cells)
  } catch (problem) {
    if (problem instanceof NoRoom) return exploreWith(world, plan, cells + 32)
    throw problem
  }
}

function explore(world: World, plan: Plan, cells: number): Findings {
  const { workers, tasks, wishes, deaths = 0, retires = false, firstPosition = 0, startsAwake = false } = plan
  const row = new StateRow(world.threads, tasks.length, cells)
  const state = new Int32Array(row.size)
  // The host's first look makes the lane.
  world.next(world.rootOf(0))
  state[row.cell(world.cellIn(0, HEAD))] = firstPosition
  state[row.cell(world.cellIn(0, TAIL))] = firstPosition
  state[row.historyOf(0)] = world.rootOf(0).number
  state[row.lifeOf(0)] = ALIVE
  const explorer = new Explorer({
    world,
    row,
    rules: new LaneRules(world, plan, row),
    isFine: plan.isFine ?? false,
    mayDie: deaths > 0 || retires || wishes.flat().some(wish => !('submit' in wish)),
    switches: plan.switches ?? Number.POSITIVE_INFINITY,
  })
  const settle = (thread: number) => {
    while (world.next(world.history(state[row.historyOf(thread)]!)).kind !== 'next') {
      explorer.step(state, thread, 0, null)
    }
  }
  settle(0)
  if (!startsAwake) for (let worker = 1; worker <= workers; worker++) settle(worker)
  state[row.deaths] = deaths
  return explorer.explore(state)
}
