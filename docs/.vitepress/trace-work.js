// The work of the demo, once, for `trace-picture.js`: without a pool or with `pool.map()`. Prints when the work started and ended.
//   node docs/.vitepress/trace-work.js alone|map INPUT WORKERS
import { Pool } from 'lido'
import { readChunks } from '../../examples/csv/dataset.js'

const [way, input, workers] = process.argv.slice(2)
const handler = new URL('../../examples/csv/worker.js', import.meta.url)
const now = () => performance.timeOrigin + performance.now()
const chunks = () => readChunks(input, 64 * 1024)

const pool = way === 'map' ? new Pool({ filename: handler, minWorkers: Number(workers) }) : null
await pool?.ready()
const { default: describePlaces } = await import(handler)
const startedAt = now()
if (pool === null) for await (const chunk of chunks()) describePlaces(chunk)
else await pool.map(chunks()).forEach(() => {})
console.log(JSON.stringify({ startedAt, endedAt: now() }))
await pool?.close()
