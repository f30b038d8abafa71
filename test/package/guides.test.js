// The programs of the guides run exactly as they are written there, in the folder of a user.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDatabase } from '../../examples/machines/database.js'
import { node, printed, project, write } from './installed.js'
import { addPackages, readPage, withServer, writePrograms } from './page-programs.js'

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const guide = name => readPage(`docs/guides/${name}.md`)

mkdirSync(join(project, 'node_modules', '@types'))
addPackages('@types/node', 'body-parser', 'bullmq', 'express', 'pg')

test('the programs of map.md print the failed requests and the progress', async () => {
  const line = (url, status) => `1.2.3.4 - - [25/Nov/2026:10:00:00] "GET ${url} HTTP/1.1" ${status} 12\n`
  write('access.log', line('/a', 200) + line('/b', 500) + line('/c', 503) + line('/d', 404))
  assert.deepEqual(writePrograms(guide('map'), 'map'), ['errors.mjs', 'parse-line.mjs', 'progress.mjs'])
  assert.equal(printed(await node('map/errors.mjs')), '/b\n/c')
  const lines = printed(await node('map/progress.mjs')).split('\n')
  assert.deepEqual(lines.slice(-2), ['4 of 4', "{ url: '/d', status: 404 }"])
})

test('the program of functions.md prints the results of its functions', async () => {
  writePrograms(guide('functions'), 'functions')
  assert.equal(printed(await node('functions/power.mjs')), '1024\ntrue')
})

test('the program of progress.md prints the progress and the result', async () => {
  writePrograms(guide('progress'), 'progress')
  const lines = printed(await node('progress/main.mjs')).split('\n')
  assert.deepEqual(lines.slice(-2), ['100 %', '124999750000'])
})

test('the server of progress.md sends the progress to a browser, then the result', async () => {
  await withServer(guide('progress'), 'browser', 'server.mjs', async address => {
    const response = await fetch(address)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const events = (await response.text()).trimEnd().split('\n\n')
    assert.deepEqual(events.slice(-2), ['event: progress\ndata: 1', 'event: result\ndata: 124999750000'])
  })
})

test('the server of warm-up.md answers with a model that its workers have loaded', async () => {
  write('warm-up/words.txt', 'good\nday')
  await withServer(guide('warm-up'), 'warm-up', 'server.mjs', async address => {
    const response = await fetch(`${address}/a%20good%20good%20day`)
    assert.equal(await response.text(), '3')
  })
})

test('the server of express.md answers with the report of its worker', async () => {
  await withServer(guide('express'), 'express', 'server.mjs', async address => {
    const response = await fetch(`${address}/report/2026`)
    const { year, total } = await response.json()
    const expected = Array.from({ length: 365 }, (_, day) => Math.sqrt(2026 * day)).reduce(
      (sum, root) => sum + root,
    )
    assert.equal(year, 2026)
    assert.ok(Math.abs(total - expected) < 1, `${total}`)
  })
})

test('the programs of typed-calls.md compile and call functions with several arguments', async () => {
  write('typed/package.json', '{ "type": "module" }')
  write(
    'typed/tsconfig.json',
    JSON.stringify({
      compilerOptions: { module: 'nodenext', target: 'es2022', strict: true, types: ['node'] },
    }),
  )
  assert.deepEqual(writePrograms(guide('typed-calls'), 'typed'), ['image.ts', 'main.ts'])
  execFileSync(process.execPath, [compiler, '-p', join(project, 'typed')], { stdio: 'inherit' })
  assert.equal(printed(await node('typed/main.js')), '200 rgb(50, 50, 50)')
})

test('the programs of streams.md search a file, and transform it', async () => {
  write('server.log', 'ok\nan error 1\na fatal error 22\nan error after')
  writePrograms(guide('streams'), 'streams')
  assert.equal(printed(await node('streams/main.mjs')), '2 an error 1\n3 a fatal error 22')
  printed(await node('streams/redact-file.mjs'))
  const redacted = readFileSync(join(project, 'redacted.log'), 'utf8')
  assert.equal(redacted, 'ok\nan error *\na fatal error **\nan error after')
})

test('the program of calling-back.md prints the invoice', async () => {
  writePrograms(guide('calling-back'), 'calling-back')
  assert.equal(printed(await node('calling-back/main.mjs')), "{ customer: 'Ada', total: 13 }")
})

test('the programs of share.md print what their workers find in the shared values', async () => {
  writePrograms(guide('share'), 'share')
  assert.equal(printed(await node('share/main.mjs')), "[ 'city 17', 'city 99999' ]")
  assert.equal(printed(await node('share/translate-all.mjs')), 'oui')
})

test('the caller of many-machines.md gets the results of its host, which ends on SIGTERM', async t => {
  const database = await startDatabase()
  t.after(() => database.stop())
  assert.deepEqual(writePrograms(guide('many-machines'), 'machines'), ['jobs.mjs', 'host.mjs', 'caller.mjs'])
  const env = { ...process.env, DATABASE_URL: database.url }
  const host = spawn(process.execPath, ['host.mjs'], {
    cwd: join(project, 'machines'),
    env,
    stdio: 'inherit',
  })
  const ended = once(host, 'exit')
  t.after(() => host.kill('SIGKILL'))
  const caller = execFileSync(process.execPath, ['caller.mjs'], { cwd: join(project, 'machines'), env })
  assert.equal(caller.toString(), '1229\nattempt 1\n[ 4, 25, 168 ]\n')
  host.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})
