// Runs seeds as a test. This command replays a seed that fails:
//   node --conditions=simulation build/unit/test/simulation/main.js --seed N
import assert from 'node:assert/strict'
import { drawProgramme, simulate } from './simulate.js'

export async function testSeeds(from: number, count: number): Promise<string> {
  let calls = 0
  for (let seed = from; seed < from + count; seed++) {
    const finding = await simulate(drawProgramme(seed))
    assert.equal(finding.wrong, null, `seed ${seed}`)
    calls += finding.calls
  }
  return `${count} seeds from ${from}, ${calls} calls`
}
