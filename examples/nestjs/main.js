// Keeps the example of a Nest service that estimates pi: alone, on a cluster, on a pool, and on both. The computation is loaded
// while /health is asked as well: its latency says whether the service still answers.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOptions } from '../shared/command-line.js'
import { fire } from '../shared/load.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  latencyColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'
import { bundleInto } from './build.js'

const healthConnections = 4
const options = readOptions('node examples/nestjs/main.js', {
  processes: {
    kind: 'number',
    default: Math.max(2, availableParallelism()),
    least: 2,
    help: 'processes of the cluster',
  },
  connections: { kind: 'number', default: 16, small: 6, least: 1, help: 'connections that ask for pi' },
  duration: {
    kind: 'number',
    default: 5,
    small: 0.5,
    least: 0.1,
    isWhole: false,
    help: 'seconds of load a way',
  },
  points: { kind: 'number', default: 1_000_000, small: 100_000, least: 1, help: 'points of an estimate' },
})

// Within the repository, where the program finds its packages.
const builds = fileURLToPath(new URL('./build/', import.meta.url))
mkdirSync(builds, { recursive: true })
const folder = mkdtempSync(builds)
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
await bundleInto(folder)

const alone = await runWay('alone', 1, false)
const clustered = await runWay('cluster', options.processes, false)
const pooled = await runWay('pool', 1, true)
const both = await runWay('cluster and pool', options.processes, true)

printReport({
  title: `Nest estimating pi from ${formatNumber(options.points)} points, ${options.connections} connections; a cluster has ${options.processes} processes`,
  columns: [
    wayColumn,
    countColumn('/pi req/s', row => row.perSecond),
    ...latencyColumns,
    ...['p50', 'p99', 'max'].map(name => countColumn(name, row => row.healthMs[name], '/health latency ms')),
    countColumn('failed', row => row.failures),
  ],
  rows: [alone, clustered, pooled, both],
  lesson:
    `p99 of /health: ${healthOf(pooled)} on the pool, ${healthOf(alone)} alone, ${healthOf(clustered)} on the cluster. The pool ` +
    `estimates ${formatRatio(pooled.perSecond / alone.perSecond)} as often as the service alone, the cluster ` +
    `${formatRatio(clustered.perSecond / alone.perSecond)}, both ${formatRatio(both.perSecond / alone.perSecond)}.`,
})

/** A service that computes all the time may answer none while the load lasts. */
function healthOf({ healthMs }) {
  return Number.isNaN(healthMs.p99) ? 'no answer at all' : `${formatNumber(healthMs.p99)} ms`
}

async function runWay(way, processes, isPooled) {
  console.log(`${way} ...`)
  const server = fork(join(folder, 'main.js'), {
    env: { ...process.env, PI_PROCESSES: String(processes), PI_POOL: isPooled ? '1' : '0' },
  })
  const ended = once(server, 'exit')
  const early = ended.then(([code, signal]) => {
    throw new Error(`the server ended early (${signal ?? `exit code ${code}`})`)
  })
  early.catch(() => {})
  const [{ port }] = await Promise.race([once(server, 'message'), early])
  const durationSeconds = options.duration
  const pi = `http://127.0.0.1:${port}/pi?points=${options.points}`
  const health = `http://127.0.0.1:${port}/health`
  await fire(pi, { connections: options.connections, durationSeconds: durationSeconds / 4 })
  const [figures, { latencyMs: healthMs, failures }] = await Promise.all([
    fire(pi, { connections: options.connections, durationSeconds }),
    fire(health, { connections: healthConnections, durationSeconds }),
  ])
  server.kill('SIGTERM')
  const [exitCode, signal] = await ended
  if (exitCode !== 0) throw new Error(`the server of '${way}' ended with ${signal ?? exitCode}`)
  return { way, ...figures, healthMs, failures: figures.failures + failures }
}
