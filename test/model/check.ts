// Builds a case and explores it.
import { HEAD, laneIn, TAIL } from '../../src/shared/lane/layout.js'
import type { LaneOrder } from '../../src/shared/messages/messages.js'
import { Explorer, type Findings } from './explorer.js'
import { hostThread, MOST_TIMERS_OF_HOST } from './host-thread.js'
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
  // Without this, the stacks of errors take most of the time.
  Error.stackTraceLimit = 0
  try {
    const findings = exploreWith(world, plan, 64)
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    return { ...findings, histories: world.historyCount, seconds }
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** A worker that replaces another is one more thread. */
function makeWorld(plan: Plan): World {
  const { workers, deaths = 0, retires = false, requests } = plan
  const ends =
    requests.flat().filter(request => !('submit' in request)).length + (retires ? MOST_TIMERS_OF_HOST : 0)
  const orders = new Map<number, LaneOrder>()
  const scripts = [hostThread(plan, orders)]
  while (scripts.length <= workers + deaths + ends) scripts.push(workerThread(plan, orders))
  return new World(scripts)
}

/** The number of words that a case uses is known only at the end, so the rows grow when needed. */
function exploreWith(world: World, plan: Plan, cells: number): Findings {
  try {
    return explore(world, plan, cells)
  } catch (problem) {
    if (problem instanceof NoRoom) return exploreWith(world, plan, cells + 32)
    throw problem
  }
}

function explore(world: World, plan: Plan, cells: number): Findings {
  const {
    workers,
    tasks,
    requests,
    deaths = 0,
    retires = false,
    firstPosition = 0,
    startsAwake = false,
  } = plan
  // The host creates the lane before its first step.
  world.next(world.rootOf(0))
  const row = new StateRow(world.threads, tasks.length, cells, laneIn(world.lane).tickets)
  const state = new Int32Array(row.size)
  state[row.cell(world.cellIn(0, HEAD))] = firstPosition
  state[row.cell(world.cellIn(0, TAIL))] = firstPosition
  state[row.historyOf(0)] = world.rootOf(0).number
  state[row.lifeOf(0)] = ALIVE
  const explorer = new Explorer({
    world,
    row,
    rules: new LaneRules(world, plan, row),
    isFine: plan.isFine ?? false,
    mayDie: deaths > 0 || retires || requests.flat().some(request => !('submit' in request)),
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
