// How results are shown: a table for the terminal, the same in Markdown for the results folder.
import Table from 'cli-table3'
import { bar, subjectName } from './summary.js'

const missing = '–'

export function formatTable(results) {
  const [head, ...rows] = createGrid(results)
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: head.map((_, i) => (i ? 'right' : 'left')),
  })
  for (const row of rows) table.push(row.map(lines => lines.join('\n')))
  return [formatFacts(results).join('\n'), table.toString(), formatLegend(results).join('\n')].join('\n\n')
}

export function formatMarkdown(results) {
  const [head, ...rows] = createGrid(results)
  const lines = [
    toMarkdownRow(head),
    toMarkdownRow(head.map((_, i) => (i ? '--:' : '---'))),
    ...rows.map(row => toMarkdownRow(row.map(cell => cell.join('<br>')))),
  ]
  const list = entries => entries.map(entry => `- ${entry}`).join('\n')
  return `${[`# ${results.date}`, list(formatFacts(results)), lines.join('\n'), list(formatLegend(results))].join('\n\n')}\n`
}

function toMarkdownRow(texts) {
  return `| ${texts.join(' | ')} |`
}

/** The head, then a row for each cell; what stands in a cell of it is a list of lines. */
function createGrid({ rows, poolNames, hasBar }) {
  const head = ['echo', ...poolNames, ...(hasBar ? [`lido / piscina ≥ ${bar}`] : [])]
  return [
    head,
    ...rows.map(row => [
      [row.label],
      ...poolNames.map(name => formatFigures(row.pools[name])),
      ...(hasBar ? [formatBar(row)] : []),
    ]),
  ]
}

function formatFigures(figures) {
  if (figures === null) return ['failed']
  const lines = [
    `${formatRate(figures.tasksPerSecond.median)}/s`,
    `${formatMicros(figures.hostCpuMicrosPerTask.median)} µs`,
  ]
  if (figures.subjectRatio !== null) lines.push(`× ${formatRatio(figures.subjectRatio.median)}`)
  return lines
}

function formatBar({ barRatio, isBarMet }) {
  if (barRatio === null) return [missing]
  return [
    `${formatRatio(barRatio.median)} ${isBarMet ? 'met' : 'NOT MET'}`,
    `(${formatRatio(barRatio.min)} to ${formatRatio(barRatio.max)})`,
  ]
}

function formatFacts({ machine, versions, poolNames, rounds, durationMs, turnWarmUpMs }) {
  return [
    `Node ${machine.node} (V8 ${machine.v8}), ${machine.platform}, ${machine.cpu}, ${machine.cores} cores, ` +
      `${machine.memoryGiB} GiB; load average at the start ${machine.loadAverage.toFixed(2)}`,
    poolNames.map(name => (versions[name] ? `${name} ${versions[name]}` : name)).join(', '),
    `1 worker each; rounds: ${rounds}; ${durationMs} ms a cell and round, after ${turnWarmUpMs} ms of warm-up; medians`,
  ]
}

function formatLegend({ poolNames, hostCpuScope, failures }) {
  const hasRatios = poolNames.includes(subjectName) && poolNames.length > 1
  return [
    `each cell: tasks per second; host CPU per task, µs (${hostCpuScope})${hasRatios ? '; × how many times faster lido is' : ''}`,
    ...failures.map(
      ({ round, cellId, poolName, message }) =>
        `FAILED: ${poolName}, ${cellId}, round ${round + 1}: ${message}`,
    ),
  ]
}

function formatRate(rate) {
  if (rate >= 999_500) return `${(rate / 1e6).toFixed(2)}M`
  if (rate >= 99_950) return `${(rate / 1e3).toFixed(0)}k`
  if (rate >= 1_000) return `${(rate / 1e3).toFixed(1)}k`
  return rate.toFixed(0)
}

function formatMicros(micros) {
  return micros >= 99.5 ? micros.toFixed(0) : micros.toPrecision(2)
}

function formatRatio(ratio) {
  return ratio >= 9.95 ? ratio.toFixed(1) : ratio.toFixed(2)
}
