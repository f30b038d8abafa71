// A small soak test: mixed tasks while workers are killed. Every task must settle once. `npm run soak` runs the large test and
// accepts a failing seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshSeed } from '../soak/random.js'
import { soak } from '../soak/soak.js'

const TASKS = 40_000
const limitMs = 90_000
const KILL_EVERY_MS = 250

const runs = ['shared-memory', 'messages'].flatMap(transport => [
  { transport, threads: 4, concurrency: 1 },
  { transport, threads: 2, concurrency: 8 },
])

for (const { transport, threads, concurrency } of runs) {
  const place = `transport: ${transport}, threads: ${threads}, slots: ${concurrency}`
  const title = `every task of a soak test settles once with the right answer (${place})`
  test(title, { timeout: limitMs }, async t => {
    const seed = freshSeed()
    t.diagnostic(`seed ${seed}`)
    const tasks = Math.floor(TASKS / runs.length)
    const options = { tasks, endsAt: null, seed, transport, threads, concurrency, samples: 0 }
    const report = await soak({ ...options, killEveryMs: KILL_EVERY_MS })
    assert.deepEqual(report.violations, [], `seed ${seed}`)
    assert.equal(report.transport, transport)
    assert.ok(report.tasks >= tasks)
  })
}
