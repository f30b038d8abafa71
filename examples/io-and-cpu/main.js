// Mixed work: fetch and sort, three times, and each part alone, with and without a pool. The table shows how much of
// the time the event loop was busy, and how much processor time was used (100% is one core).
import { Child, runChild } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, tasksPerWorker } from '../shared/common-options.js'
import {
  announce,
  countColumn,
  formatNumber,
  formatSpeed,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
} from '../shared/report.js'

const options = readOptions('node examples/io-and-cpu/main.js', {
  tasks: { kind: 'number', default: 96, small: 8, least: 1, help: 'tasks of each way' },
  lanes: { kind: 'number', default: 16, small: 4, least: 1, help: 'tasks in flight' },
  numbers: { kind: 'number', default: 30_000, small: 10_000, least: 1, help: 'length of the list' },
  delay: { kind: 'number', default: 100, small: 40, most: 60_000, help: 'ms until the list server answers' },
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
    `Three times in each task: fetch ${formatNumber(length)} numbers from a server that takes ${delayMs} ms, and sort them; ` +
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
  announce(way, isPooled && part === 'fetchOnly' && options.concurrentTasksPerWorker === 1)
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
  const speed = part => formatSpeed(gain(part), 'without it')
  return (
    `Without a pool, fetching kept the event loop busy for ${formatShare(fetchOnly.alone.loopShare)} of the time, and sorting for ` +
    `${formatShare(sortOnly.alone.loopShare)}. In the pool, fetching was ${speed(fetchOnly)}, sorting ${speed(sortOnly)}, and both ` +
    `together ${speed(fetchThenSort)}. Run the sorting in the pool, and fetch outside it.`
  )
}
