// Computes in as many threads as the first argument says. Tells its parent when all of them have started.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const program = `require('node:worker_threads').parentPort.postMessage('started'); for (;;);`
const threads = Array.from({ length: Number(process.argv[2]) }, () => new Worker(program, { eval: true }))
process.on('disconnect', () => process.exit())
await Promise.all(threads.map(thread => once(thread, 'message')))
process.send('computing')
