// Keeps the promises of examples/: each ends well, prints its table with and without the pool, and says what it
// teaches. Times are never judged here. The examples run one after the other, each in a process of its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const timeLimitMs = 60_000

async function runExample(name, ...args) {
  const main = fileURLToPath(new URL(`../../examples/${name}/main.js`, import.meta.url))
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const limit = setTimeout(() => child.kill(), timeLimitMs)
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(limit)
  return { exitCode, output, errors }
}

// The table's rows as cells, without its two rows of names.
function readRows(output) {
  const lines = output.split('\n').filter(line => line.startsWith('│'))
  return lines.slice(2).map(line => {
    const cells = line.split('│').slice(1, -1)
    return cells.map(cell => cell.trim())
  })
}

async function expectTable(name, ways, ...args) {
  const { exitCode, output, errors } = await runExample(name, '--small', ...args)
  assert.equal(exitCode, 0, `${name} ended with ${exitCode}\n${output}\n${errors}`)
  const rows = readRows(output)
  assert.deepEqual(
    rows.map(([way]) => way),
    ways,
  )
  for (const row of rows) {
    assert.ok(row.length >= 8, `throughput, latency and event loop delay: ${row}`)
    assert.ok(row.every(cell => cell !== ''))
  }
  assert.match(output, /^node v\d+\.\d+\.\d+, \d+ usable cores/m)
  assert.equal(output.match(/^=> \S.*\.$/gm)?.length, 1)
  assert.doesNotMatch(output, /NaN|undefined|Infinity/)
  return output
}

test('csv gives the same answer without the pool, with a bounded queue and with everything at once', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-csv-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const ways = ['without the pool', 'pool, bounded queue', 'pool, all at once']
  const output = await expectTable('csv', ways, '--rows', '1500', '--maxQueue', '10', '--output', folder)
  assert.match(output, /^Same answer from all 3 ways: 1,500 rows, sha256 [0-9a-f]{16}/m)
  const files = ['alone', 'bounded', 'unbounded'].map(way => readFileSync(join(folder, `${way}.csv`), 'utf8'))
  assert.equal(files[0].trimEnd().split('\n').length, 1500)
  assert.equal(files[1], files[0])
  assert.equal(files[2], files[0])
})

test('csv never lets more tasks wait than its bounded queue holds', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-csv-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const args = ['--rows', '800', '--rowsPerTask', '3', '--maxQueue', '5', '--output', folder]
  const { exitCode, output } = await runExample('csv', '--small', ...args)
  assert.equal(exitCode, 0)
  const [alone, bounded] = readRows(output)
  const peakQueue = row => Number(row.at(-4))
  assert.equal(peakQueue(alone), 0)
  assert.ok(peakQueue(bounded) <= 5)
})

test('key-derivation shows both forms of scrypt with and without the pool', async () => {
  await expectTable('key-derivation', [
    'scryptSync, without the pool',
    'scryptSync, with the pool',
    'scrypt (async), without the pool',
    'scrypt (async), with the pool',
  ])
})

test('server shows requests that wait and busy ones with and without the pool', async () => {
  await expectTable(
    'server',
    ['waits, without the pool', 'waits, with the pool', 'busy, without the pool', 'busy, with the pool'],
    '--concurrentTasksPerWorker',
    '4',
    '--idleTimeout',
    '100',
  )
})

test('rendering shows few and many connections with and without the pool, and piscina when asked', async () => {
  const ways = ['without the pool', 'with the pool', 'with piscina']
  await expectTable('rendering', [...ways, ...ways], '--with-piscina')
})

test('io-and-cpu shows each part and the whole with and without the pool', async () => {
  await expectTable('io-and-cpu', [
    'fetch, without the pool',
    'fetch, with the pool',
    'sort, without the pool',
    'sort, with the pool',
    'fetch then sort, without the pool',
    'fetch then sort, with the pool',
  ])
})

test('body shows large bodies with each parser, and answers all of them', async () => {
  const output = await expectTable('body', [
    'express.json()',
    'lido, the whole value',
    'lido, what the route needs',
    'a worker for each body',
    'piscina, by hand',
  ])
  for (const row of readRows(output)) assert.equal(row.at(-1), '0', `failed: ${row}`)
})

test('fastify shows a route without a pool, with a worker for each request, with piscina and with the plugin', async () => {
  await expectTable('fastify', ['without a pool', 'a worker for each request', 'piscina', 'lido/fastify'])
})

test('nestjs shows the service alone, on a cluster, on a pool and on both, and each ends well', async () => {
  await expectTable('nestjs', ['alone', 'cluster', 'pool', 'cluster and pool'])
})

for (const name of ['csv', 'key-derivation', 'server', 'rendering', 'io-and-cpu', 'body', 'fastify']) {
  test(`${name} refuses an option it does not know and names the nearest`, async () => {
    const { exitCode, errors } = await runExample(name, '--maxThread', '2')
    assert.equal(exitCode, 2)
    assert.match(errors, /There is no option --maxThread\. Did you mean --maxThreads\?/)
  })
}

test('an option with a wrong value is refused in words', async () => {
  const { exitCode, errors } = await runExample('csv', '--rows', 'many')
  assert.equal(exitCode, 2)
  assert.match(errors, /--rows takes a whole number of at least 1, not 'many'/)
})
