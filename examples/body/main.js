// Large JSON bodies beside small requests, with the parser of Express, with lido, and with two hand-written ways.
// Each server runs in a process of its own. The load comes from this process.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad } from '../shared/common-options.js'
import {
  announce,
  countColumn,
  formatNumber,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'
import { loadBodies, makeOrders } from './load.js'

const options = readOptions('node examples/body/main.js', {
  megabytes: {
    kind: 'number',
    default: 10,
    small: 1,
    least: 0.01,
    most: 100,
    isWhole: false,
    help: 'MB of a large body',
  },
  perSecond: { kind: 'number', default: 2, least: 1, help: 'large bodies per second' },
  maxWorkers,
  connections: { kind: 'number', default: 10, small: 4, least: 1, help: 'connections of the small requests' },
  duration: secondsOfLoad({ full: 10, small: 1 }),
})
const ways = {
  alone: 'express.json()',
  lido: 'lido, the whole value',
  select: 'lido, what the route needs',
  worker: 'a worker for each body',
  piscina: 'piscina, by hand',
}
const orders = makeOrders(options.megabytes * 1_000_000)

const rows = []
for (const way of Object.keys(ways)) rows.push(await runWay(way))

printReport({
  title:
    `Express, ${options.perSecond} JSON bodies of ${formatNumber(options.megabytes)} MB a second beside small requests ` +
    `on ${options.connections} connections`,
  columns: [
    wayColumn,
    countColumn('req/s', row => row.perSecond, 'small'),
    ...latencyColumns,
    ...loopDelayColumns,
    countColumn('req/s', row => row.large.perSecond, 'large'),
    countColumn('p50 ms', row => row.large.latencyMs.p50, 'large'),
    countColumn('failed', row => row.failures),
  ],
  rows,
  lesson: teach(),
})

async function runWay(way) {
  announce(ways[way])
  const { maxWorkers, perSecond, connections, duration: durationSeconds } = options
  const figures = await loadBodies(way, maxWorkers, { orders, perSecond, connections, durationSeconds })
  return { way: ways[way], ...figures }
}

function teach() {
  const [alone, whole, selected] = rows
  const p99 = row => `${formatNumber(row.latencyMs.p99)} ms`
  const delay = row => `${formatNumber(row.loopDelayMs.max)} ms`
  return (
    `Small requests (p99) took ${p99(alone)} with express.json(), ${p99(whole)} with lido, and ${p99(selected)} when the worker ` +
    `returned only the part that the route needs. The event loop was blocked for at most ${delay(alone)}, ${delay(whole)} and ` +
    `${delay(selected)}.`
  )
}
