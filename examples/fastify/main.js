// Keeps the example of a Fastify server that hashes passwords: on its own thread, on a worker for each request, on piscina, and
// with the plugin. Each server runs in a process of its own; the load comes from this one.
import { availableParallelism } from 'node:os'
import { readOptions } from '../shared/command-line.js'
import { loadServer } from '../shared/load.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'

const options = readOptions('node examples/fastify/main.js', {
  maxThreads: { kind: 'number', default: availableParallelism(), least: 1, help: 'workers in a pool' },
  connections: { kind: 'number', default: 20, small: 2, least: 1, help: 'connections of the load' },
  duration: {
    kind: 'number',
    default: 5,
    small: 1,
    least: 0.1,
    isWhole: false,
    help: 'seconds of load a way',
  },
  costLog2: {
    kind: 'number',
    default: 13,
    small: 10,
    least: 1,
    most: 20,
    help: 'scrypt works with the cost 2^this',
  },
})

const alone = await runWay('without a pool', 'alone')
const perRequest = await runWay('a worker for each request', 'worker')
const piscina = await runWay('piscina', 'piscina')
const lido = await runWay('lido/fastify', 'lido')

printReport({
  title: `Fastify hashing passwords, N = 2^${options.costLog2}, ${options.connections} connections, ${options.maxThreads} workers`,
  columns: [
    wayColumn,
    countColumn('req/s', row => row.perSecond),
    ...latencyColumns,
    ...loopDelayColumns,
    countColumn('failed', row => row.failures),
  ],
  rows: [alone, perRequest, piscina, lido],
  lesson:
    `With the plugin the event loop was late by ${formatNumber(lido.loopDelayMs.p99)} ms (p99) instead of ` +
    `${formatNumber(alone.loopDelayMs.p99)} ms, at ${formatRatio(lido.perSecond / alone.perSecond)} the answers of the server ` +
    `without a pool and ${formatRatio(lido.perSecond / piscina.perSecond)} those of piscina; a worker for each request gave ` +
    `${formatNumber(perRequest.perSecond)} a second, the plugin ${formatNumber(lido.perSecond)}.`,
})

async function runWay(way, kind) {
  console.log(`${way} ...`)
  const settings = { way: kind, cost: 2 ** options.costLog2, maxThreads: options.maxThreads }
  const load = { connections: options.connections, durationSeconds: options.duration }
  return { way, ...(await loadServer(new URL('./app.js', import.meta.url), settings, load)) }
}
