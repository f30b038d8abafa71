// Keeps the promises of the benchmark as a program: it plays the rows that are asked for, says what it found in a form
// that programs read, and a contestant that fails takes nobody with it. Times are never judged here.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { rows } from '../../bench/rows.js'

const mainPath = fileURLToPath(new URL('../../bench/main.js', import.meta.url))
const limitMs = 60_000

async function runBench(...args) {
  const child = spawn(process.execPath, [mainPath, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const limit = setTimeout(() => child.kill(), limitMs)
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(limit)
  return { output, errors, exitCode }
}

async function runJson(...args) {
  const { output, errors, exitCode } = await runBench('--quick', '--seconds', '0.02', '--json', ...args)
  assert.equal(exitCode, 0, errors + output)
  return JSON.parse(output)
}

function assertSpread({ median, min, max, count }) {
  assert.ok(Number.isFinite(median) && min <= median && median <= max)
  assert.ok(count >= 1)
}

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

test('large bodies are answered by lido, by a peer and by the framework itself', async () => {
  const { rows: judged, failures } = await runJson('--only', 'body', '--rounds', '1')
  assert.deepEqual(failures, [])
  for (const { id, pools } of judged)
    assert.deepEqual(Object.keys(pools), ['lido', 'piscina', 'unpooled'], id)
})

test('rows have names of their own, and every bar from P1 to P14 has a row', () => {
  assert.equal(new Set(rows.map(row => row.id)).size, rows.length)
  const bars = Array.from({ length: 14 }, (_, i) => `P${i + 1}`)
  assert.deepEqual([...new Set(rows.map(row => row.bar))], [...bars, 'body'])
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
