// A web server whose requests wait, or keep the processor busy: on the server's own thread, in a worker for each request, in
// piscina and in a pool, with load by autocannon. Each server runs in a process of its own. The load comes from this process.
import { readOptions } from '../shared/command-line.js'
import { maxWorkers, secondsOfLoad, tasksPerWorker } from '../shared/common-options.js'
import { loadServer } from '../shared/load.js'
import {
  announce,
  countColumn,
  formatNumber,
  formatSpeed,
  isSameSpeed,
  latencyColumns,
  loopDelayColumns,
  printReport,
  wayColumn,
  worthColumn,
} from '../shared/report.js'

const options = readOptions('node examples/server/main.js', {
  concurrentTasksPerWorker: tasksPerWorker(1),
  idleTimeout: { kind: 'number', default: 30_000, isWhole: false, help: 'ms until an idle worker stops' },
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
const [asyncAlone, , , asyncPooled, busyAlone, , busyPiscina, busyPooled] = rows

printReport({
  title:
    `Fastify, ${formatNumber(options.sleep)} ms per request, ${options.connections} connections, ` +
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
  announce(name, way === 'lido' && kind === 'sleepAsync' && concurrentTasksPerWorker === 1)
  const settings = { way, kind, sleepMs, maxWorkers, concurrentTasksPerWorker, idleTimeoutMs }
  const load = { connections: options.connections, durationSeconds: options.duration }
  return { way: name, ...(await loadServer(new URL('./app.js', import.meta.url), settings, load)) }
}

function teach() {
  const waiting = asyncPooled.perSecond / asyncAlone.perSecond
  const isSurprise = waiting > 1 && !isSameSpeed(waiting)
  const verdict = isSurprise ? 'other load on this machine can cause that' : 'the event loop was free already'
  return (
    `Busy requests: the pool was ${formatSpeed(busyPooled.perSecond / busyAlone.perSecond, 'the server without a pool')}, and ` +
    `${formatSpeed(busyPooled.perSecond / busyPiscina.perSecond, 'piscina')}; the event loop delay (p99) was ` +
    `${formatNumber(busyPooled.loopDelayMs.p99)} ms instead of ${formatNumber(busyAlone.loopDelayMs.p99)} ms. Requests that wait: ` +
    `the pool was ${formatSpeed(waiting, 'the server without a pool')}; ${verdict}.`
  )
}
