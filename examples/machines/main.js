// The rows of a CSV file are processed by computing hosts, which take jobs from a queue in PostgreSQL.
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPostgresBackend, Queue } from 'bullmq'
import { RemotePool } from 'lido/bullmq'
import { readChunks, writePlaces } from '../csv/dataset.js'
import { readOptions } from '../shared/command-line.js'
import {
  announce,
  countColumn,
  formatNumber,
  formatSpeed,
  loopDelayColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'
import { startBoard } from './board.js'
import { startDatabase } from './database.js'

/** Jobs that the caller keeps in the queue. */
const IN_QUEUE = 16

const ways = [
  { way: 'BullMQ inline, 1 host', host: 'inline', hosts: 1, caller: callByBullMQ },
  { way: 'BullMQ sandbox, 1 host', host: 'sandbox', hosts: 1, caller: callByBullMQ },
  { way: 'lido, 1 host', host: 'lido', hosts: 1, caller: callByLido },
  { way: 'lido, 2 hosts', host: 'lido', hosts: 2, caller: callByLido },
  { way: 'lido, 2 hosts, 1 killed', host: 'lido', hosts: 2, caller: callByLido, isKilling: true },
]

const options = readOptions('node examples/machines/main.js', {
  rows: { kind: 'number', default: 200_000, small: 10_000, least: 1, help: 'rows of the file' },
  chunkKib: {
    kind: 'number',
    default: 64,
    small: 16,
    least: 1,
    most: 512,
    help: 'KiB of the file in one job',
  },
  board: { kind: 'number', default: 0, least: 0, most: 65_535, help: 'port of a page that shows the queues' },
})

const folder = mkdtempSync(join(tmpdir(), 'lido-machines-'))
const input = join(folder, 'places.csv')
await writePlaces(input, options.rows)
const database = await startDatabase()
const children = new Set()
try {
  await migrate()
  const closeBoard =
    options.board > 0 ? await startBoard(options.board, database.url, ways.map(queueNameOf)) : null
  const results = []
  for (const way of ways) results.push(await runWay(way))
  report(results)
  if (closeBoard !== null) {
    await once(process, 'SIGINT')
    await closeBoard()
  }
} finally {
  for (const child of children) kill(child)
  await database.stop()
  rmSync(folder, { recursive: true })
}
process.exit()

async function migrate() {
  const connection = { connectionString: database.url, migrate: true }
  const queue = new Queue('migration', { connection }, createPostgresBackend)
  await queue.waitUntilReady()
  await queue.close()
}

function queueNameOf({ way }) {
  return way.replaceAll(/\W+/g, '-')
}

async function runWay(settings) {
  announce(settings.way)
  const queueName = queueNameOf(settings)
  const hosts = await Promise.all(
    Array.from({ length: settings.hosts }, () => startHost(settings.host, queueName)),
  )
  const half = options.rows / 2
  const hash = createHash('sha256')
  let rows = 0
  const startedAt = performance.now()
  await settings.caller(queueName, readTexts(), lines => {
    hash.update(lines)
    rows += lines.split('\n').length - 1
    if (settings.isKilling && rows >= half) kill(hosts[0])
  })
  const seconds = (performance.now() - startedAt) / 1000
  const loopDelayMs = await stopHost(hosts.at(-1))
  for (const host of hosts) kill(host)
  return {
    way: settings.way,
    rows,
    seconds,
    perSecond: rows / seconds,
    loopDelayMs,
    checksum: hash.digest('hex'),
  }
}

async function* readTexts() {
  for await (const chunk of readChunks(input, options.chunkKib * 1024)) yield chunk.toString()
}

async function startHost(...args) {
  const host = fork(fileURLToPath(new URL('host.js', import.meta.url)), [...args, database.url], {
    detached: true,
  })
  children.add(host)
  host.once('exit', () => children.delete(host))
  await once(host, 'message')
  return host
}

/** Kills the host and the processes of BullMQ's sandbox, which would outlive it. */
function kill(host) {
  if (children.delete(host)) process.kill(-host.pid, 'SIGKILL')
}

/** Resolves to the event loop delay of the host. */
async function stopHost(host) {
  host.send('stop')
  const [{ loopDelayMs }] = await once(host, 'message')
  return loopDelayMs
}

async function callByLido(queueName, texts, use) {
  const pool = new RemotePool(queueName, { engine: 'postgres', connection: database.url })
  await pool.map(texts, { concurrency: IN_QUEUE, itemsPerJob: 1 }).forEach(use)
  await pool.close()
}

/** BullMQ adds the jobs. `RemotePool` only waits for their results, in their order. */
async function callByBullMQ(queueName, texts, use) {
  const queue = new Queue(queueName, { connection: database.url }, createPostgresBackend)
  const pool = new RemotePool(queueName, { engine: 'postgres', connection: database.url })
  const results = []
  for await (const text of texts) {
    const { id } = await queue.add('default', text)
    results.push(pool.result(id))
    if (results.length === IN_QUEUE) use(await results.shift())
  }
  for (const result of results) use(await result)
  await Promise.all([queue.close(), pool.close()])
}

function report(results) {
  printReport({
    title: `CSV rows on computing hosts with one worker each, ${options.chunkKib} KiB of the file in one job`,
    columns: [
      wayColumn,
      countColumn('rows', row => row.rows),
      countColumn('seconds', row => row.seconds),
      countColumn('rows/s', row => row.perSecond),
      ...loopDelayColumns,
    ],
    rows: results,
    lesson: teach(results),
  })
  const isSame = results.every(({ checksum }) => checksum === results[0].checksum)
  console.log(isSame ? `Same result from all ${results.length} ways.` : 'Different results.')
  process.exitCode = isSame ? 0 : 1
}

function teach([inline, sandbox, one, two, killed]) {
  return (
    `Two hosts were ${formatSpeed(two.perSecond / one.perSecond, 'one')}. One host was ${formatSpeed(one.perSecond / sandbox.perSecond, "BullMQ's sandbox")}. ` +
    `Its event loop was ${formatNumber(one.loopDelayMs.p99)} ms late (p99), and ${formatNumber(inline.loopDelayMs.p99)} ms with BullMQ inline. ` +
    `When one of two hosts was killed, the other one finished all ${formatNumber(killed.rows)} rows.`
  )
}
