// Keeps the example of mixed work: fetch, then sort, three times over, and the two parts apart, with and without the
// pool. Two shares of the time passed tell them apart: the processor's (100% for one core) and the event loop's.
import { Child, runChild } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, tasksPerWorker } from '../shared/common-options.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'

const options = readOptions('node examples/io-and-cpu/main.js', {
  tasks: { kind: 'number', default: 96, small: 8, least: 1, help: 'how many times each way does its work' },
  lanes: { kind: 'number', default: 16, small: 4, least: 1, help: 'how many are asked for at a time' },
  numbers: { kind: 'number', default: 30_000, small: 10_000, least: 1, help: 'length of the list' },
  delay: { kind: 'number', default: 100, small: 40, most: 60_000, help: 'ms the list server lets pass' },
  maxWorkers,
  concurrentTasksPerWorker: tasksPerWorker(8),
})

const parts = { fetchOnly: 'fetch', sortOnly: 'sort', fetchThenSort: 'fetch then sort' }
const { numbers: length, delay: delayMs } = options
const listServer = new Child(new URL('./list-server.js', import.meta.url), { length, delayMs })
const { port } = await listServer.next('listening')

const results = {}
try {
  for (const part of Object.keys(parts)) {
    results[part] = { alone: await runWay(part, false), pooled: await runWay(part, true) }
  }
} finally {
  await listServer.end()
}

printReport({
  title:
    `Three times over: ${formatNumber(length)} numbers, fetched from a server that takes ${delayMs} ms, and sorted; ` +
    `${options.maxWorkers} workers with ${options.concurrentTasksPerWorker} task(s) at a time`,
  columns: [
    wayColumn,
    countColumn('tasks/s', row => row.perSecond),
    ...latencyColumns,
    ...loopDelayColumns,
    { group: 'busy', name: 'loop', read: row => formatShare(row.loopShare) },
    { group: 'busy', name: 'CPU', read: row => formatShare(row.cpuShare) },
  ],
  rows: Object.values(results).flatMap(({ alone, pooled }) => [alone, pooled]),
  lesson: teach(results),
})

async function runWay(part, isPooled) {
  const way = `${parts[part]}, ${isPooled ? 'with' : 'without'} the pool`
  console.log(`${way} ...`)
  const { tasks: count, lanes, maxWorkers, concurrentTasksPerWorker } = options
  const url = `http://127.0.0.1:${port}/`
  const settings = { part, isPooled, url, length, count, lanes, maxWorkers, concurrentTasksPerWorker }
  return { way, ...(await runChild(new URL('./way.js', import.meta.url), settings)) }
}

function formatShare(share) {
  return `${Math.round(share * 100)}%`
}

function teach({ fetchOnly, sortOnly, fetchThenSort }) {
  const gain = ({ alone, pooled }) => pooled.perSecond / alone.perSecond
  const verdict = gain(fetchOnly) < 1.15 ? 'nothing won' : 'other load on this machine can do that'
  return (
    `Fetching keeps the event loop busy for ${formatShare(fetchOnly.alone.loopShare)} of the time and went at ` +
    `${formatRatio(gain(fetchOnly))} its speed in the pool (${verdict}), sorting for ` +
    `${formatShare(sortOnly.alone.loopShare)} and at ${formatRatio(gain(sortOnly))}, both together at ` +
    `${formatRatio(gain(fetchThenSort))}: hand the sorting to the pool, and fetch outside it.`
  )
}
