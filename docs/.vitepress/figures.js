// Fills the figures of the documentation from the run in bench/results. A page marks each figure:
//   <!-- figure P1 piscina -->33<!-- /figure -->
// The name says which text stands between the two comments. `forms` lists all names.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rows as allRows, realWorkRows } from '../../bench/rows.js'
import { formatRatio } from '../../bench/units.js'
import { root } from './pages.js'
import {
  dayOf,
  describeCores,
  findRow,
  formatSpread,
  formatValue,
  gainOver,
  labelOf,
  noiseOf,
  readRun,
  roundRatio,
  verdictOf,
} from './results.js'

const marker = /<!-- figure ([^>]+?) -->(.*?)<!-- \/figure -->/gs
const echoRows = ['P1', 'P2', 'P3', 'P4', 'P5-string', 'P5-bytes']
const speedPools = ['piscina', 'piscina-tuned', 'tinypool', 'workerpool', 'poolifier-tuned', 'post-message']
const titles = new Map([...allRows, ...realWorkRows].map(({ id, title }) => [id, title]))

/** The forms of a name, from the most special to the most general. A text with a line break is a table. */
const forms = [
  ['run', /^run$/, describeRun],
  ['machine', /^machine$/, run => `Node ${run.machine.node}, ${describeCores(run)}`],
  ['date', /^date$/, dayOf],
  ['rounds', /^rounds$/, run => String(run.rounds)],
  ['versions', /^versions$/, listVersions],
  ['real', /^real$/, describeRealWork],
  ['real length', /^real length$/, lengthOfRealWork],
  ['real noise', /^real noise$/, describeNoise],
  ['bar count', /^bar count$/, countBars],
  ['speed table', /^speed table$/, run => ratiosTable(run, echoRows, speedPools)],
  ['settings table', /^settings table$/, settingsTable],
  ['doors table', /^doors table$/, doorsTable],
  ['level table', /^level table$/, levelTable],
  ['short range POOL', /^short range (\S+)$/, (run, pool) => ratioRange(run, echoRows, pool)],
  ['bars of BAR …', /^bars of (.+)$/, (run, bars) => barsTable(run, bars.split(' '))],
  [
    'table of ROW … for POOL …',
    /^table of (.+) for (.+)$/,
    (run, ids, pools) => valuesTable(run, ids.split(' '), pools.split(' ')),
  ],
  [
    'ratios of ROW … to POOL …',
    /^ratios of (.+) to (.+)$/,
    (run, ids, pools) => ratiosTable(run, ids.split(' '), pools.split(' ')),
  ],
  ['ROW POOL, ROW POOL value, ROW POOL ratio', /^(\S+) (\S+)(?: (value|ratio))?$/, oneFigure],
]

/** The text of this figure. Throws if there is no such figure. */
export function renderFigure(name, run) {
  for (const [, pattern, render] of forms) {
    const match = pattern.exec(name)
    if (match !== null) return render(run, ...match.slice(1))
  }
  throw new Error(`Unknown figure '${name}'. Use: ${forms.map(([form]) => form).join('; ')}.`)
}

/** The text with the figures of this run. Errors name the `page`. */
export function fillFigures(text, run, page = 'the text') {
  const rest = text.replace(marker, '')
  if (/<!-- \/?figure/.test(rest))
    throw new Error(`In ${page}, a figure has no end, or an end has no figure.`)
  const filled = text.replace(marker, (_, name) => {
    const figure = renderFigure(name, run)
    const content = figure.includes('\n') ? `\n\n${figure}\n\n` : figure
    return `<!-- figure ${name} -->${content}<!-- /figure -->`
  })
  const misplaced = /^[\s>*-]*<!-- figure ([^>]+) -->(?!\n)/m.exec(filled)
  if (misplaced !== null) {
    const why = 'starts a line, so it ends the paragraph. Put a word before it.'
    throw new Error(`In ${page}, the figure '${misplaced[1]}' ${why}`)
  }
  return filled
}

/** The page without the comments. */
export function withoutMarks(text) {
  return text.replace(marker, (_, _name, figure) => figure.trim())
}

/** The page without the figures that the run fills. */
export function withoutFigures(text) {
  return text.replace(marker, '')
}

/** The Markdown files that may have figures, from the root of the repository. */
export function listPages() {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true })
    .map(path => `docs/${path.replaceAll('\\', '/')}`)
    .filter(path => path.endsWith('.md') && !path.startsWith('docs/types/'))
  return ['README.md', 'CONTRIBUTING.md', 'bench/README.md', 'bench/results/README.md', ...inDocs]
}

/** Fills all pages. Returns the paths of the changed pages. */
export function writeFigures(run = readRun()) {
  return listPages().filter(page => {
    const file = join(root, page)
    const text = readFileSync(file, 'utf8')
    const filled = fillFigures(text, run, page)
    if (filled === text) return false
    writeFileSync(file, filled)
    return true
  })
}

/** The conditions of rows P1 to P5. */
function describeRun(run) {
  const [major, minor] = run.machine.node.split('.')
  return `Node ${major}.${minor}, ${describeCores(run)}, one worker, 64 unfinished calls, median of ${run.rounds} rounds`
}

function listVersions({ pools }) {
  const names = Object.keys(pools).filter(name => pools[name].role === 'peer' && !name.includes('-'))
  return names.map(name => `${name} ${pools[name].version}`).join(', ')
}

function oneFigure(run, id, pool, kind = null) {
  const { unit } = findRow(run, id)
  if (kind === 'ratio' || (kind === null && unit === 'per second' && pool !== 'lido')) {
    return roundRatio(ratioTo(run, id, pool))
  }
  return formatValue(poolFigure(run, id, pool).median, unit)
}

function poolFigure(run, id, pool) {
  const { pools } = findRow(run, id)
  if ((pools[pool] ?? null) !== null) return pools[pool]
  throw new Error(`Row '${id}' has no figure of '${pool}'. It has: ${Object.keys(pools).join(', ')}.`)
}

/** lido's figure, divided by that of the pool. */
function ratioTo(run, id, pool) {
  const { ratio } = poolFigure(run, id, pool)
  if (ratio === null) throw new Error(`Row '${id}' has no ratio of lido to '${pool}'.`)
  return ratio.median
}

function ratioRange(run, ids, pool) {
  const ratios = ids.map(id => ratioTo(run, id, pool))
  return `${roundRatio(Math.min(...ratios))} to ${roundRatio(Math.max(...ratios))}`
}

function realRows({ rows }) {
  return rows.filter(({ bar, unit }) => bar === 'real' && unit === 'per second')
}

/** The processor time of a task, in the fastest and in the slowest of the handlers. */
function lengthOfRealWork({ rows }) {
  const cpu = rows
    .filter(({ bar, unit }) => bar === 'real' && unit === 'µs')
    .map(row => row.pools.piscina.median)
  const [least, most] = [Math.min(...cpu), Math.max(...cpu)].map(micros => Math.round(micros / 1000))
  return `${least} to ${most} ms`
}

function percentRange(ratios) {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => Math.round(ratio * 100))
  return least === most ? `${least} %` : `${least} to ${most} %`
}

function describeRealWork(run) {
  const range = percentRange(realRows(run).map(row => row.pools.piscina.ratio.median))
  return `With three handlers of ${lengthOfRealWork(run)}, lido runs ${range} as many tasks a second as piscina.`
}

/** Two runs of the same pool differ, too. */
function describeNoise(run) {
  return percentRange(realRows(run).map(row => noiseOf(run, row).median))
}

/** The bars of lido in this run. Bars against an older build are left out, because only `--against` measures them. */
function barsOf(row) {
  return row.bars.filter(({ subject, against }) => subject === undefined && against !== 'lido-before')
}

function countBars({ rows }) {
  const bars = rows.flatMap(barsOf).filter(({ value }) => value !== null)
  return `${bars.filter(({ isMet }) => isMet).length} of ${bars.length}`
}

function barsTable(run, names) {
  const rows = names.flatMap(name => {
    const found = run.rows.filter(({ id, bar }) => bar === name || id === name)
    if (found.length === 0) throw new Error(`The run has no row '${name}'.`)
    return found
  })
  const lines = rows.flatMap(row => barsOf(row).map(bar => barCells(run, row, bar)))
  return table(['row', 'divided by', 'lido', 'bar', 'met'], lines)
}

function barCells(run, row, bar) {
  const format = formatOf(row, bar)
  const limit = `${bar.atLeast === undefined ? 'at most' : 'at least'} ${formatLimit(row, bar)}`
  if (bar.value === null) return [titleOf(row), labelOfOpponent(run, bar), 'not measured', limit, '–']
  return [
    titleOf(row),
    labelOfOpponent(run, bar),
    formatSpread(bar.value, format),
    limit,
    bar.isMet ? 'yes' : '**no**',
  ]
}

function formatOf(row, { against, isDifference }) {
  return against === null || isDifference ? value => formatValue(value, row.unit) : formatRatio
}

function formatLimit(row, { against, isDifference, atLeast, atMost }) {
  const limit = atLeast ?? atMost
  if (against === null || isDifference) return formatValue(limit, row.unit)
  return String(Number(limit.toPrecision(3)))
}

function labelOfOpponent(run, { against, opponent, isDifference }) {
  if (against === null) return '–'
  const name = labelOf(run, opponent ?? against)
  if (isDifference) return `minus ${name}`
  return against === 'best peer' ? `${name} (best)` : name
}

/** The entry points of lido that have bars of their own. */
function doorsTable({ rows }) {
  const bars = rows.flatMap(row =>
    row.bars.filter(({ subject, value }) => subject !== undefined && value !== null),
  )
  const doors = [...new Set(bars.map(({ subject }) => subject))]
  const lines = doors.map(door => {
    const own = bars.filter(({ subject }) => subject === door)
    return [`\`${door.replace('-', '/')}\``, String(own.length), String(own.filter(bar => bar.isMet).length)]
  })
  return table(['entry point', 'bars', 'met'], lines)
}

/** The rows in which lido is not ahead of piscina. */
function levelTable(run) {
  const lines = run.rows.flatMap(row => {
    const gain = gainOver(row, 'piscina')
    if (gain === null || verdictOf(gain) === 'ahead') return []
    const [own, other] = ['lido', 'piscina'].map(name => formatValue(row.pools[name].median, row.unit))
    // The ratio of two figures near 0 says nothing.
    if (own === other) return [[titleOf(row), own, other, 'level']]
    const name = verdictOf(gain) === 'level' ? 'level' : '**behind**'
    return [[titleOf(row), own, other, `${name}: ${formatRatio(gain.median)}`]]
  })
  return table(['row', 'lido', 'piscina', 'lido is'], lines)
}

function settingsTable(run) {
  const lines = Object.entries(run.pools)
    .filter(([, { role, settings }]) => role === 'peer' && Object.keys(settings).length > 0)
    .map(([name, { settings }]) => [
      labelOf(run, name),
      Object.entries(settings)
        .map(([key, value]) => `\`${key}: ${JSON.stringify(value).replaceAll('"', "'")}\``)
        .join(', '),
    ])
  return table(['in charts and tables', 'settings'], lines)
}

/** The medians of these pools. Rows of one server leave out the name of the server. */
function valuesTable(run, ids, pools) {
  const rows = ids.map(id => findRow(run, id))
  const server = title => title.split(': ')[0]
  const isOneServer = rows.every(
    ({ title }) => title.includes(': ') && server(title) === server(rows[0].title),
  )
  const lines = rows.map(row => [
    `${isOneServer ? row.title.split(': ')[1] : titleOf(row)}${row.unit === 'per second' ? ' per second' : ''}`,
    ...pools.map(pool => oneFigure(run, row.id, pool, 'value')),
  ])
  return table(['', ...pools.map(pool => labelOf(run, pool))], lines)
}

/** lido's figure, divided by that of each pool. */
function ratiosTable(run, ids, pools) {
  const lines = ids.map(id => [plainTitle(id), ...pools.map(pool => oneFigure(run, id, pool, 'ratio'))])
  return table(['payload', ...pools.map(pool => labelOf(run, pool))], lines)
}

function titleOf({ id, bar }) {
  return bar.startsWith('P') ? `${bar} ${plainTitle(id)}` : plainTitle(id)
}

/** Without the conditions that the pages state once. Braces outside of code would be attributes for VitePress. */
function plainTitle(id) {
  return titles
    .get(id)
    .replace(/, 64 tasks in flight| on two cores/g, '')
    .replace('{a,b}', '`{a,b}`')
}

function table(head, lines) {
  const toLine = cells => `| ${cells.join(' | ')} |`
  return [toLine(head), `|${'---|'.repeat(head.length)}`, ...lines.map(toLine)].join('\n')
}
