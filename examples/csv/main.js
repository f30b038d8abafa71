// A large CSV file is parsed and each row is processed: without a pool, with `pool.map()`, and in a pool with all chunks of the file
// submitted at once.
import { rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runChild } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import { maxWorkers } from '../shared/common-options.js'
import {
  countColumn,
  formatNumber,
  formatSpeed,
  loopDelayColumns,
  paint,
  printReport,
  wayColumn,
} from '../shared/report.js'
import { writePlaces } from './dataset.js'
import { Progress } from './progress.js'

const mebibyte = 2 ** 20
const ways = {
  alone: 'without the pool',
  map: 'pool.map()',
  allAtOnce: 'pool, all at once',
}

const options = readOptions('node examples/csv/main.js', {
  rows: { kind: 'number', default: 1_000_000, small: 30_000, least: 1, help: 'rows of the file' },
  chunkKib: { kind: 'number', default: 64, least: 1, most: 65_536, help: 'KiB of the file in one task' },
  maxWorkers,
  output: { kind: 'folder', default: join(tmpdir(), 'lido-csv'), help: 'folder for the result files' },
})

const input = join(options.output, 'places.csv')
const chunkBytes = options.chunkKib * 1024
await writePlaces(input, options.rows)
const { size } = statSync(input)
console.log(
  `For each of ${formatNumber(options.rows)} places in a CSV file of ${formatNumber(size / mebibyte)} MiB, the three nearest airports are computed.`,
)
const results = {}
for (const way of Object.keys(ways)) results[way] = await runWay(way)
rmSync(input)

printReport({
  title: `CSV rows in a worker pool, ${options.chunkKib} KiB of the file in one task`,
  columns: [
    wayColumn,
    countColumn('rows/s', row => row.perSecond),
    ...loopDelayColumns,
    countColumn('chunks', row => row.mostChunks, 'peak'),
    countColumn('MiB', row => row.peakMib, 'peak'),
  ],
  rows: Object.values(results),
  lesson: teach(results),
})
process.exitCode = compareResults(Object.values(results))

async function runWay(way) {
  const output = join(options.output, `${way}.csv`)
  const progress = new Progress(ways[way], Math.ceil(size / chunkBytes))
  const settings = { way, input, output, chunkBytes, maxWorkers: options.maxWorkers }
  const figures = await runChild(new URL('./way.js', import.meta.url), settings, ({ chunksWritten }) => {
    progress.update(chunksWritten)
  })
  progress.stop()
  return { way: ways[way], ...figures, perSecond: options.rows / figures.seconds }
}

function teach({ alone, map, allAtOnce }) {
  const delay = way => `${formatNumber(way.loopDelayMs.p99)} ms`
  const memory = way => `${formatNumber(Math.round(way.peakMib))} MiB`
  return (
    `pool.map() was ${formatSpeed(map.perSecond / alone.perSecond, 'one thread')}, and the event loop delay (p99) was ${delay(map)} ` +
    `instead of ${delay(alone)}. It held ${formatNumber(map.mostChunks)} chunks of the file at most, and the process needed ${memory(map)}. ` +
    `All at once, it held ${formatNumber(allAtOnce.mostChunks)} chunks and needed ${memory(allAtOnce)}.`
  )
}

function compareResults(all) {
  const isSame = all.every(({ checksum }) => checksum === all[0].checksum)
  if (isSame) {
    const short = all[0].checksum.slice(0, 16)
    console.log(
      `${paint('green', 'Same result')} from all ${all.length} ways: ${formatNumber(options.rows)} rows, sha256 ${short}...`,
    )
  } else {
    console.log(paint('red', 'Different results:'))
    for (const { way, checksum } of all) console.log(`  ${way}: ${checksum}`)
  }
  console.log(`The result files are in ${options.output}`)
  return isSame ? 0 : 1
}
