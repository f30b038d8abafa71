// Rows M1 to M3: jobs of 1, 10 and 100 ms of CPU on one host with 2 workers, through a queue of BullMQ's.
// Row M4: 32 small calls of a RemotePool at once.
//   npm run bench:queue -- [--engine postgres,redis] [--rows M1,M2,M3,M4] [--rounds 3] [--seconds 2]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createPostgresBackend, Queue } from 'bullmq'
import { RemotePool } from 'lido/bullmq'
import { engines } from '../../test/helpers/engines.js'
import { describeMachine } from '../machine.js'
import { countLoopsPerMs } from '../work.js'

const ways = ['inline', 'sandbox, processes', 'sandbox, threads', 'lido']
/** `jobs` wait in the queue before the host starts. Then jobs come at `perSecond`, which every way can keep up with. */
const rows = [
  { name: 'M1', jobMs: 1, jobs: 400, perSecond: 50 },
  { name: 'M2', jobMs: 10, jobs: 200, perSecond: 30 },
  { name: 'M3', jobMs: 100, jobs: 40, perSecond: 6 },
]

const { values: flags } = parseArgs({
  options: {
    engine: { type: 'string', default: 'postgres,redis' },
    rows: { type: 'string', default: 'M1,M2,M3,M4' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
})
const loopsPerMs = countLoopsPerMs()
console.log(JSON.stringify(describeMachine()))
for (const engine of engines) {
  if (!flags.engine.split(',').includes(engine.name)) continue
  if (engine.skip) {
    console.log(`${engine.name}: not measured, because ${engine.skip}`)
    continue
  }
  const server = await engine.start()
  try {
    await measureEngine(engine.name, server.options)
  } finally {
    await server.stop()
  }
}

async function measureEngine(name, { connection }) {
  const factory = name === 'postgres' ? createPostgresBackend : undefined
  if (name === 'postgres') await migrate(connection, factory)
  const chosen = flags.rows.split(',')
  for (const row of rows) {
    if (!chosen.includes(row.name)) continue
    const samples = Object.fromEntries(ways.map(way => [way, []]))
    for (let round = 0; round < Number(flags.rounds); round++) {
      // Another way is first in each round.
      for (let index = 0; index < ways.length; index++) {
        const way = ways[(index + round) % ways.length]
        samples[way].push(await measure(way, row, name, connection, factory))
      }
    }
    report(name, row, samples)
  }
  if (chosen.includes('M4')) await measureCalls(name, connection)
}

/** Row M4. The work is nothing, so the time is that of the queue and of the way back. */
async function measureCalls(engine, connection) {
  const lanes = 32
  const host = startHost('lido', 'M4', engine, connection)
  await once(host, 'message')
  const pool = new RemotePool('M4', { engine, connection })
  const summaries = { perSecond: [], p50: [], p99: [] }
  for (let round = 0; round < Number(flags.rounds); round++) {
    const latencies = []
    const startedAt = performance.now()
    const endsAt = startedAt + Number(flags.seconds) * 1000
    const callUntilEnd = async () => {
      while (performance.now() < endsAt) {
        const calledAt = performance.now()
        await pool.run(1, { name: 'compute' })
        latencies.push(performance.now() - calledAt)
      }
    }
    await Promise.all(Array.from({ length: lanes }, callUntilEnd))
    summaries.perSecond.push((latencies.length / (performance.now() - startedAt)) * 1000)
    latencies.sort((a, b) => a - b)
    summaries.p50.push(latencies[Math.floor(latencies.length * 0.5)])
    summaries.p99.push(latencies[Math.floor(latencies.length * 0.99)])
  }
  await pool.close()
  await kill(host)
  const { perSecond, p50, p99 } = summaries
  console.log(
    `\nM4 ${engine}: ${lanes} calls at once, each of 1 loop. ${summary(perSecond, 0)} calls/s   p50 ${summary(p50, 1)} ms   p99 ${summary(p99, 1)} ms`,
  )
}

function startHost(way, queueName, engine, connection) {
  return fork(
    fileURLToPath(new URL('host.js', import.meta.url)),
    [way, queueName, engine, JSON.stringify(connection)],
    { detached: true },
  )
}

/** Also kills the processes of BullMQ's sandbox, which would outlive their host. */
async function kill(host) {
  process.kill(-host.pid, 'SIGKILL')
  await once(host, 'exit')
}

async function migrate(connection, factory) {
  const queue = new Queue(
    'migration',
    { connection: { connectionString: connection, migrate: true } },
    factory,
  )
  await queue.waitUntilReady()
  await queue.close()
}

/** The times are the times that BullMQ stores with each job, so the benchmark does not depend on events. */
async function measure(way, row, engine, connection, factory) {
  const queueName = `${row.name}-${way.replace(/\W+/g, '-')}-${Date.now()}`
  const queue = new Queue(queueName, { connection }, factory)
  // The last connections end with their server.
  queue.on('error', () => {})
  const job = { name: 'compute', data: loopsPerMs * row.jobMs }
  await queue.addBulk(Array.from({ length: row.jobs }, () => job))
  const host = startHost(way, queueName, engine, connection)
  const backlog = await finished(queue, row.jobs)
  const firstMs = Math.min(...backlog.map(({ processedOn }) => processedOn))
  const lastMs = Math.max(...backlog.map(({ finishedOn }) => finishedOn))
  const seconds = Number(flags.seconds)
  const adding = []
  const startedAt = performance.now()
  for (let index = 0; index < seconds * row.perSecond; index++) {
    await sleep(startedAt + (index / row.perSecond) * 1000 - performance.now())
    adding.push(queue.add(job.name, job.data))
  }
  await Promise.all(adding)
  const all = await finished(queue, row.jobs + adding.length)
  await kill(host)
  await queue.close()
  const latencies = all
    .filter(({ timestamp }) => timestamp > lastMs)
    .map(({ timestamp, finishedOn }) => finishedOn - timestamp)
    .sort((a, b) => a - b)
  return {
    jobsPerSecond: (row.jobs / (lastMs - firstMs)) * 1000,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)],
  }
}

/** The finished jobs, when there are that many. */
async function finished(queue, count) {
  while ((await queue.getCompletedCount()) < count) await sleep(200)
  return await queue.getCompleted(0, -1)
}

function report(engine, { name, jobMs, jobs, perSecond }, samples) {
  console.log(
    `\n${name} ${engine}: jobs of ${jobMs} ms, 2 workers. jobs/s: ${jobs} waiting jobs. p99: from the call to the end, at ${perSecond} jobs/s`,
  )
  for (const way of ways) {
    const rates = samples[way].map(({ jobsPerSecond }) => jobsPerSecond)
    const ratios = samples.lido.map(({ jobsPerSecond }, round) => jobsPerSecond / rates[round])
    const p99s = samples[way].map(({ p99Ms }) => p99Ms)
    console.log(
      `${way.padEnd(20)} ${summary(rates, 0).padStart(22)} jobs/s   p99 ${summary(p99s, 1).padStart(22)} ms   lido × ${summary(ratios, 2)}`,
    )
  }
}

function summary(values, digits) {
  const sorted = [...values].sort((a, b) => a - b)
  const text = value => value.toFixed(digits)
  return `${text(sorted[Math.floor(sorted.length / 2)])} (${text(sorted[0])}–${text(sorted.at(-1))})`
}
