// One way of answering a request, as a server in a process of its own. main.js starts it.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Pool } from 'lido'
import Piscina from 'piscina'
import { serve } from '../shared/measured-server.js'
import { meetParent } from '../shared/parent.js'
import { sleepAsync, sleepBusy } from './wait.js'

const { way, kind, sleepMs, maxWorkers, concurrentTasksPerWorker, idleTimeoutMs } = await meetParent()
const kinds = { sleepAsync, sleepBusy }
const file = new URL('./wait.js', import.meta.url)
const options = { name: kind, concurrentTasksPerWorker, idleTimeout: idleTimeoutMs }

const ways = {
  alone: () => serve(() => kinds[kind](sleepMs)),

  async worker() {
    await serve(async () => {
      const worker = new Worker(file, { workerData: { kindOfOneRequest: kind, sleepMs } })
      const [answer] = await once(worker, 'message')
      return answer
    })
  },

  async piscina() {
    const pool = new Piscina({ filename: fileURLToPath(file), maxThreads: maxWorkers, ...options })
    await serve(() => pool.run(sleepMs))
  },

  async lido() {
    const pool = new Pool({ filename: file, maxWorkers, ...options })
    await serve(() => pool.run(sleepMs), pool)
  },
}

await ways[way]()
