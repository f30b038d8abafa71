// One host of rows M1 to M3, as a process of its own. Arguments: the way, the queue, the engine, the connection.
// Tells its parent when it is ready, and then the id of each job that ends.
import { fileURLToPath } from 'node:url'
import { createPostgresBackend, Worker } from 'bullmq'
import { Pool } from 'lido'
import { serve } from 'lido/bullmq'
import { burn } from '../work.js'

const SLOTS = 2
const file = new URL('./handlers.js', import.meta.url)
const [way, queueName, engine, connectionText] = process.argv.slice(2)
const connection = JSON.parse(connectionText)

if (way === 'lido') {
  const pool = new Pool({ filename: file, minWorkers: SLOTS, maxWorkers: SLOTS })
  await pool.ready()
  const host = serve(queueName, pool, { engine, connection })
  await host.ready()
  process.send({ ready: true })
} else {
  const factory = engine === 'postgres' ? createPostgresBackend : undefined
  const processors = {
    inline: [async job => burn(job.data), {}],
    'sandbox, processes': [fileURLToPath(file), {}],
    'sandbox, threads': [fileURLToPath(file), { useWorkerThreads: true }],
  }
  const [processor, options] = processors[way]
  const worker = new Worker(queueName, processor, { connection, concurrency: SLOTS, ...options }, factory)
  await worker.waitUntilReady()
  process.send({ ready: true })
}
// The parent died. The host leads a group of processes, to which those of BullMQ's sandbox belong.
process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
