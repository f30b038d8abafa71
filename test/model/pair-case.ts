// Explores every order of a case with two threads. The first thread exists from the start, and no thread dies.
import { Explorer, type Findings } from './explorer.js'
import type { Rules } from './rules.js'
import { ALIVE, type StateRow } from './state.js'
import type { World } from './world.js'

export function explorePair(world: World, row: StateRow, rules: Rules): Findings {
  const explorer = new Explorer({
    world,
    row,
    rules,
    isFine: true,
    mayDie: false,
    switches: Number.POSITIVE_INFINITY,
  })
  const state = new Int32Array(row.size)
  state[row.historyOf(0)] = world.rootOf(0).number
  state[row.lifeOf(0)] = ALIVE
  explorer.step(state, 0, 0, null)
  return explorer.explore(state)
}
