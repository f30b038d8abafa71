// A Fastify server that hashes passwords: on its own thread, in a worker for each request, in piscina, and with the plugin.
// Meanwhile /health, another route of the server, is asked. Each server runs in a process of its own. The load comes from this process.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad } from '../shared/common-options.js'
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
    help: 'scrypt uses the cost 2^this',
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
    `With the plugin, /health was answered within ${formatNumber(lido.healthMs.p99)} ms (p99) instead of ` +
    `${formatNumber(alone.healthMs.p99)} ms. The plugin hashed passwords ${speedBeside(alone, 'without a pool')}, ` +
    `${speedBeside(perRequest, 'a worker for each request')}, and ${speedBeside(piscina, 'piscina')}.`,
})

async function runWay(way, kind) {
  announce(way)
  const { duration: durationSeconds, ...load } = options
  return { way, ...(await loadHashing(kind, { ...load, durationSeconds })) }
}

function speedBeside(other, name) {
  return formatSpeed(lido.perSecond / other.perSecond, name)
}
