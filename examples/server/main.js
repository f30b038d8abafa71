// Keeps the example of a web server: requests that wait and requests that keep the processor busy, on the server's own
// thread, on a worker for each request, in piscina and in the pool, under autocannon. Each server runs in a process of its own;
// the load comes from this one.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad, tasksPerWorker } from '../shared/common-options.js'
import { loadServer } from '../shared/load.js'
import {
  countColumn,
  formatNumber,
  formatRatio,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
  worthColumn,
} from '../shared/report.js'

const options = readOptions('node examples/server/main.js', {
  concurrentTasksPerWorker: tasksPerWorker(1),
  idleTimeout: { kind: 'number', default: 30_000, isWhole: false, help: 'ms an idle worker is kept' },
  maxWorkers,
  connections: { kind: 'number', default: 50, small: 10, least: 1, help: 'connections of the load' },
  duration: secondsOfLoad({ full: 5, small: 0.5 }),
  sleep: {
    kind: 'number',
    default: 20,
    small: 5,
    least: 1,
    most: 60_000,
    isWhole: false,
    help: 'ms that a request waits or is busy',
  },
})

const ways = {
  alone: 'without the pool',
  worker: 'a worker for each',
  piscina: 'with piscina',
  lido: 'with the pool',
}
const kinds = { sleepAsync: 'waits', sleepBusy: 'busy' }

const rows = []
for (const kind of Object.keys(kinds)) {
  for (const way of Object.keys(ways)) rows.push(await runWay(kind, way))
}
const [asyncAlone, , , asyncPooled, busyAlone, , , busyPooled] = rows

printReport({
  title:
    `Fastify, ${formatNumber(options.sleep)} ms a request, ${options.connections} connections, ` +
    `${options.maxWorkers} workers with ${options.concurrentTasksPerWorker} task(s) at a time`,
  columns: [
    wayColumn,
    countColumn('req/s', row => row.perSecond),
    ...latencyColumns,
    ...loopDelayColumns,
    worthColumn,
    countColumn('failed', row => row.failures),
  ],
  rows,
  lesson: teach(),
})

async function runWay(kind, way) {
  const { sleep: sleepMs, maxWorkers, concurrentTasksPerWorker, idleTimeout: idleTimeoutMs } = options
  const name = `${kinds[kind]}, ${ways[way]}`
  console.log(`${name} ...`)
  const settings = { way, kind, sleepMs, maxWorkers, concurrentTasksPerWorker, idleTimeoutMs }
  const load = { connections: options.connections, durationSeconds: options.duration }
  return { way: name, ...(await loadServer(new URL('./app.js', import.meta.url), settings, load)) }
}

function teach() {
  const waiting = asyncPooled.perSecond / asyncAlone.perSecond
  const verdict = waiting < 1.1 ? 'nothing to win there' : 'which a quieter machine should not repeat'
  return (
    `Requests that wait were answered ${formatRatio(waiting)} as often with the pool (${verdict}: the event loop was ` +
    `free already); busy ones ${formatRatio(busyPooled.perSecond / busyAlone.perSecond)} as often, with an event ` +
    `loop delay of ${formatNumber(busyPooled.loopDelayMs.p99)} ms (p99) instead of ` +
    `${formatNumber(busyAlone.loopDelayMs.p99)} ms.`
  )
}
