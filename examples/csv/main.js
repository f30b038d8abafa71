// Keeps the project's demonstration: a real file of more than 40,000 rows is parsed as a stream and each row worked
// on, without the pool, in the pool with a bounded queue, and in the pool with everything submitted at once.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runChild } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import { maxWorkers } from '../shared/common-options.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  latencyColumns,
  loopDelayColumns,
  paint,
  printReport,
  wayColumn,
} from '../shared/report.js'
import { countPlaces } from './dataset.js'
import { Progress } from './progress.js'

const ways = {
  alone: 'without the pool',
  bounded: 'pool, bounded queue',
  unbounded: 'pool, all at once',
}

const options = readOptions('node examples/csv/main.js', {
  rows: {
    kind: 'number',
    default: countPlaces(),
    small: 3000,
    least: 1,
    help: 'how many rows of the file to work on',
  },
  rowsPerTask: { kind: 'number', default: 8, least: 1, help: 'rows handed to the pool together' },
  maxQueue: { kind: 'number', default: 32, least: 1, help: 'most tasks that may wait in the bounded queue' },
  maxWorkers,
  output: { kind: 'folder', default: join(tmpdir(), 'lido-csv'), help: 'folder for the result files' },
})

const rows = Math.min(options.rows, countPlaces())
console.log(
  `${formatNumber(rows)} places, each against every airport in the file: the nearest three, by great circle.`,
)
const results = {}
for (const way of Object.keys(ways)) results[way] = await runWay(way)

printReport({
  title: `CSV rows through a worker pool, rows to a task: ${options.rowsPerTask}`,
  columns: [
    wayColumn,
    countColumn('rows/s', row => row.perSecond),
    ...latencyColumns,
    ...loopDelayColumns,
    countColumn('queue', row => row.peakQueue, 'peak'),
    countColumn('RSS', row => row.memory.rssMib, 'peak MiB'),
    countColumn('heap', row => row.memory.heapMib, 'peak MiB'),
    countColumn('buffers', row => row.memory.arrayBuffersMib, 'peak MiB'),
  ],
  rows: Object.values(results),
  lesson: teach(results),
})
process.exitCode = compareAnswers(Object.values(results))

async function runWay(way) {
  const { rowsPerTask, maxQueue, maxWorkers } = options
  const output = join(options.output, `${way}.csv`)
  const progress = new Progress(ways[way], rows)
  const settings = { way, rowLimit: rows, rowsPerTask, maxQueue, maxWorkers, output }
  const figures = await runChild(new URL('./way.js', import.meta.url), settings, ({ rowsDone }) => {
    progress.update(rowsDone)
  })
  progress.stop(figures.rowsDone)
  return { way: ways[way], output, ...figures }
}

function teach({ alone, bounded, unbounded }) {
  const speed = formatRatio(bounded.perSecond / alone.perSecond)
  const memory = unbounded.memory.rssMib - bounded.memory.rssMib
  const cost = memory > 0 ? `${formatNumber(memory)} MiB more memory` : 'no more memory this time'
  return (
    `The pool did ${speed} the rows per second and took the event loop's delay (p99) from ` +
    `${formatNumber(alone.loopDelayMs.p99)} to ${formatNumber(bounded.loopDelayMs.p99)} ms; submitting everything ` +
    `at once needed a queue of ${formatNumber(unbounded.peakQueue)} and ${cost}, for ` +
    `${formatRatio(unbounded.perSecond / bounded.perSecond)} the speed of \`await pool.room()\`.`
  )
}

function compareAnswers(all) {
  const isSame = all.every(({ checksum, rowsDone }) => checksum === all[0].checksum && rowsDone === rows)
  if (isSame) {
    const short = all[0].checksum.slice(0, 16)
    console.log(
      `${paint('green', 'Same answer')} from all ${all.length} ways: ${formatNumber(rows)} rows, sha256 ${short}...`,
    )
  } else {
    console.log(paint('red', 'Different answers:'))
    for (const { way, rowsDone, checksum } of all)
      console.log(`  ${way}: ${rowsDone} rows, sha256 ${checksum}`)
  }
  console.log(`Written to ${options.output}`)
  return isSame ? 0 : 1
}
