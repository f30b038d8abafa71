// The benchmark: reads the options, measures the pools, prints the tables. `--help` lists the options.
import { writeFileSync } from 'node:fs'
import { countBars, judgeRow } from './judge.js'
import { describeMachine, readVersion } from './machine.js'
import { readOptions, usage, withBefore } from './options.js'
import { chooseTimes, createProgramme, scalingWorkersOn } from './programme.js'
import { formatMarkdown, formatText } from './report.js'
import { beforeName, isPeer, roster, subjectName, thatPlay } from './roster.js'
import {
  cellRows,
  chooseRows,
  compareWithBefore,
  countedRows,
  createScalingRows,
  largeFloodRows,
  realWorkRows,
  rows,
} from './rows.js'
import { play } from './tournament.js'
import { countLoopsPerMs } from './work.js'

function tryPlan({ cores }) {
  try {
    const options = readOptions(process.argv.slice(2))
    const scalingRows = options.isScaling ? createScalingRows(scalingWorkersOn(cores)) : []
    const all = [...rows, ...cellRows, ...largeFloodRows, ...countedRows, ...realWorkRows, ...scalingRows]
    const chosen = chooseRows(all, options.rowNames)
    return { ...options, chosenRows: options.folderBefore === null ? chosen : chosen.map(compareWithBefore) }
  } catch (error) {
    console.error(`${error.message}\n`)
    process.exitCode = 2
    return null
  }
}

/** The matches that the chosen rows need, with the cells that they need, for the pools that are asked for. */
function chooseMatches(programme, chosenRows, { poolNames, folderBefore }) {
  const cellIds = new Set(chosenRows.map(row => row.cellId))
  const complete = names => (folderBefore === null ? names : withBefore(names))
  return programme
    .map(match => ({
      ...match,
      cells: match.cells.filter(cell => cellIds.has(cell.id)),
      peerNames: match.poolNames.filter(isPeer),
      poolNames: thatPlay(complete(poolNames ?? match.poolNames), match.trialName),
    }))
    .filter(match => match.cells.length > 0)
}

function judge(chosenRows, matches, { samples, failures }) {
  return chosenRows.map(row => {
    const match = matches.find(({ cells }) => cells.some(cell => cell.id === row.cellId))
    const own = failures.filter(failure => failure.cellId === row.cellId)
    const excuses = Object.fromEntries(own.map(({ poolName, message }) => [poolName, message]))
    // Those who would play and those who do: the best of them is the best peer.
    const peerNames = [...new Set([...match.peerNames, ...match.poolNames.filter(isPeer)])]
    const bars = row.bars.filter(({ subject }) => subject === undefined || match.poolNames.includes(subject))
    const field = { subjectName, peerNames, whyNot: match.whyNot, excuses }
    return judgeRow({ ...row, bars }, samples[row.cellId] ?? {}, field)
  })
}

function describePools(matches, folderBefore) {
  const names = [...new Set(matches.flatMap(match => match.poolNames))]
  return Object.fromEntries(
    names.map(name => {
      const { packageName, settings, role } = roster[name]
      const version = packageName === null ? null : readVersion(packageName)
      return [name, { role, version: name === beforeName ? folderBefore : version, settings }]
    }),
  )
}

function showProgress({ take, cellId, poolName }) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${cellId}, turn ${take + 1}: ${poolName}`)
}

function clearProgress() {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
}

/** One fact about the samples that hold it: they all agree, because they come from one machine and one build. */
function findFact(samples, poolName, name) {
  const figures = Object.values(samples).flatMap(pools => pools[poolName] ?? [])
  return figures.find(sample => sample?.[name] !== undefined)?.[name] ?? null
}

function save(results) {
  const name = `node-${results.machine.node}-${results.date.slice(0, 10)}`
  writeFileSync(new URL(`./results/${name}.json`, import.meta.url), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL(`./results/${name}.md`, import.meta.url), formatMarkdown(results))
  console.error(`Saved as bench/results/${name}.json and .md.`)
}

async function main() {
  const machine = describeMachine()
  const plan = tryPlan(machine)
  if (plan === null || plan.isHelp) return console.log(usage)
  const { chosenRows, rounds, isScaling } = plan
  // The children of the benchmark inherit it.
  if (plan.folderBefore !== null) process.env.LIDO_BENCH_AGAINST = plan.folderBefore

  const startedAt = performance.now()
  const date = new Date().toISOString()
  const loops = countLoopsPerMs()
  const times = chooseTimes(plan)
  const programme = createProgramme({ machine, loops, times, isScaling })
  const matches = chooseMatches(programme, chosenRows, plan)
  const possible = matches.filter(match => match.whyNot === null)
  const played = await play({ matches: possible, rounds, onTurn: showProgress })
  clearProgress()

  const judged = judge(chosenRows, matches, played)
  const results = {
    date,
    machine,
    pools: describePools(matches, plan.folderBefore),
    rounds,
    times,
    loopsPerMs: loops,
    tookSeconds: Math.round((performance.now() - startedAt) / 1000),
    transport: findFact(played.samples, subjectName, 'transport'),
    hostCpuScope: findFact(played.samples, subjectName, 'hostCpuScope'),
    rows: judged,
    barCount: countBars(judged),
    ...played,
  }
  console.log(plan.isJson ? JSON.stringify(results, null, 2) : formatText(results))
  if (plan.isSaved) save(results)
  if (played.failures.some(failure => !failure.isUnavailable)) process.exitCode = 1
}

await main()
