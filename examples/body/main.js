// Keeps the example of large JSON bodies: what they do to the small requests beside them, with Express' own parser, with
// lido's, and with two ways by hand. Each server runs in a process of its own; the load comes from this one.
import { availableParallelism } from 'node:os'
import { Child } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'
import { fireBodies, makeOrders } from './load.js'

const options = readOptions('node examples/body/main.js', {
  megabytes: {
    kind: 'number',
    default: 10,
    small: 1,
    least: 0.01,
    isWhole: false,
    help: 'MB of a large body',
  },
  perSecond: { kind: 'number', default: 2, least: 1, help: 'large bodies a second' },
  maxThreads: { kind: 'number', default: availableParallelism(), least: 1, help: 'workers in the pools' },
  connections: { kind: 'number', default: 10, small: 4, least: 1, help: 'connections of the small requests' },
  duration: {
    kind: 'number',
    default: 10,
    small: 1,
    least: 0.1,
    isWhole: false,
    help: 'seconds of load a way',
  },
})
const ways = {
  own: 'express.json()',
  lido: 'lido, the whole value',
  select: 'lido, what the route needs',
  workers: 'a worker for each body',
  piscina: 'piscina, by hand',
}
const warmUpShare = 0.25
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
  console.log(`${ways[way]} ...`)
  const child = new Child(
    new URL('./app.js', import.meta.url),
    { way, maxThreads: options.maxThreads },
    {
      NODE_ENV: 'production',
    },
  )
  try {
    const { port } = await child.next('listening')
    const { connections, perSecond, duration } = options
    const load = { url: `http://127.0.0.1:${port}/`, orders, perSecond, connections }
    await fireBodies({ ...load, durationSeconds: duration * warmUpShare })
    await child.ask('measure', 'measuring')
    const figures = await fireBodies({ ...load, durationSeconds: duration })
    const { loopDelayMs } = await child.ask('report', 'measured')
    return { way: ways[way], ...figures, loopDelayMs }
  } finally {
    await child.end()
  }
}

function teach() {
  const [own, whole, selected] = rows
  const share = row => formatRatio(row.latencyMs.p99 / own.latencyMs.p99)
  return (
    `The small requests' p99 was ${share(whole)} that of express.json() when the whole value came back from the pool, and ` +
    `${share(selected)} when only what the route needs did; the event loop was late by at most ` +
    `${formatNumber(whole.loopDelayMs.max)} and ${formatNumber(selected.loopDelayMs.max)} ms instead of ` +
    `${formatNumber(own.loopDelayMs.max)} ms.`
  )
}
