// Tests the benchmark program: it runs the requested rows and prints its results as JSON. No test judges a time.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { orderedPools } from '../../bench/programme.js'
import { rows } from '../../bench/rows.js'
import { assertSpread, runBench, runJson } from './run-bench.js'

test('a run prints the figures, ratios and verdicts of each requested row', async () => {
  const results = await runJson('--only', 'P2,P7', '--pools', 'lido,piscina,post-message')
  assert.deepEqual(
    results.rows.map(row => row.id),
    ['P2', 'P7'],
  )
  const [{ pools, bars }] = results.rows
  assert.deepEqual(Object.keys(pools), ['lido', 'piscina', 'post-message'])
  for (const pool of Object.values(pools)) assertSpread(pool)
  assertSpread(pools.piscina.ratio)
  assert.equal(pools.lido.ratio, null)
  assert.equal(bars.length, 3)
  for (const { against, isMet } of bars) {
    assert.equal(typeof isMet, against === 'best peer' ? 'object' : 'boolean', 'not all peers play')
  }
  const { met, missed, notMeasured } = results.barCount
  assert.deepEqual([met + missed, notMeasured], [3, 1])

  assert.match(results.pools.piscina.version, /^\d+\.\d+\.\d+/)
  assert.ok(results.machine.cores >= 1)
  assert.deepEqual(results.failures, [])
})

test('an echo turn compares the answer of each of its 64 callers with the payload', async () => {
  const { samples } = await runJson('--only', 'P3', '--pools', 'lido,tinypool')
  for (const takes of Object.values(samples['six-fields/64'])) {
    assert.deepEqual(
      takes.map(figures => figures.checked),
      [64],
    )
  }
})

test('a bar without its opponent is not measured, and its reason names the opponent', async () => {
  const { rows: judged } = await runJson('--only', 'P8-running', '--pools', 'lido')
  assert.deepEqual(Object.keys(judged[0].pools), ['lido'])
  const { rows: alone } = await runJson('--only', 'P11-import', '--pools', 'lido')
  assert.equal(alone[0].bars[0].isMet, null)
  assert.match(alone[0].bars[0].reason, /piscina/)
})

test('row names are unique, and every bar from P1 to P22 except P18 has a row', () => {
  assert.equal(new Set(rows.map(row => row.id)).size, rows.length)
  const bars = Array.from({ length: 22 }, (_, i) => `P${i + 1}`)
    .filter(bar => bar !== 'P18')
    .flatMap(bar => (bar === 'P15' ? ['P15', 'P15b'] : bar))
  assert.deepEqual([...new Set(rows.map(row => row.bar))], [...bars, 'body', 'fastify', 'nest', 'cluster'])
})

test('an unknown row, an unknown pool or an invalid number gives exit code 2 and an explanation', async () => {
  for (const [args, words] of [
    [['--only', 'P99'], /Unknown row 'P99'.*P13/s],
    [['--pools', 'lido,nobody'], /Unknown pool 'nobody'.*piscina/s],
    [['--rounds', '1.5'], /--rounds must be an integer/],
    [['--endless', '0'], /--endless must be a number above 0/],
    [['--against', 'nowhere'], /nowhere' has no dist/],
    [['--pools', 'lido-before'], /'lido-before' needs --against/],
  ]) {
    const { exitCode, errors } = await runBench(...args)
    assert.equal(exitCode, 2)
    assert.match(errors, words)
  }
})

test('a map row counts its items, and plays only pools that can map', async () => {
  const { samples, failures } = await runJson('--only', 'P15', '--endless', '0.2')
  assert.deepEqual(failures, [])
  assert.deepEqual(Object.keys(samples.map), ['lido', 'piscina', 'piscina-tuned', 'p-map'])
  assert.ok(samples['map/many'].lido[0].itemCount > samples.map.piscina[0].itemCount)
  assert.ok(samples['map/endless'].lido[0].itemCount > 0)
})

test('a row of real work checks the results, and has a second piscina as control', async () => {
  const { rows: judged, failures } = await runJson('--only', 'real-markdown-2-4')
  assert.deepEqual(failures, [])
  assert.deepEqual(Object.keys(judged[0].pools), ['lido', 'piscina', 'piscina-again'])
})

test('a row on shared cores adds up its processes, and judges each entry point of lido that plays', async () => {
  const { rows: judged, failures } = await runJson('--only', 'P19-2-0.1')
  assert.deepEqual(failures, [])
  assert.deepEqual(
    judged.map(row => row.id),
    ['P19-2-0.1-1', 'P19-2-0.1-1-cpu', 'P19-2-0.1-8', 'P19-2-0.1-8-cpu'],
  )
  for (const { bars, pools } of judged) {
    for (const pool of Object.values(pools)) assertSpread(pool)
    assert.deepEqual(
      bars.map(bar => bar.subject),
      [undefined, 'lido-piscina', 'lido-tinypool', 'lido-workerpool'],
    )
  }
  const { rows: two } = await runJson('--only', 'P19-counted-4-0.3-8-cpu', '--pools', 'lido,piscina')
  assert.equal(two[0].bars.length, 1, 'no verdict on an entry point that does not play')
})

test('the rows of one loop, of sparse tasks and of large queued payloads have figures for each pool', async () => {
  const { rows: judged, failures } = await runJson(
    '--only',
    'P20-0.1,P20-refused,P21,P12-large',
    '--pools',
    'lido,piscina,timers-alone',
  )
  assert.deepEqual(failures, [])
  for (const { pools } of judged) for (const pool of Object.values(pools)) assertSpread(pool)
  const utilization = judged.find(row => row.id === 'P20-0.1-utilization')
  assert.equal(utilization.bars[0].isDifference, true)
  assert.equal(typeof utilization.bars[0].isMet, 'boolean')
})

test('the rows of ordered queues judge queues, groups and keys, quiet and beside a process that computes', async () => {
  const { rows: judged, failures } = await runJson('--only', 'P22-1')
  const expected = ['piscina', 'lido'].flatMap(against => orderedPools.map(name => `${name} ${against}`))
  assert.deepEqual(failures, [])
  assert.deepEqual(
    judged.map(({ id, bars }) => [id, bars.map(({ subject, against }) => `${subject} ${against}`)]),
    [
      ['P22-1-quiet', expected],
      ['P22-1-neighbour', expected],
    ],
  )
})

test("'--against' adds another build of lido, and a bar against it", async () => {
  const folder = fileURLToPath(new URL('../..', import.meta.url))
  const { rows: judged, pools } = await runJson('--only', 'P1', '--pools', 'lido', '--against', folder)
  assert.deepEqual(Object.keys(judged[0].pools), ['lido', 'lido-before'])
  assert.equal(typeof judged[0].bars.at(-1).isMet, 'boolean')
  assert.equal(judged[0].bars.at(-1).against, 'lido-before')
  assert.equal(resolve(pools['lido-before'].version), resolve(folder))
})
