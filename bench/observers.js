// Measures what it costs to watch a pool: the speed of tasks with subscribers, with a carried store, and while a trace is recorded, divided by
// the speed of the same pool before and after.
//   npm run bench:observers -- [--rounds 5] [--seconds 1] [--workers 1]
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { parseArgs } from 'node:util'
import { Pool } from 'lido'
import { carry } from 'lido/worker'
import { describeMachine } from './machine.js'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
  },
})
const workers = Number(flags.workers)
const filename = new URL('handlers/observed.js', import.meta.url)
const IN_FLIGHT = 64

/** Has a value all the time: a program pays for a store whether tasks carry it or not. */
const request = new AsyncLocalStorage()
let isCarrying = false
carry({
  name: 'request',
  capture: () => (isCarrying ? request.getStore() : undefined),
  run: (value, callback) => request.run(value, callback),
})
request.enterWith({ id: 'a1b2c3d4-e5f6-7890', user: 4711, route: '/images' })

/** Each way begins to watch the pool, and returns a function that ends it. */
const ways = {
  'subscribers that do nothing': async () => {
    const nothing = () => {}
    const subscribers = {
      start: nothing,
      end: nothing,
      asyncStart: nothing,
      asyncEnd: nothing,
      error: nothing,
    }
    tracingChannel('lido.task').subscribe(subscribers)
    return () => tracingChannel('lido.task').unsubscribe(subscribers)
  },
  'a carried store of 50 bytes': async () => {
    isCarrying = true
    return () => {
      isCarrying = false
    }
  },
  'a trace of the tasks': pool => record(pool, { cpu: false }),
  'a trace with CPU profiles': pool => record(pool, {}),
}

async function record(pool, options) {
  const stop = new AbortController()
  const tracing = pool.trace({ seconds: 600, signal: stop.signal, ...options })
  // The first profile of a thread needs some milliseconds.
  await pool.run(200, { name: 'spin' })
  return async () => {
    stop.abort()
    await tracing
  }
}

/** Tasks per second. */
async function rate(pool, name) {
  const end = performance.now() + Number(flags.seconds) * 1000
  let count = 0
  const caller = async () => {
    while (performance.now() < end) {
      await pool.run(1, { name })
      count++
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
  return count / ((performance.now() - from) / 1000)
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

console.log(JSON.stringify(describeMachine()))
for (const [title, name] of [
  ['tasks of 1 ms', 'spin'],
  ['tasks that do nothing', 'echo'],
]) {
  const pool = new Pool({ filename, minWorkers: workers, maxWorkers: workers, performanceWarnings: false })
  await pool.ready()
  await rate(pool, name)
  for (const [way, watch] of Object.entries(ways)) {
    const ratios = []
    for (let round = 0; round < Number(flags.rounds); round++) {
      const before = await rate(pool, name)
      const end = await watch(pool)
      const during = await rate(pool, name)
      await end()
      const after = await rate(pool, name)
      ratios.push(during / ((before + after) / 2))
    }
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => ratio.toFixed(3))
    console.log(`${title}, ${way}: ×${median(ratios).toFixed(3)} (${least}–${most})`)
  }
  await pool.close()
}
