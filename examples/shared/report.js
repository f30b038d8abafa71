// Prints the result of an example: the machine, one table, and what the table shows. A row holds `way` and the figures.
// The columns say where to read them.
import { availableParallelism, cpus, loadavg } from 'node:os'
import { styleText } from 'node:util'
import Table from 'cli-table3'

const isPlain = !process.stdout.isTTY || process.env.NO_COLOR !== undefined
const loadBefore = loadavg()[0]
const isShort = process.argv.includes('--small') || process.env.LIDO_EXAMPLES_SMALL === '1'
const borderStyle = isPlain ? [] : ['gray']

export const wayColumn = { name: '', read: row => row.way, hAlign: 'left' }
export const latencyColumns = spread('latency ms', row => row.latencyMs)
export const loopDelayColumns = spread('event loop delay ms', row => row.loopDelayMs)

/** For tables with several latencies: p50 and p99 only. */
export const shortLatencyColumns = latencyColumns.slice(0, 2)
export const healthColumns = spread('/health latency ms', row => row.healthMs).slice(0, 2)
export const longestDelayColumn = loopDelayColumns[2]

export const worthColumn = {
  group: 'in the worker',
  name: 'at work %',
  read: row => formatNumber(row.atWorkPercent),
}

export function countColumn(name, read, group) {
  return { group, name, read: row => formatNumber(read(row)) }
}

export function paint(style, text) {
  return isPlain ? text : styleText(style, text)
}

export function printReport({ title, columns, rows, lesson }) {
  console.log(`\n${paint('bold', title)}`)
  console.log(paint('gray', describeMachine()))
  console.log(drawTable(columns, rows))
  console.log(`${paint('green', '=>')} ${lesson}`)
}

export function formatNumber(value) {
  if (!Number.isFinite(value)) return '-'
  if (Number.isInteger(value) || value >= 99.95) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 9.995 ? 1 : 2)
}

/** One run cannot show a smaller difference than this. */
const NOISE = 0.15

/** For sentences, for example "2.1 times as fast as piscina". A difference within the noise counts as none. */
export function formatSpeed(ratio, other) {
  if (!Number.isFinite(ratio)) return `not comparable with ${other}`
  if (isSameSpeed(ratio)) return `as fast as ${other} (within ${NOISE * 100}%)`
  return `${ratio.toFixed(ratio < 0.5 ? 2 : ratio < 10 ? 1 : 0)} times as fast as ${other}`
}

export function isSameSpeed(ratio) {
  return Math.abs(ratio - 1) <= NOISE
}

/** Announces a way before it runs, and the warning that it may cause. */
export function announce(way, mayWarn = false) {
  const warning = ' (the pool may warn that this handler mostly waits: here it does)'
  console.log(`${way} ...${mayWarn ? warning : ''}`)
}

function describeMachine() {
  const model = cpus()[0]?.model.trim() || 'unknown processor'
  const machine = `${availableParallelism()} usable cores (${cpus().length} x ${model})`
  const caution = isShort ? '; a short run, so its figures are rough' : ''
  return `node ${process.version}, ${machine}, load average ${loadBefore.toFixed(1)} before the run${caution}`
}

function spread(group, read) {
  return ['p50', 'p99', 'max'].map(name => ({ group, name, read: row => formatNumber(read(row)[name]) }))
}

// cli-table3 draws a line under its first row only, the groups. The line under the names is a copy of the bottom line.
function drawTable(columns, rows) {
  const table = new Table({
    head: groupCells(columns),
    style: { head: [], border: borderStyle, compact: true },
  })
  table.push(columns.map(({ name }) => ({ content: paint('bold', name), hAlign: 'right' })))
  for (const row of rows) {
    table.push(columns.map(column => ({ content: column.read(row), hAlign: column.hAlign ?? 'right' })))
  }
  const lines = table.toString().split('\n')
  const underNames = lines.at(-1).replaceAll('└', '├').replaceAll('┴', '┼').replaceAll('┘', '┤')
  return lines.toSpliced(4, 0, underNames).join('\n')
}

function groupCells(columns) {
  const cells = []
  for (const { group = '' } of columns) {
    const last = cells.at(-1)
    if (last && group !== '' && last.group === group) last.colSpan++
    else cells.push({ group, colSpan: 1, content: paint('bold', group), hAlign: 'center' })
  }
  return cells
}
