// Measures how much slower tasks run while a trace is recorded, with and without CPU profiles.
//   node bench/trace.js [--rounds 5] [--seconds 2]
import { parseArgs } from 'node:util'
import { Pool } from 'lido'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
})
const roundMs = Number(values.seconds) * 1000
const filename = new URL('handlers/trace.js', import.meta.url)
/** Tasks in flight, for two workers. */
const IN_FLIGHT = 8

/** Tasks per second. */
async function rate(pool, name, payload) {
  const end = performance.now() + roundMs
  let count = 0
  const caller = async () => {
    while (performance.now() < end) {
      await pool.run(payload, { name })
      count++
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
  return count / ((performance.now() - from) / 1000)
}

async function whileRecording(pool, options, measure) {
  const stop = new AbortController()
  const tracing = pool.trace({ seconds: 600, signal: stop.signal, ...options })
  // The first profile of a thread needs some milliseconds.
  await pool.run(200, { name: 'spin' })
  const result = await measure()
  stop.abort()
  await tracing
  return result
}

const median = numbers => numbers.sort((a, b) => a - b)[numbers.length >> 1]

for (const [title, name, payload] of [
  ['1 ms tasks', 'spin', 1],
  ['short tasks', 'echo', 1],
]) {
  const pool = new Pool({ filename, minWorkers: 2, maxWorkers: 2, performanceWarnings: false })
  await pool.ready()
  await rate(pool, name, payload)
  const ratios = { 'tasks only': [], 'tasks and CPU profiles': [] }
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [kind, options] of [
      ['tasks only', { cpu: false }],
      ['tasks and CPU profiles', {}],
    ]) {
      const before = await rate(pool, name, payload)
      const during = await whileRecording(pool, options, () => rate(pool, name, payload))
      const after = await rate(pool, name, payload)
      ratios[kind].push(during / ((before + after) / 2))
    }
  }
  for (const [kind, list] of Object.entries(ratios))
    console.log(
      `${process.version} ${title}, ${kind}: ${median(list).toFixed(3)} of the speed without a recording`,
    )
  await pool.close()
}
