// Keeps the promises of the benchmark as a program: it plays the rows that are asked for, says what it found in a form
// that programs read, and a contestant that fails takes nobody with it. Times are never judged here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rows } from '../../bench/rows.js'
import { assertSpread, runBench, runJson } from './run-bench.js'

test('a run gives every asked row with its figures, ratios and verdicts', async () => {
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

test('every turn of the echo has compared each answer of its callers with what they sent', async () => {
  const { samples } = await runJson('--only', 'P3', '--pools', 'lido,tinypool')
  for (const takes of Object.values(samples['six-fields/64'])) {
    assert.deepEqual(
      takes.map(figures => figures.checked),
      [64],
    )
  }
})

test('a bar without its opponent is not measured, and says why', async () => {
  const { rows: judged } = await runJson('--only', 'P8-running', '--pools', 'lido')
  assert.deepEqual(Object.keys(judged[0].pools), ['lido'])
  const { rows: alone } = await runJson('--only', 'P11-import', '--pools', 'lido')
  assert.equal(alone[0].bars[0].isMet, null)
  assert.match(alone[0].bars[0].reason, /piscina/)
})

test('rows have names of their own, and every bar from P1 to P14 has a row', () => {
  assert.equal(new Set(rows.map(row => row.id)).size, rows.length)
  const bars = Array.from({ length: 14 }, (_, i) => `P${i + 1}`)
  assert.deepEqual([...new Set(rows.map(row => row.bar))], [...bars, 'body', 'fastify', 'nest', 'cluster'])
})

test('a row, a pool or a number that does not exist is answered with those that do', async () => {
  for (const [args, words] of [
    [['--only', 'P99'], /No row 'P99'.*P13/s],
    [['--pools', 'lido,nobody'], /No pool 'nobody'.*piscina/s],
    [['--rounds', '1.5'], /--rounds must be a whole number/],
  ]) {
    const { exitCode, errors } = await runBench(...args)
    assert.equal(exitCode, 2)
    assert.match(errors, words)
  }
})
