// Formats the results: tables for the terminal, and the same in Markdown for the results folder. Rows with the same pools share a
// table.
import Table from 'cli-table3'
import { formatFigure, formatRatio } from './units.js'

const missing = '–'

export function formatText(results) {
  return [
    formatFacts(results).join('\n'),
    ...createGrids(results).map(drawTable),
    formatLegend(results).join('\n'),
  ].join('\n\n')
}

export function formatMarkdown(results) {
  const list = entries => entries.map(entry => `- ${entry}`).join('\n')
  return `${[
    `# ${results.date}`,
    list(formatFacts(results)),
    ...createGrids(results).map(drawMarkdown),
    list(formatLegend(results)),
  ].join('\n\n')}\n`
}

function drawTable([head, ...rows]) {
  const table = new Table({
    head: head.map(lines => lines.join('\n')),
    style: { head: [], border: [] },
    colAligns: head.map((_, i) => (i > 0 && i < head.length - 1 ? 'right' : 'left')),
  })
  for (const row of rows) table.push(row.map(lines => lines.join('\n')))
  return table.toString()
}

function drawMarkdown([head, ...rows]) {
  const toRow = texts => `| ${texts.join(' | ')} |`
  return [
    toRow(head.map(lines => lines.join('-'))),
    toRow(head.map((_, i) => (i > 0 && i < head.length - 1 ? '--:' : '---'))),
    ...rows.map(row => toRow(row.map(cell => cell.join('<br>')))),
  ].join('\n')
}

/** The head, then the rows. A cell is a list of lines. */
function createGrids({ rows, failures }) {
  const grids = []
  for (const row of rows) {
    const names = Object.keys(row.pools)
    const key = names.join()
    if (grids.at(-1)?.key !== key)
      grids.push({ key, lines: [[[''], ...names.map(name => splitName(name)), ['bars']]] })
    grids
      .at(-1)
      .lines.push([formatTitle(row), ...names.map(name => formatPool(row, name, failures)), formatBars(row)])
  }
  return grids.map(grid => grid.lines)
}

/** The name of a variant takes two lines: the pool, and the difference. */
function splitName(name) {
  const [pool, ...rest] = name.split('-')
  return rest.length === 0 ? [pool] : [pool, rest.join('-')]
}

function formatTitle({ bar, title, unit }) {
  const lines = []
  for (const word of `${bar} ${title}${unit === 'per second' ? ', per second' : ''}`.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < 26) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function formatPool({ cellId, pools, unit }, name, failures) {
  const pool = pools[name]
  const own = failures.filter(failure => failure.cellId === cellId && failure.poolName === name)
  if (pool === null) return [emptyCell(own)]
  const lines = [formatFigure(pool.median, unit)]
  if (pool.count > 1) lines.push(`${formatFigure(pool.min, unit)}–${formatFigure(pool.max, unit)}`)
  if (pool.ratio !== null) lines.push(`× ${formatRatio(pool.ratio.median)}`)
  if (own.length > 0) lines.push(`${own.length} FAILED`)
  return lines
}

function emptyCell([failure]) {
  if (failure === undefined) return missing
  return failure.isUnavailable ? 'not available' : 'FAILED'
}

function formatBars({ bars, unit, whyNot }) {
  if (bars.length > 0) return bars.map(bar => formatBar(bar, unit))
  return [whyNot === null ? 'no bar' : `not measured (${whyNot})`]
}

function formatBar(bar, unit) {
  const [sign, limit] = bar.atLeast === undefined ? ['≤', bar.atMost] : ['≥', bar.atLeast]
  const format = bar.against === null || bar.isDifference ? value => formatFigure(value, unit) : formatRatio
  const wanted = `${bar.subject === undefined ? '' : `${bar.subject}: `}${sign} ${formatLimit(bar, format(limit))}`
  if (bar.value === null) return `${wanted}: not measured (${bar.reason})`
  const { median, min, max } = bar.value
  const range = bar.value.count > 1 ? ` (${format(min)}–${format(max)})` : ''
  const who = bar.against === 'best peer' ? ` ${bar.opponent}` : ''
  return `${wanted}: ${format(median)}${range}${who} ${bar.isMet ? 'met' : 'NOT MET'}`
}

function formatLimit({ against, isDifference }, limit) {
  if (against === null) return limit
  return isDifference ? `${against} + ${limit}` : `${limit} × ${against}`
}

function formatFacts({ machine, pools, rounds, times, tookSeconds, transport }) {
  return [
    `Node ${machine.node} (V8 ${machine.v8}), ${machine.platform} ${machine.release}, ${machine.cpu}, ` +
      `${machine.cores} cores, ${(machine.memoryMebibytes / 1024).toFixed(0)} GiB; ` +
      `load average at the start ${machine.loadAverage.toFixed(2)}`,
    ...Object.entries(pools).map(formatPoolFact),
    `rounds: ${rounds}; measured time of an echo turn: ${times.turnMs} ms; whole run: ${tookSeconds} s` +
      `${transport === null ? '' : `; lido's transport: ${transport}`}`,
  ]
}

function formatPoolFact([name, { version, settings }]) {
  const isDefault = Object.keys(settings).length === 0
  const pairs = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `${name}${version === null ? '' : ` ${version}`}: ${isDefault ? 'defaults' : pairs.join(', ')}`
}

function formatLegend({ barCount, hostCpuScope, failures }) {
  const { met, missed, notMeasured } = barCount
  const scope = hostCpuScope === null ? [] : [`host CPU is the CPU time of the ${hostCpuScope}`]
  return [
    'each cell: the median; the least and the most of the rounds; ×: lido divided by this pool, within a round',
    'ratios above 1 are good for lido in rates, below 1 in times and memory',
    ...scope,
    `bars: ${met} met, ${missed} not met, ${notMeasured} not measured`,
    ...failures.map(
      ({ take, cellId, poolName, message, isUnavailable }) =>
        `${isUnavailable ? 'not available' : 'FAILED'}: ${poolName}, ${cellId}, turn ${take + 1}: ${message}`,
    ),
  ]
}
