// Reads the run of the benchmark that the documentation shows, and answers questions about it: is lido ahead of a pool, how is
// a pool called, on which machine did it run. `figures.js` and `charts.js` show the answers.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ratiosWithinRounds, spread } from '../../bench/judge.js'
import { isNamed, rowsOfDocs } from '../../bench/rows.js'
import { formatFigure } from '../../bench/units.js'
import { root } from './pages.js'

/** Within this many percent, two pools are level. Two runs of the same pool differ as much. */
const levelWithin = 5
const plainNames = {
  'post-message': 'bare postMessage',
  unpooled: 'no pool',
  'worker-per-request': 'new worker each',
  'stream-by-hand': 'stream by hand',
  'p-map': 'p-map',
  'piscina-again': 'a second piscina',
}
const numberWords = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']

/** The newest run that has the rows of `--only docs`. Among the runs of one day, that of the newest Node version. */
export function readRun(folder = join(root, 'bench', 'results')) {
  const runs = readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .filter(({ rows }) => rowsOfDocs.every(name => rows.some(row => isNamed(row, name))))
  runs.sort(
    (one, next) =>
      dayOf(next).localeCompare(dayOf(one)) ||
      next.machine.node.localeCompare(one.machine.node, 'en', { numeric: true }),
  )
  if (runs.length === 0) {
    throw new Error('No file in bench/results has all rows. Run `npm run bench -- --only docs --save`.')
  }
  return runs[0]
}

export function dayOf({ date }) {
  return date.slice(0, 'yyyy-mm-dd'.length)
}

export function findRow({ rows }, id) {
  const row = rows.find(candidate => candidate.id === id)
  if (row === undefined) throw new Error(`The run has no row '${id}'.`)
  return row
}

/** The pools that have a figure in this row, in the order of the table. */
export function poolsOf(row) {
  return Object.keys(row.pools).filter(name => row.pools[name] !== null)
}

export function isMoreBetter({ bars, unit }) {
  return bars.length === 0 ? /second|\/s$/.test(unit) : bars[0].atLeast !== undefined
}

/** How many times better lido is than this pool: median, least and most of the rounds. Below 1 lido is behind. */
export function gainOver(row, poolName) {
  const ratio = row.pools[poolName]?.ratio ?? null
  if (ratio === null || isMoreBetter(row)) return ratio
  return { ...ratio, median: 1 / ratio.median, min: 1 / ratio.max, max: 1 / ratio.min }
}

/** 'ahead', 'level' or 'behind'. */
export function verdictOf({ median }) {
  if (Math.abs(Math.round(median * 100) - 100) <= levelWithin) return 'level'
  return median > 1 ? 'ahead' : 'behind'
}

/** How far two runs of one pool differ: the rate of the second piscina, divided by that of the first, in each round. */
export function noiseOf(run, row) {
  const read = name => (run.samples[row.cellId]?.[name] ?? []).map(sample => sample?.[row.figure] ?? null)
  return spread(ratiosWithinRounds(read('piscina-again'), read('piscina')))
}

/** 'piscina 5.3 tuned' */
export function labelOf({ pools }, name) {
  if (Object.hasOwn(plainNames, name)) return plainNames[name]
  const [pool, ...variant] = name.split('-')
  const version = pools[name]?.version ?? null
  const release = version === null || pool === 'lido' ? [] : [version.replace(/\.\d+$/, '')]
  return [pool, ...release, ...variant].join(' ')
}

/** 'two cores of an AMD EPYC' */
export function describeCores({ machine }) {
  const cpu = machine.cpu
    .replace(/\((R|TM)\)|Processor|CPU|@.*$/g, '')
    .replace(/ +/g, ' ')
    .trim()
  return `${inWords(machine.cores)} cores of ${/^[AEIO]/.test(cpu) ? 'an' : 'a'} ${cpu}`
}

export function inWords(number) {
  return numberWords[number] ?? String(number)
}

/** Two significant digits: '170', '33', '1.2', '0.97'. */
export function roundRatio(ratio) {
  if (ratio >= 9.95) return group(String(Number(ratio.toPrecision(2))))
  return ratio >= 0.995 ? ratio.toFixed(1) : ratio.toPrecision(2)
}

/** '1,562 ms' */
export function formatValue(value, unit) {
  return group(formatFigure(value, unit))
}

/** '11.2k (10.9–13.0)': the median, then the least and the most of the rounds. A unit of all three appears once. */
export function formatSpread({ median, min, max }, format) {
  const [middle, least, most] = [median, min, max].map(value => format(value).replace('-', '−'))
  const end = /[^\d.]*$/.exec(middle)[0]
  const isShared = least.endsWith(end) && most.endsWith(end)
  const range = [least, most].map(text => (isShared ? text.slice(0, text.length - end.length) : text))
  return `${middle} (${range.join(min < 0 ? ' to ' : '–')})`
}

function group(figure) {
  return figure.replace(/(?<![\d.])\d{4,}/, digits => Number(digits).toLocaleString('en'))
}
