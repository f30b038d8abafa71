// Keeps the example of server-side rendering: a React page behind Fastify, rendered on the event loop or in the
// pool, under few and under many connections. Each server runs in a process of its own; the load comes from this one.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad } from '../shared/common-options.js'
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

const options = readOptions('node examples/rendering/main.js', {
  rows: { kind: 'number', default: 400, small: 100, least: 1, help: 'rows of the table on the page' },
  few: { kind: 'number', default: 10, least: 1, help: 'connections of the light load' },
  many: { kind: 'number', default: 1000, small: 100, least: 1, help: 'connections of the heavy load' },
  duration: secondsOfLoad({ full: 5, small: 0.5 }),
  maxWorkers,
  'with-piscina': { kind: 'flag', default: false, help: 'also renders in a pool of piscina' },
})

const names = { alone: 'without the pool', lido: 'with the pool' }
if (options['with-piscina']) names.piscina = 'with piscina'

const rows = []
for (const connections of [options.few, options.many]) {
  for (const renderer of Object.keys(names)) rows.push(await runWay(renderer, connections))
}

printReport({
  title: `React, renderToString of a table of ${formatNumber(options.rows)} rows behind Fastify`,
  columns: [
    wayColumn,
    countColumn('conns', row => row.connections),
    countColumn('req/s', row => row.perSecond),
    ...latencyColumns,
    ...loopDelayColumns,
    countColumn('failed', row => row.failures),
  ],
  rows,
  lesson: teach(),
})

async function runWay(renderer, connections) {
  console.log(`${names[renderer]}, ${connections} connections ...`)
  const settings = { renderer, rowCount: options.rows, maxWorkers: options.maxWorkers }
  const load = { connections, durationSeconds: options.duration }
  const environment = { NODE_ENV: 'production' }
  const figures = await loadServer(new URL('./app.js', import.meta.url), settings, load, environment)
  return { way: names[renderer], renderer, connections, ...figures }
}

function teach() {
  const alone = rows.findLast(row => row.renderer === 'alone')
  const pooled = rows.findLast(row => row.renderer === 'lido')
  return (
    `Rendering is synchronous work, so at ${formatNumber(options.many)} connections the pool answered ` +
    `${formatRatio(pooled.perSecond / alone.perSecond)} as many requests and kept the event loop's delay (p99) at ` +
    `${formatNumber(pooled.loopDelayMs.p99)} ms instead of ${formatNumber(alone.loopDelayMs.p99)} ms; a queue that ` +
    'long still waits, because a pool adds cores and not time.'
  )
}
