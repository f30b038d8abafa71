// npm run chaos -- [--engine postgres|redis] [--jobs 2000] [--kill-every 2000] [--fault-every 5000]
// Three hosts run the jobs of a queue, and one caller waits for all results. All reach the server through a proxy.
// Every two seconds, one of the hosts is killed by SIGKILL and started again. Every five seconds comes one of these faults in turn:
// - a deploy: two hosts are replaced one after the other; they take all jobs, or do not know the newer handler yet
// - a router forgets all connections: they carry no byte again, and neither side learns it
// - a failover: the server refuses writes for 1.5 s
// - a restart of the server
// Every call must give its own result. Prints how many jobs ran more than once.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createPostgresBackend, Queue } from 'bullmq'
import { RemotePool } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { startProxy } from '../helpers/proxy.js'

const { values: flags } = parseArgs({
  options: {
    engine: { type: 'string', default: 'postgres' },
    jobs: { type: 'string', default: '2000' },
    'kill-every': { type: 'string', default: '2000' },
    'fault-every': { type: 'string', default: '5000' },
    /** Comma-separated: the faults that come in turn. */
    faults: { type: 'string', default: 'deploy,forget,failover,restart' },
  },
})
const jobs = Number(flags.jobs)
const HOSTS = 3
/** Unfinished calls at once. */
const CALLS_AT_ONCE = 100
const hostProgram = fileURLToPath(new URL('../fixtures/host-program.js', import.meta.url))
const server = await engines.find(({ name }) => name === flags.engine).start()
const proxy = await startProxy(server.port)
const options = server.optionsAt(proxy.port)
const hosts = []
/** The first host always knows both handlers. */
const isOld = new Array(HOSTS).fill(false)
let starts = 0
let isEnding = false

await Promise.all(Array.from({ length: HOSTS }, (_, index) => startHost(index)))
const pool = new RemotePool('chaos', { ...options, keepResults: { count: jobs * 2 } })
const problems = new Map()
pool.on('error', ({ message }) => count(problems, message))
const startedAt = performance.now()

let kills = 0
const killer = setInterval(() => hosts[kills++ % HOSTS]?.kill('SIGKILL'), Number(flags['kill-every']))

const faults = {
  async deploy() {
    for (const index of [1, 2]) {
      isOld[index] = !isOld[index]
      const old = hosts[index]
      old.kill('SIGTERM')
      // A host that was killed at that moment has ended already.
      if (old.exitCode === null && old.signalCode === null) await once(old, 'exit')
    }
  },
  forget: async () => proxy.forget(),
  failover: () => server.refuseWrites(() => sleep(1500)),
  restart: () => server.restart(() => sleep(500)),
}
const faultNames = flags.faults.split(',')
const seen = new Map()
const ending = new AbortController()
const faultsEnd = makeFaults()

const failures = new Map()
const sampled = []
let settled = 0
let lost = 0
let wrong = 0
let next = 0
await Promise.all(Array.from({ length: CALLS_AT_ONCE }, callUntilEnd))
clearInterval(killer)
const seconds = (performance.now() - startedAt) / 1000
isEnding = true
ending.abort()
await faultsEnd
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
proxy.close()
await server.stop()
const faultList = [...seen].map(([name, times]) => `${name} ${times}`).join(', ')
console.log(
  `${flags.engine}: ${jobs} jobs in ${seconds.toFixed(1)} s on ${HOSTS} hosts: ${kills} kills (${faultList}), ${starts} starts of hosts, ${repeated} jobs started more than once`,
)
console.log(`lost ${lost}, wrong ${wrong}`)
console.log(`caller's memory (RSS in MiB, for each tenth): ${sampled.join(', ')}`)
console.log(`queue: ${JSON.stringify(counts)}`)
for (const [message, times] of failures) console.log(`  ${times} times: ${message}`)
console.log(`interruptions that the caller saw: ${JSON.stringify(Object.fromEntries(problems))}`)
process.exit(lost + wrong === 0 ? 0 : 1)

async function callUntilEnd() {
  while (next < jobs) {
    const index = next++
    // Hosts of the older version know `slowly` and not `echo`.
    const name = index % 4 === 0 ? 'echo' : 'slowly'
    try {
      if ((await pool.run(index, { name })) !== index) wrong++
    } catch (error) {
      lost++
      count(failures, error.message.replace(/[0-9a-f-]{36}/, '<id>'))
    }
    settled++
    if (settled % Math.ceil(jobs / 10) === 0) {
      sampled.push(Math.round(process.memoryUsage.rss() / 2 ** 20))
    }
  }
}

async function makeFaults() {
  for (let turn = 0; !isEnding; turn++) {
    await sleep(Number(flags['fault-every']), undefined, { signal: ending.signal }).catch(() => {})
    if (isEnding) return
    const name = faultNames[turn % faultNames.length]
    count(seen, name)
    await faults[name]()
  }
}

async function startHost(index) {
  const served = { ...options, lockDuration: 2000, closeTimeout: 1000 }
  if (isOld[index]) served.handlers = ['slowly']
  const host = fork(hostProgram, ['chaos', JSON.stringify(served)], {
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

function count(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
