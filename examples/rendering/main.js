// Server-side rendering: a React page behind Fastify, rendered on the event loop or in a pool, with few and with many
// connections. Each server runs in a process of its own. The load comes from this process.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad } from '../shared/common-options.js'
import { loadServer } from '../shared/load.js'
import {
  announce,
  countColumn,
  formatNumber,
  formatSpeed,
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
  'with-piscina': { kind: 'flag', default: false, help: 'also renders with piscina' },
})

const names = { alone: 'without the pool', lido: 'with the pool' }
if (options['with-piscina']) names.piscina = 'with piscina'

const rows = []
for (const connections of [options.few, options.many]) {
  for (const renderer of Object.keys(names)) rows.push(await runWay(renderer, connections))
}

printReport({
  title: `Fastify and React, renderToString of a table of ${formatNumber(options.rows)} rows`,
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
  announce(`${names[renderer]}, ${connections} connections`)
  const settings = { renderer, rowCount: options.rows, maxWorkers: options.maxWorkers }
  const load = { connections, durationSeconds: options.duration }
  const environment = { NODE_ENV: 'production' }
  const figures = await loadServer(new URL('./app.js', import.meta.url), settings, load, environment)
  return { way: names[renderer], renderer, connections, ...figures }
}

function teach() {
  const alone = rows.findLast(row => row.renderer === 'alone')
  const pooled = rows.findLast(row => row.renderer === 'lido')
  const piscina = rows.findLast(row => row.renderer === 'piscina')
  const beside = piscina ? `, and ${formatSpeed(pooled.perSecond / piscina.perSecond, 'piscina')}` : ''
  return (
    `At ${formatNumber(options.many)} connections the pool was ` +
    `${formatSpeed(pooled.perSecond / alone.perSecond, 'the server without a pool')}${beside}. The event loop delay (p99) was ` +
    `${formatNumber(pooled.loopDelayMs.p99)} ms instead of ${formatNumber(alone.loopDelayMs.p99)} ms. Most requests still wait in a ` +
    'queue: a pool uses more cores, but it does not render one page faster.'
  )
}
