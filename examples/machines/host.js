// One computing host, as a process of its own. Arguments: the way, the queue, the address of the database.
import { fileURLToPath } from 'node:url'
import { createPostgresBackend, Worker } from 'bullmq'
import { Pool } from 'lido'
import { serve } from 'lido/bullmq'
import describePlaces from '../csv/worker.js'
import { EventLoopDelay } from '../shared/event-loop-delay.js'

const [way, queueName, url] = process.argv.slice(2)
const handlerFile = new URL('../csv/worker.js', import.meta.url)

const loopDelay = new EventLoopDelay()
await { lido: runLido, inline: runInline, sandbox: runSandbox }[way]()
await loopDelay.start()
process.on('message', async () => process.send({ loopDelayMs: await loopDelay.stop() }))
// The parent died. The host leads a group of processes, to which those of BullMQ's sandbox belong.
process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
process.send({ isReady: true })

async function runLido() {
  const pool = new Pool({ filename: handlerFile, minWorkers: 1, maxWorkers: 1 })
  await pool.ready()
  // Two seconds, so that the example need not wait long for the jobs of a killed host.
  const host = serve(queueName, pool, { engine: 'postgres', connection: url, lockDuration: 2000 })
  host.on('error', () => {})
  await host.ready()
}

async function runInline() {
  await runWorker(job => Promise.resolve(describePlaces(job.data)))
}

async function runSandbox() {
  await runWorker(fileURLToPath(new URL('sandboxed.js', import.meta.url)))
}

async function runWorker(processor) {
  const worker = new Worker(queueName, processor, { connection: url, concurrency: 1 }, createPostgresBackend)
  worker.on('error', () => {})
  await worker.waitUntilReady()
}
