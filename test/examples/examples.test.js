// Each example exits with code 0, prints its table with and without the pool, and prints its conclusion. No test judges a
// time.
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

test('the csv example gives the same result without the pool, with map() and all at once', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-csv-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const ways = ['without the pool', 'pool.map()', 'pool, all at once']
  const output = await expectTable('csv', ways, '--rows', '1500', '--chunkKib', '2', '--output', folder)
  assert.match(output, /^Same result from all 3 ways: 1,500 rows, sha256 [0-9a-f]{16}/m)
  const files = ['alone', 'map', 'allAtOnce'].map(way => readFileSync(join(folder, `${way}.csv`), 'utf8'))
  assert.equal(files[0].trimEnd().split('\n').length, 1500)
  assert.match(files[0], /^00501,HOLTSVILLE,SUFFOLK,NY,/)
  assert.equal(files[1], files[0])
  assert.equal(files[2], files[0])
})

test('the csv example holds all chunks of the file only when it submits them all at once', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-csv-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const args = ['--rows', '20000', '--chunkKib', '2', '--maxWorkers', '1', '--output', folder]
  const { exitCode, output } = await runExample('csv', '--small', ...args)
  assert.equal(exitCode, 0)
  const [alone, map, allAtOnce] = readRows(output).map(row => Number(row.at(-2)))
  assert.equal(alone, 1)
  // One worker has at most 64 items of a map under way.
  assert.ok(map <= 65 && map < allAtOnce, `${map} of ${allAtOnce} chunks`)
})

test('the csv example refuses a file as --output folder', async () => {
  const { exitCode, errors } = await runExample('csv', '--small', '--output', fileURLToPath(import.meta.url))
  assert.equal(exitCode, 2)
  assert.match(errors, /--output takes a folder, not '.*examples\.test\.js'/)
})

test('the machines example gives the same result inline, in the sandbox and on hosts of which one is killed', async () => {
  const output = await expectTable('machines', [
    'BullMQ inline, 1 host',
    'BullMQ sandbox, 1 host',
    'lido, 1 host',
    'lido, 2 hosts',
    'lido, 2 hosts, 1 killed',
  ])
  assert.match(output, /^Same result from all 5 ways\.$/m)
})

test('the key-derivation example shows both forms of scrypt with and without the pool', async () => {
  await expectTable('key-derivation', [
    'scryptSync, without the pool',
    'scryptSync, with the pool',
    'scrypt (async), without the pool',
    'scrypt (async), with the pool',
  ])
})

test('the io-and-cpu example shows fetch, sort and both together with and without the pool', async () => {
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
  test(`the ${name} example refuses an unknown option and suggests the nearest option`, async () => {
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
  test(`the ${name} example refuses --${option} ${value} before it starts`, async () => {
    const { exitCode, errors } = await runExample(name, '--small', `--${option}`, value)
    assert.equal(exitCode, 2)
    assert.match(errors, new RegExp(`--${option} takes a .*number from .* to .*, not '${value}'`))
  })
}

test('an example exits with code 0 and without a stack trace when its output is closed', async () => {
  const file = fileURLToPath(new URL('../../examples/csv/main.js', import.meta.url))
  const child = spawn(process.execPath, [file, '--small', '--rows', '50'])
  child.stdout.destroy()
  const [errors, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
  assert.deepEqual([exitCode, errors], [0, ''])
})

test('the csv example refuses a wrong value of an option and names the valid values', async () => {
  const { exitCode, errors } = await runExample('csv', '--rows', 'many')
  assert.equal(exitCode, 2)
  assert.match(errors, /--rows takes a whole number of at least 1, not 'many'/)
})
