// npm run chaos -- [--engine postgres|redis] [--jobs 2000] [--kill-every 2000]
// Three hosts run the jobs of a queue. One of them is killed by SIGKILL every two seconds and started again. Half-way, the server of the
// queue restarts (PostgreSQL). Every job must give its result. Prints how many jobs ran more than once.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createPostgresBackend, Queue } from 'bullmq'
import { RemotePool } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'

const { values: flags } = parseArgs({
  options: {
    engine: { type: 'string', default: 'postgres' },
    jobs: { type: 'string', default: '2000' },
    'kill-every': { type: 'string', default: '2000' },
  },
})
const jobs = Number(flags.jobs)
const HOSTS = 3
const hostProgram = fileURLToPath(new URL('../fixtures/host-program.js', import.meta.url))
const server = await engines.find(({ name }) => name === flags.engine).start()
const hosts = []
let starts = 0
let isEnding = false

for (let index = 0; index < HOSTS; index++) await startHost(index)
const pool = new RemotePool('chaos', { ...server.options, keepResults: { count: jobs * 2 } })
const problems = new Set()
pool.on('error', error => problems.add(error.message))
const startedAt = performance.now()
let kills = 0
const killer = setInterval(() => {
  const index = kills++ % HOSTS
  hosts[index]?.kill('SIGKILL')
}, Number(flags['kill-every']))

let settled = 0
let lost = 0
const sampled = []
const failures = new Map()
const calls = Array.from({ length: jobs }, async (_, index) => {
  try {
    if ((await pool.run(index, { name: 'slowly' })) !== index) throw new Error('a wrong result')
  } catch (error) {
    lost++
    failures.set(error.message, (failures.get(error.message) ?? 0) + 1)
  }
  settled++
  if (settled % Math.ceil(jobs / 10) === 0) sampled.push(Math.round(process.memoryUsage.rss() / 2 ** 20))
  if (settled === Math.floor(jobs / 2)) await server.restart?.(() => sleep(500))
})
await Promise.all(calls)
clearInterval(killer)
const seconds = (performance.now() - startedAt) / 1000
isEnding = true
const counts = await pool.counts()
const repeated = await countRepeated()
await pool.close()
await Promise.all(
  hosts.map(async host => {
    if (host.exitCode !== null || host.signalCode !== null) return
    host.kill('SIGKILL')
    await once(host, 'exit')
  }),
)
await server.stop()
console.log(
  `${jobs} jobs in ${seconds.toFixed(1)} s on ${HOSTS} hosts: ${kills} kills, ${starts} starts of hosts, ${repeated} jobs started more than once, ${lost} calls without a result`,
)
console.log(`caller's memory (RSS in MiB, for each tenth): ${sampled.join(', ')}`)
console.log(`queue: ${JSON.stringify(counts)}`)
for (const [message, count] of failures) console.log(`  ${count} times: ${message}`)
console.log(`interruptions that the caller saw: ${[...problems].join(' | ') || 'none'}`)
process.exit(lost === 0 ? 0 : 1)

async function startHost(index) {
  const options = { ...server.options, lockDuration: 2000 }
  const host = fork(hostProgram, ['chaos', JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  })
  hosts[index] = host
  starts++
  host.once('exit', () => {
    if (!isEnding) void startHost(index)
  })
  await Promise.race([once(host, 'message'), once(host, 'exit')])
}

/** Jobs that were running on a host when it was killed, or when the server stopped. */
async function countRepeated() {
  const factory = flags.engine === 'postgres' ? createPostgresBackend : undefined
  const queue = new Queue('chaos', { connection: server.options.connection }, factory)
  const stored = await queue.getJobs(['completed', 'failed'], 0, -1)
  await queue.close()
  return stored.filter(({ attemptsStarted }) => attemptsStarted > 1).length
}
