// The same of its rows that load the servers of examples/.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSpread, runJson } from './run-bench.js'

const ways = ['lido', 'piscina', 'worker-per-request', 'unpooled']

test('large bodies are answered by lido, by a peer, by a worker for each and by the framework itself', async () => {
  const { rows: judged, failures } = await runJson('--only', 'body', '--rounds', '1')
  assert.deepEqual(failures, [])
  for (const { id, pools } of judged) assert.deepEqual(Object.keys(pools), ways, id)
})

// The rows `fastify` and `nest` are the same trial; that their servers go each of their ways, the tests of the examples say.
test("cluster: the example's server gives its figures in each of its ways, and no verdict", async () => {
  const { rows: judged, failures, barCount } = await runJson('--only', 'cluster')
  assert.deepEqual(failures, [])
  assert.deepEqual(
    judged.map(({ figure }) => figure),
    ['requestsPerSecond', 'healthMsP50', 'healthMsP99', 'loopDelayMsMax'],
  )
  for (const { pools } of judged) {
    assert.deepEqual(Object.keys(pools), ways)
    for (const pool of Object.values(pools)) assertSpread(pool)
  }
  assert.deepEqual(barCount, { met: 0, missed: 0, notMeasured: 0 })
})

test('a variant has no part in the servers of examples, whose settings are their own', async () => {
  const { rows: judged } = await runJson('--only', 'fastify', '--pools', 'lido-without-lane')
  assert.deepEqual(judged[0].pools, {})
})
