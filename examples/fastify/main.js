// Keeps the example of a Fastify server that hashes passwords: on its own thread, on a worker for each request, on piscina, and
// with the plugin; and what /health, another route of the same server, waits meanwhile. Each server runs in a process of its own; the load comes from this one.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad } from '../shared/common-options.js'
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
import { loadHashing } from './load.js'

const options = readOptions('node examples/fastify/main.js', {
  maxWorkers,
  connections: { kind: 'number', default: 20, small: 2, least: 1, help: 'connections of the load' },
  duration: secondsOfLoad({ full: 5, small: 1 }),
  costLog2: {
    kind: 'number',
    default: 13,
    small: 10,
    least: 2,
    most: 20,
    help: 'scrypt works with the cost 2^this',
  },
})

const alone = await runWay('without a pool', 'alone')
const perRequest = await runWay('a worker for each request', 'worker')
const piscina = await runWay('piscina', 'piscina')
const lido = await runWay('lido/fastify', 'lido')

printReport({
  title: `Fastify hashing passwords, N = 2^${options.costLog2}, ${options.connections} connections, ${options.maxWorkers} workers`,
  columns: [
    wayColumn,
    countColumn('req/s', row => row.perSecond),
    ...shortLatencyColumns,
    ...healthColumns,
    longestDelayColumn,
    countColumn('failed', row => row.failures),
  ],
  rows: [alone, perRequest, piscina, lido],
  lesson:
    `With the plugin /health waited ${formatNumber(lido.healthMs.p99)} ms (p99) instead of ` +
    `${formatNumber(alone.healthMs.p99)} ms, at ${formatRatio(lido.perSecond / alone.perSecond)} the answers of the server ` +
    `without a pool and ${formatRatio(lido.perSecond / piscina.perSecond)} those of piscina; a worker for each request gave ` +
    `${formatNumber(perRequest.perSecond)} a second, the plugin ${formatNumber(lido.perSecond)}.`,
})

async function runWay(way, kind) {
  console.log(`${way} ...`)
  const { duration: durationSeconds, ...load } = options
  return { way, ...(await loadHashing(kind, { ...load, durationSeconds })) }
}
