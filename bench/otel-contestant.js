// One way of bench/otel.js, in its own process.
import { Pool } from 'lido'
import { setUp } from './otel-set-up.js'

const [way, workers, seconds, loops] = process.argv.slice(2)
const tasksInFlight = 8
const isTraced = way !== 'without'
if (isTraced) setUp(way)
const pool = new Pool({
  filename: new URL('./handlers/work.js', import.meta.url),
  minWorkers: Number(workers),
  maxWorkers: Number(workers),
  env: { ...process.env, LIDO_BENCH_WAY: way },
  ...(isTraced && { execArgv: ['--import', new URL('./otel-set-up.js', import.meta.url).href] }),
})
await pool.ready()
await play(1000)
process.on('message', async message => {
  if (message === 'end') process.exit()
  process.send(await play(Number(seconds) * 1000))
})
process.send('ready')

async function play(durationMs) {
  let tasks = 0
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const call = async () => {
    while (performance.now() - startedAt < durationMs) {
      await pool.run({ loops: Number(loops), times: 1 })
      tasks++
    }
  }
  await Promise.all(Array.from({ length: tasksInFlight * Number(workers) }, call))
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: (tasks / (performance.now() - startedAt)) * 1000, cpuMicros: (user + system) / tasks }
}
