// A library with a synchronous and an asynchronous function: scrypt, with and without a pool. Each of the four ways runs in
// a process of its own under the same load.
import { runChild } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import { maxWorkers } from '../shared/common-options.js'
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

const options = readOptions('node examples/key-derivation/main.js', {
  keys: { kind: 'number', default: 100, small: 12, least: 1, help: 'keys that each way derives' },
  lanes: { kind: 'number', default: 8, small: 4, least: 1, help: 'tasks in flight' },
  costLog2: {
    kind: 'number',
    default: 14,
    small: 12,
    least: 2,
    most: 20,
    help: 'scrypt uses the cost 2^this',
  },
  maxWorkers,
})

const syncAlone = await runWay('scryptSync, without the pool', 'deriveSync', false)
const syncPooled = await runWay('scryptSync, with the pool', 'deriveSync', true)
const asyncAlone = await runWay('scrypt (async), without the pool', 'deriveAsync', false)
const asyncPooled = await runWay('scrypt (async), with the pool', 'deriveAsync', true)

printReport({
  title: `scrypt, ${options.keys} keys, ${options.lanes} in flight, N = 2^${options.costLog2}`,
  columns: [
    wayColumn,
    countColumn('keys/s', row => row.perSecond),
    ...latencyColumns,
    ...loopDelayColumns,
    worthColumn,
  ],
  rows: [syncAlone, syncPooled, asyncAlone, asyncPooled],
  lesson: teach(),
})

async function runWay(way, form, isPooled) {
  const { keys: count, lanes, costLog2, maxWorkers } = options
  announce(way, isPooled && form === 'deriveAsync')
  const settings = { form, isPooled, count, lanes, cost: 2 ** costLog2, maxWorkers }
  return { way, ...(await runChild(new URL('./way.js', import.meta.url), settings)) }
}

function teach() {
  const gain = asyncPooled.perSecond / asyncAlone.perSecond
  const isSurprise = gain > 1 && !isSameSpeed(gain)
  const verdict = isSurprise ? 'Other load on this machine can cause that.' : 'It needs no pool.'
  return (
    `In the pool, scryptSync was ${formatSpeed(syncPooled.perSecond / syncAlone.perSecond, 'without it')}, and the event loop delay ` +
    `(p99) was ${formatNumber(syncPooled.loopDelayMs.p99)} ms instead of ${formatNumber(syncAlone.loopDelayMs.p99)} ms. The ` +
    `asynchronous scrypt uses threads of Node; in the pool it was ${formatSpeed(gain, 'without it')}. ${verdict}`
  )
}
