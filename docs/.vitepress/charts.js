// Draws the charts of the documentation into `docs/charts`, from the newest results in `bench/results`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BarChart } from 'echarts/charts'
import { GridComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { formatFigure } from '../../bench/units.js'
import { root } from './pages.js'
import { picture } from './picture-style.js'

use([BarChart, GridComponent, SVGRenderer])

const more = 'more is better'
const less = 'less is better'

/** Each chart shows one row of the benchmark. */
const charts = [
  { name: 'tasks-integer', id: 'P1', title: 'Tasks with an integer', scale: `tasks a second, ${more}` },
  { name: 'tasks-object', id: 'P3', title: 'Tasks with 6 fields', scale: `tasks a second, ${more}` },
  { name: 'tasks-10kb', id: 'P4', title: 'Tasks with an object of 10 KB', scale: `tasks a second, ${more}` },
  {
    name: 'tasks-64kb',
    id: 'P5-bytes',
    title: 'Tasks with 64 KB of bytes',
    scale: `tasks a second, ${more}`,
  },
  {
    name: 'one-task',
    id: 'P6-spare',
    title: 'One task at a time',
    scale: `median until the result, ${less}`,
  },
  { name: 'tasks-1ms', id: 'P9', title: 'Tasks of 1 ms on all cores', scale: `share of the ideal, ${more}` },
  {
    name: 'blocked-main-thread',
    id: 'P8-running',
    title: 'Work done while the main thread is blocked',
    scale: `share of the possible work, ${more}`,
  },
  {
    name: 'react-pages',
    id: 'P13-requests-10',
    title: 'A server renders React pages',
    scale: `pages a second, ${more}`,
  },
  {
    name: 'passwords',
    id: 'fastify-requests',
    title: 'A Fastify server hashes passwords',
    scale: `hashes a second, ${more}`,
  },
  {
    name: 'passwords-health',
    id: 'fastify-health-p99',
    title: 'Another route of the same server',
    scale: `99 of 100 answers within, ${less}`,
  },
  {
    name: 'nest',
    id: 'nest-requests',
    title: 'A Nest service computes',
    scale: `computations a second, ${more}`,
  },
  {
    name: 'nest-health',
    id: 'nest-health-p99',
    title: 'Another route of the same service',
    scale: `99 of 100 answers within, ${less}`,
  },
  {
    name: 'json-bodies',
    id: 'body-small-p99',
    title: 'Small requests beside JSON bodies of 10 MB',
    scale: `99 of 100 answers within, ${less}`,
  },
  {
    name: 'large-result',
    id: 'P14-objects',
    title: 'A result of 50 MB arrives: objects',
    scale: `longest delay of the event loop, ${less}`,
  },
  {
    name: 'first-result',
    id: 'P11-first',
    title: 'From a new pool to the first result',
    scale: `time, ${less}`,
  },
  { name: 'worker-memory', id: 'P11-memory', title: 'Memory of an idle worker', scale: less },
]

const plainNames = {
  'post-message': 'bare postMessage',
  unpooled: 'no pool',
  'worker-per-request': 'new worker each',
}
const width = 400
const barHeight = 24
const headHeight = 48
const footHeight = 26
/** ECharts accepts no variables. These colours stand for them until the picture is drawn. */
const standIns = { '#000001': 'text', '#000002': 'muted', '#000003': 'accent', '#000004': 'other' }
const [text, muted, accent, other] = Object.keys(standIns)

export function drawCharts(folder = join(root, 'docs', 'charts')) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const results = newestResults()
  for (const chart of charts) writeFileSync(join(folder, `${chart.name}.svg`), drawChart(chart, results))
}

/** The newest file that has all rows. Among files of one day, that of the newest Node version. */
function newestResults() {
  const folder = join(root, 'bench', 'results')
  const all = readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .filter(({ rows }) => charts.every(({ id }) => rows.some(row => row.id === id)))
  const day = ({ date }) => date.slice(0, 'yyyy-mm-dd'.length)
  all.sort(
    (one, next) =>
      day(next).localeCompare(day(one)) ||
      next.machine.node.localeCompare(one.machine.node, 'en', { numeric: true }),
  )
  if (all.length === 0) throw new Error('No file in bench/results has the rows of all charts.')
  return all[0]
}

function drawChart({ id, title, scale }, { rows, pools, machine, date }) {
  const row = rows.find(candidate => candidate.id === id)
  const names = Object.keys(row.pools).filter(name => row.pools[name] !== null)
  const height = headHeight + names.length * barHeight + footHeight
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    grid: { left: 134, right: 138, top: headHeight, bottom: footHeight },
    xAxis: { type: 'value', show: false, min: 0, max: 'dataMax' },
    yAxis: {
      type: 'category',
      inverse: true,
      data: names.map(name => nameOf(name, pools[name])),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: text, fontSize: 13 },
    },
    series: [
      {
        type: 'bar',
        barWidth: '62%',
        silent: true,
        data: names.map(name => ({
          value: row.pools[name].median,
          itemStyle: { color: name === 'lido' ? accent : other },
          label: { formatter: formatRange(row.pools[name], row.unit) },
        })),
        label: { show: true, position: 'right', color: text, fontSize: 12 },
      },
    ],
  })
  const drawn = chart.renderToSVGString({ useViewBox: true })
  chart.dispose()
  const facts = `Node ${machine.node}, ${machine.cores} cores, ${machine.cpu.replace(/\(R\)|Processor/g, '').trim()}, ${date.slice(0, 10)}`
  const content = [
    textAt(0, 16, 15, text, title, 'font-weight="600"'),
    textAt(0, 36, 12, muted, scale),
    withoutExtras(drawn),
    textAt(0, height - 6, 11, muted, facts),
  ]
  return picture({ kind: 'chart', width, height, content: withVariables(content.join('\n')) })
}

function textAt(x, y, size, color, words, more = '') {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${color}" ${more}>${words}</text>`
}

function nameOf(name, { version }) {
  if (Object.hasOwn(plainNames, name)) return plainNames[name]
  const [pool, ...variant] = name.split('-')
  const release = version === null || pool === 'lido' ? '' : ` ${version.replace(/\.\d+$/, '')}`
  return `${pool}${release}${variant.length === 0 ? '' : ` ${variant.join(' ')}`}`
}

/** The median, and the least and the most of the rounds. Figures with the same unit name it once. */
function formatRange({ median, min, max }, unit) {
  const [middle, least, most] = [median, min, max].map(value => formatFigure(value, unit))
  const end = /[^\d.]*$/.exec(middle)[0]
  if (end === '' || !least.endsWith(end) || !most.endsWith(end)) return `${middle} (${least}–${most})`
  return `${middle} (${least.slice(0, -end.length)}–${most.slice(0, -end.length)})`
}

/** Keeps the shapes: the picture does not react to the pointer. */
function withoutExtras(drawn) {
  return drawn
    .replace(/^<svg[^>]*>|<\/svg>$/g, '')
    .replace(/<style.*?<\/style>/s, '')
    .replace(/<rect [^>]*fill="none"[^>]*><\/rect>/, '')
    .replace(/ (ecmeta_\w+|class|xml:space)="[^"]*"/g, '')
    .replace(/\n+/g, '\n')
    .trim()
}

function withVariables(svg) {
  return Object.entries(standIns).reduce(
    (drawn, [color, name]) => drawn.replaceAll(color, `var(--${name})`),
    svg,
  )
}
