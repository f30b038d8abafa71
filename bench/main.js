// The benchmark's front door: reads the options, has the pools play, prints the table. `--help` lists the options.
import { readdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { chooseCells } from './cells.js'
import { describeMachine } from './machine.js'
import { formatMarkdown, formatTable } from './report.js'
import { subjectName, summarize } from './summary.js'
import { play } from './tournament.js'

const usage = `npm run bench -- [options]

  --rounds <n>    rounds, in each a fresh process for every pool (default 7)
  --seconds <s>   measured time of a cell in a round (default 0.4)
  --only <row>    only this row: int/64, or int, or 64; may be repeated
  --pools <a,b>   which pools: ${listPools().join(', ')}
  --quick         3 rounds of 0.1 s: a look, not a measurement
  --json          print everything as JSON instead of the table
  --save          also write it to bench/results/, as JSON and as Markdown`

const defaultPoolNames = ['lido', 'piscina', 'tinypool', 'workerpool', 'poolifier', 'post-message']

function listPools() {
  return readdirSync(new URL('./pools/', import.meta.url)).map(name => name.replace(/\.js$/, ''))
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      pools: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    ...values,
    rounds: Math.ceil(readNumber('rounds', values.rounds ?? (values.quick ? 3 : 7))),
    times: {
      processWarmUpMs: values.quick ? 400 : 1000,
      turnWarmUpMs: values.quick ? 40 : 150,
      durationMs: 1000 * readNumber('seconds', values.seconds ?? (values.quick ? 0.1 : 0.4)),
    },
    cells: chooseCells(values.only),
    poolNames: choosePools(values.pools),
  }
}

function tryReadOptions() {
  try {
    return readOptions()
  } catch (error) {
    console.error(`${error.message}\n`)
    process.exitCode = 2
    return null
  }
}

function readNumber(name, text) {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${name} must be a number above 0`)
  return number
}

function choosePools(text) {
  const poolNames = text?.split(',') ?? defaultPoolNames
  const known = listPools()
  for (const name of poolNames) {
    if (!known.includes(name)) throw new RangeError(`No pool '${name}'. Pools: ${known.join(', ')}`)
  }
  return poolNames
}

function showProgress({ round, cell, poolName }, rounds) {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[Kround ${round + 1} of ${rounds}: ${cell.label}: ${poolName}`)
}

function clearProgress() {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
}

function save(results) {
  const name = `node-${results.machine.node}-${results.date.slice(0, 10)}`
  writeFileSync(new URL(`./results/${name}.json`, import.meta.url), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL(`./results/${name}.md`, import.meta.url), formatMarkdown(results))
  console.error(`saved as bench/results/${name}.json and .md`)
}

async function main() {
  const options = tryReadOptions()
  if (options === null || options.help) return console.log(usage)
  const { rounds, times, cells, poolNames } = options

  const machine = describeMachine()
  const date = new Date().toISOString()
  const onTurn = turn => showProgress(turn, rounds)
  const { samples, versions, failures } = await play({ poolNames, cells, rounds, onTurn, ...times })
  clearProgress()

  const played = Object.values(samples).flatMap(row => Object.values(row).flat())
  const results = {
    date,
    machine,
    versions,
    poolNames,
    rounds,
    ...times,
    hostCpuScope: played.find(sample => sample !== null)?.hostCpuScope ?? 'n/a',
    hasBar: poolNames.includes(subjectName) && poolNames.includes('piscina'),
    rows: summarize(samples, cells, poolNames),
    failures,
    samples,
  }
  console.log(options.json ? JSON.stringify(results, null, 2) : formatTable(results))
  if (options.save) save(results)
  if (failures.length > 0) process.exitCode = 1
}

await main()
