// Keeps the example of a library that has both forms: scrypt, synchronous and asynchronous, with and without the
// pool. Each of the four ways runs in a process of its own under the same steady load.
import { runChild } from '../shared/child.js'
import { readOptions } from '../shared/command-line.js'
import { maxWorkers } from '../shared/common-options.js'
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

const options = readOptions('node examples/key-derivation/main.js', {
  keys: { kind: 'number', default: 100, small: 12, least: 1, help: 'how many keys each way derives' },
  lanes: { kind: 'number', default: 8, small: 4, least: 1, help: 'how many keys are asked for at a time' },
  costLog2: {
    kind: 'number',
    default: 14,
    small: 12,
    least: 2,
    most: 20,
    help: 'scrypt works with the cost 2^this',
  },
  maxWorkers,
})

const syncAlone = await runWay('scryptSync, without the pool', 'deriveSync', false)
const syncPooled = await runWay('scryptSync, with the pool', 'deriveSync', true)
const asyncAlone = await runWay('scrypt (async), without the pool', 'deriveAsync', false)
const asyncPooled = await runWay('scrypt (async), with the pool', 'deriveAsync', true)

printReport({
  title: `scrypt, ${options.keys} keys, ${options.lanes} asked for at a time, N = 2^${options.costLog2}`,
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
  console.log(`${way} ...`)
  const settings = { form, isPooled, count, lanes, cost: 2 ** costLog2, maxWorkers }
  return { way, ...(await runChild(new URL('./way.js', import.meta.url), settings)) }
}

function teach() {
  const gain = asyncPooled.perSecond / asyncAlone.perSecond
  const verdict =
    gain > 1.15 ? 'more than expected: look for other load on this machine' : 'so it gains nothing there'
  return (
    'The pool takes the synchronous form off the event loop (delay p99 ' +
    `${formatNumber(syncAlone.loopDelayMs.p99)} ms without, ${formatNumber(syncPooled.loopDelayMs.p99)} ms with it) ` +
    `and does ${formatRatio(syncPooled.perSecond / syncAlone.perSecond)} the keys; the asynchronous form has threads ` +
    `of its own and does ${formatRatio(gain)} its keys in the pool, ${verdict}.`
  )
}
