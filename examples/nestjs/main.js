// A Nest service that estimates pi: alone, in a worker for each request, in piscina, in a pool, on a cluster, and with a pool in
// each process of a cluster. Meanwhile /health is asked. Its latency shows whether the service still answers.
import { availableParallelism } from 'node:os'
import { readOptions } from '../shared/command-line.js'
import { secondsOfLoad } from '../shared/common-options.js'
import {
  announce,
  countColumn,
  formatNumber,
  formatSpeed,
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
  connections: { kind: 'number', default: 16, small: 6, least: 1, help: 'connections that request /pi' },
  duration: secondsOfLoad({ full: 5, small: 0.5 }),
  points: { kind: 'number', default: 1_000_000, small: 100_000, least: 1, help: 'points of one estimate' },
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
    `/health was answered within ${healthOf(pooled)} (p99) with the pool, ${healthOf(alone)} alone, and ${healthOf(clustered)} on ` +
    `the cluster. Estimates: the pool was ${speedOf(pooled)}, the cluster ${speedOf(clustered)}, and both together ${speedOf(both)}.`,
})

function healthOf({ healthMs }) {
  return `${formatNumber(healthMs.p99)} ms`
}

function speedOf({ perSecond }) {
  return formatSpeed(perSecond / alone.perSecond, 'the service alone')
}

async function runWay(way, kind, processes) {
  announce(way)
  const { points, connections, duration: durationSeconds } = options
  const figures = await loadService(
    { program, way: kind, processes },
    { points, connections, durationSeconds },
  )
  return { way, ...figures }
}
