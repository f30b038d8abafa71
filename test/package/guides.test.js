// The programs of the guides run exactly as they are written there, in the folder of a user.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { createPostgresBackend, Queue, QueueEvents, Worker } from 'bullmq'
import Redis from 'ioredis'
import pg from 'pg'
import { startDatabase } from '../../examples/machines/database.js'
import { engines } from '../helpers/engines.js'
import { node, printed, project, write } from './installed.js'
import { addPackages, readPage, withServer, writePrograms } from './page-programs.js'

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const guide = name => readPage(`docs/guides/${name}.md`)

mkdirSync(join(project, 'node_modules', '@types'))
addPackages(
  ...['@opentelemetry', '@types/node', 'body-parser', 'bullmq', 'express', 'ioredis', 'pg', 'prom-client'],
)

test('the programs of map.md print the sizes and the progress, and cause no warning', async () => {
  assert.deepEqual(writePrograms(guide('map'), 'map'), ['compress.mjs', 'sizes.mjs', 'progress.mjs'])
  const ownFiles = await node('map/sizes.mjs', 'node_modules/lido/dist/cjs/worker')
  assert.match(printed(ownFiles), /^node_modules.lido.*: \d+ %$/m)
  assert.equal(ownFiles.errors, '')
  const line = 'one line of a file that compresses well\n'
  for (const name of ['a', 'b', 'c']) write(`texts/${name}.js`, line.repeat(name === 'a' ? 10_000 : 10))
  assert.equal(printed(await node('map/sizes.mjs', 'texts')), `${join('texts', 'a.js')}: 0 %`)
  const lines = printed(await node('map/progress.mjs', 'texts')).split('\n')
  assert.equal(lines.at(-2), '3 of 3')
  assert.match(lines.at(-1), /^\d{2,3} bytes$/)
})

test('the program of output.md prints the line of its handler before the result', async () => {
  const page = guide('output')
  writePrograms(page, 'output')
  const [, shown] = /```\n(resizes.*?)\n```/s.exec(page)
  assert.equal(printed(await node('output/main.mjs')), shown)
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

test('the programs of trace-requests.md print four nested spans, and the user of each request', async () => {
  const folder = 'trace-requests'
  writePrograms(guide(folder), folder)
  const traced = printed(await node('--import', `./${folder}/instrumentation.mjs`, `${folder}/main.mjs`))
  const found = [
    ...traced.matchAll(
      /parentSpanContext: (?:undefined|\{.*?spanId: '(\w+)'.*?\}),.*?name: '(.*?)',\s+id: '(\w+)'/gs,
    ),
  ]
  const spans = new Map(found.map(([, parent, name, id]) => [name, { parent, id }]))
  const names = ['GET /picture', 'lido.run resize', 'lido.handler resize', 'decode']
  for (const [index, name] of names.entries()) {
    assert.equal(spans.get(name)?.parent, spans.get(names[index - 1])?.id, name)
  }
  assert.equal(printed(await node(`${folder}/greetings.mjs`)), "[ 'a1: Hello, Ada', 'b2: Hello, Bob' ]")
})

test('the server of warm-up.md answers with a model that its workers have loaded', async () => {
  write('warm-up/words.txt', 'good\nday')
  await withServer(guide('warm-up'), 'warm-up', 'server.mjs', async address => {
    const response = await fetch(`${address}/a%20good%20good%20day`)
    assert.equal(await response.text(), '3')
  })
})

test('the server of watch-a-pool.md shows the counters of its workers', async () => {
  await withServer(guide('watch-a-pool'), 'watched', 'server.mjs', async address => {
    for (let count = 0; count < 3; count++)
      assert.equal(await (await fetch(address)).text(), '<h1>Hello</h1>')
    const metrics = await (await fetch(`${address}/metrics`)).text()
    assert.match(metrics, /^pages_total 3$/m)
    assert.match(
      metrics,
      /^lido_tasks_total\{pool="pages",file="handler\.mjs",handler="default",outcome="fulfilled"\} 3$/m,
    )
    assert.match(metrics, /^lido_task_wait_seconds_count\{pool="pages"\} 3$/m)
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

test('the programs of order-keys-tenants.md keep an order, find their caches, and share a pool', async () => {
  const folder = 'order-keys-tenants'
  writePrograms(guide(folder), folder)
  assert.equal(printed(await node(`${folder}/keys.mjs`)), 'one\ntwo\nthree')
  assert.equal(printed(await node(`${folder}/caches.mjs`)), 'more than 95 % from the cache')
  assert.deepEqual(printed(await node(`${folder}/tenants.mjs`)).split('\n'), [
    'report for bob',
    'before most reports for acme',
    "[ 'acme', 'bob' ]",
  ])
})

test('the program of calling-back.md prints the invoice', async () => {
  writePrograms(guide('calling-back'), 'calling-back')
  assert.equal(printed(await node('calling-back/main.mjs')), "{ customer: 'Ada', total: 13 }")
})

test('the programs of database-connections.md query PostgreSQL from workers and from the main thread', async t => {
  const database = await startDatabase()
  t.after(() => database.stop())
  const page = guide('database-connections')
  const client = new pg.Client(database.url)
  await client.connect()
  await client.query(/```sql\n(.*?)```/s.exec(page)[1])
  await client.end()
  writePrograms(page, 'database')
  const settings = { cwd: join(project, 'database'), env: { ...process.env, DATABASE_URL: database.url } }
  for (const [file, expected] of [
    ['main.mjs', '[ 30, 5 ]\n'],
    ['totals.mjs', '[ 60, 5 ]\n'],
  ])
    assert.equal(execFileSync(process.execPath, [file], settings).toString(), expected)
})

test('the programs of share.md print what their workers find in the shared values', async () => {
  writePrograms(guide('share'), 'share')
  assert.equal(printed(await node('share/main.mjs')), "[ 'city 17', 'city 99999' ]")
  assert.equal(printed(await node('share/translate-all.mjs')), 'oui')
})

const machines = join(project, 'machines')

test('the caller of many-machines.md gets the results of its host, which ends on SIGTERM and SIGINT', async t => {
  const database = await startDatabase()
  t.after(() => database.stop())
  assert.deepEqual(writePrograms(guide('many-machines'), 'machines'), [
    ...['worker.mjs', 'jobs.mjs', 'host.mjs', 'caller.mjs', 'jobs.ts', 'host.ts', 'caller.ts'],
  ])
  const env = { ...process.env, DATABASE_URL: database.url }
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const host = spawn(process.execPath, ['host.mjs'], { cwd: machines, env, stdio: 'inherit' })
    const ended = once(host, 'exit')
    t.after(() => host.kill('SIGKILL'))
    const caller = execFileSync(process.execPath, ['caller.mjs'], { cwd: machines, env })
    assert.equal(caller.toString(), '1229\nattempt 1\n[ 4, 25, 168 ]\n')
    host.kill(signal)
    assert.deepEqual(await ended, [0, null])
  }
})

test('the TypeScript programs of many-machines.md compile', () => {
  writePrograms(guide('many-machines'), 'machines-ts')
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    types: ['node'],
  }
  write('machines-ts/package.json', JSON.stringify({ type: 'module' }))
  write('machines-ts/tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  execFileSync(process.execPath, [compiler, '-p', join(project, 'machines-ts')], { stdio: 'inherit' })
})

const redis = engines.find(({ name }) => name === 'redis')

test('the worker of many-machines.md runs the jobs of a BullMQ queue in its pool', {
  skip: redis.skip,
}, async t => {
  const server = await redis.start()
  const { connection } = server.options
  writePrograms(guide('many-machines'), 'machines-worker', code =>
    code.replace("'localhost'", `'${connection.host}'`).replace('port: 6379', `port: ${connection.port}`),
  )
  const worker = spawn(process.execPath, ['worker.mjs'], {
    cwd: join(project, 'machines-worker'),
    stdio: 'inherit',
  })
  const ended = once(worker, 'exit')
  const queue = new Queue('jobs', { connection })
  const events = new QueueEvents('jobs', { connection })
  t.after(async () => {
    worker.kill('SIGKILL')
    await Promise.all([queue.close(), events.close()])
    await server.stop()
  })
  await events.waitUntilReady()
  const job = await queue.add('primes', 1_000)
  assert.equal(await job.waitUntilFinished(events), 168)
  worker.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})

test('the queries and the program of operate-many-machines.md count the jobs in PostgreSQL', async t => {
  const database = await startDatabase()
  const connection = { connectionString: database.url, migrate: true }
  const queue = new Queue('jobs', { connection }, createPostgresBackend)
  const worker = new Worker('jobs', null, { connection, autorun: false }, createPostgresBackend)
  const client = new pg.Client(database.url)
  t.after(async () => {
    await Promise.all([queue.close(), worker.close(), client.end()])
    await database.stop()
  })
  await client.connect()
  await queue.waitUntilReady()
  await queue.addBulk(Array.from({ length: 5 }, () => ({ name: 'x', data: 1 })))
  await queue.add('x', 1, { priority: 3 })
  await queue.add('x', 1, { delay: 1_000_000 })
  await queue.add('x', 1, { delay: 1 })
  await worker.getNextJob('token')
  const page = guide('operate-many-machines')
  const [, figures, cleanup] = page.split(/ *```sql\n/).map(part => part.split('```')[0])
  const [row] = (await client.query(figures)).rows
  assert.equal(Number(row.waiting) + Number(row.running), 7)
  assert.equal(Number(row.running), 1)
  assert.ok(Number(row.oldest_waiting_ms) >= 0, row.oldest_waiting_ms)
  const [, scaler] = /query: >-\n(.*?)\n +targetQueryValue/s.exec(page)
  assert.deepEqual(Object.values((await client.query(scaler)).rows[0]), ['7'])
  await client.query(cleanup)
  await withServer(
    page,
    'operate-machines',
    'metrics.mjs',
    async address => {
      const figures = await (await fetch(address)).text()
      assert.match(figures, /^jobs_waiting 6\njobs_running 1\njobs_oldest_waiting_ms \d+\n$/)
    },
    { DATABASE_URL: database.url },
  )
})

test('the keys of operate-many-machines.md count the waiting and the running jobs in Redis', {
  skip: redis.skip,
}, async t => {
  const server = await redis.start()
  const { connection } = server.options
  const queue = new Queue('jobs', { connection })
  const worker = new Worker('jobs', null, { connection, autorun: false })
  const client = new Redis(connection)
  t.after(async () => {
    await Promise.all([queue.close(), worker.close(), client.quit()])
    await server.stop()
  })
  await queue.addBulk(Array.from({ length: 5 }, () => ({ name: 'x', data: 1 })))
  await queue.add('x', 1, { priority: 3 })
  await worker.getNextJob('token')
  const page = guide('operate-many-machines')
  const counts = {}
  for (const [, command, key] of page.matchAll(/^redis-cli (LLEN|ZCARD) (\S+)/gm)) {
    counts[key] = await client[command.toLowerCase()](key)
  }
  assert.deepEqual(counts, {
    'bull:jobs:wait': 4,
    'bull:jobs:prioritized': 1,
    'bull:jobs:paused': 0,
    'bull:jobs:active': 1,
  })
  for (const [, key] of page.matchAll(/listName: (\S+)/g)) assert.ok(key in counts, key)
})
