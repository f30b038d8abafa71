// Tests the rows of the benchmark that start the servers of examples/.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSpread, runJson } from './run-bench.js'

const ways = ['lido', 'piscina', 'worker-per-request', 'unpooled']

test('the rows for large bodies run with lido, piscina, a worker for each request and no pool', async () => {
  const { rows: judged, failures } = await runJson('--only', 'body', '--rounds', '1')
  assert.deepEqual(failures, [])
  for (const { id, pools } of judged) assert.deepEqual(Object.keys(pools), ways, id)
})

// The rows `fastify` and `nest` use the same trial. The tests of the examples run their servers.
test("the row 'cluster' has figures for each way of its example server, and no verdict", async () => {
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

test('a variant of lido does not run in a row that starts a server of examples/', async () => {
  const { rows: judged } = await runJson('--only', 'fastify', '--pools', 'lido-without-lane')
  assert.deepEqual(judged[0].pools, {})
})
