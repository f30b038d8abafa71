// Keeps the promises of examples/: each ends well, prints its table with and without the pool, and says what it
// teaches. Times are never judged here.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { expectTable, readRows, runExample } from './run-example.js'

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

test('csv refuses a file as the folder of its results', async () => {
  const { exitCode, errors } = await runExample('csv', '--small', '--output', fileURLToPath(import.meta.url))
  assert.equal(exitCode, 2)
  assert.match(errors, /--output takes a folder, not '.*examples\.test\.js'/)
})

test('key-derivation shows both forms of scrypt with and without the pool', async () => {
  await expectTable('key-derivation', [
    'scryptSync, without the pool',
    'scryptSync, with the pool',
    'scrypt (async), without the pool',
    'scrypt (async), with the pool',
  ])
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

for (const name of ['csv', 'server']) {
  test(`${name} refuses an unknown option and names the nearest one`, async () => {
    const { exitCode, errors } = await runExample(name, '--maxWorker', '2')
    assert.equal(exitCode, 2)
    assert.match(errors, /There is no option --maxWorker\. Did you mean --maxWorkers\?/)
  })
}

for (const [name, option, value] of [
  ['server', 'concurrentTasksPerWorker', '70000'],
  ['io-and-cpu', 'delay', '3000000000'],
  ['key-derivation', 'costLog2', '1'],
  ['nestjs', 'processes', '100000'],
]) {
  test(`${name} refuses --${option} ${value} before it starts`, async () => {
    const { exitCode, errors } = await runExample(name, '--small', `--${option}`, value)
    assert.equal(exitCode, 2)
    assert.match(errors, new RegExp(`--${option} takes a .*number from .* to .*, not '${value}'`))
  })
}

test('an example ends without a stack when its output is closed', async () => {
  const file = fileURLToPath(new URL('../../examples/csv/main.js', import.meta.url))
  const child = spawn(process.execPath, [file, '--small', '--rows', '50'])
  child.stdout.destroy()
  const [errors, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
  assert.deepEqual([exitCode, errors], [0, ''])
})

test('csv refuses a wrong value of an option and says what is right', async () => {
  const { exitCode, errors } = await runExample('csv', '--rows', 'many')
  assert.equal(exitCode, 2)
  assert.match(errors, /--rows takes a whole number of at least 1, not 'many'/)
})
