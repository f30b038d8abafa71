// Keeps the example of a Nest service that estimates pi: alone, on a worker for each request, on a pool, on a cluster, and on a
// pool in each process of a cluster. /health is asked as well: its latency says whether the service still answers.
import { availableParallelism } from 'node:os'
import { readOptions } from '../shared/command-line.js'
import { secondsOfLoad } from '../shared/common-options.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  healthColumns,
  longestDelayColumn,
  printReport,
  shortLatencyColumns,
  wayColumn,
} from '../shared/report.js'
import { bundle } from './build.js'
import { loadService } from './load.js'

const options = readOptions('node examples/nestjs/main.js', {
  processes: {
    kind: 'number',
    default: Math.max(2, availableParallelism()),
    least: 2,
    most: 256,
    help: 'processes of the cluster',
  },
  connections: { kind: 'number', default: 16, small: 6, least: 1, help: 'connections that ask for pi' },
  duration: secondsOfLoad({ full: 5, small: 0.5 }),
  points: { kind: 'number', default: 1_000_000, small: 100_000, least: 1, help: 'points of an estimate' },
})
const program = await bundle()

const alone = await runWay('alone', 'alone', 1)
const perRequest = await runWay('a worker for each request', 'worker', 1)
const piscina = await runWay('piscina', 'piscina', 1)
const pooled = await runWay('pool', 'lido', 1)
const clustered = await runWay('cluster', 'alone', options.processes)
const both = await runWay('cluster and pool', 'lido', options.processes)

printReport({
  title: `Nest estimating pi from ${formatNumber(options.points)} points, ${options.connections} connections; a cluster has ${options.processes} processes`,
  columns: [
    wayColumn,
    countColumn('/pi req/s', row => row.perSecond),
    ...shortLatencyColumns,
    ...healthColumns,
    longestDelayColumn,
    countColumn('failed', row => row.failures),
  ],
  rows: [alone, perRequest, piscina, pooled, clustered, both],
  lesson:
    `p99 of /health: ${healthOf(pooled)} on the pool, ${healthOf(alone)} alone, ${healthOf(clustered)} on the cluster. The pool ` +
    `estimates ${formatRatio(pooled.perSecond / alone.perSecond)} as often as the service alone, the cluster ` +
    `${formatRatio(clustered.perSecond / alone.perSecond)}, both ${formatRatio(both.perSecond / alone.perSecond)}.`,
})

function healthOf({ healthMs }) {
  return `${formatNumber(healthMs.p99)} ms`
}

async function runWay(way, kind, processes) {
  console.log(`${way} ...`)
  const { points, connections, duration: durationSeconds } = options
  const figures = await loadService(
    { program, way: kind, processes },
    { points, connections, durationSeconds },
  )
  return { way, ...figures }
}
