// One way of hashing for a request, as a server in a process of its own. load.js starts it.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import fastifyPool from 'lido/fastify'
import Piscina from 'piscina'
import { serve } from '../shared/measured-server.js'
import { meetParent } from '../shared/parent.js'
import hash from './hash.js'

const { way, cost, maxWorkers } = await meetParent()
const file = new URL('./hash.js', import.meta.url)
const task = { password: 'correct horse', cost }

const ways = {
  alone: () => serve(() => hash(task)),

  async worker() {
    await serve(async () => {
      const worker = new Worker(file, { workerData: { isForOneRequest: true, task } })
      const [answer] = await once(worker, 'message')
      return answer
    })
  },

  async piscina() {
    const pool = new Piscina({ filename: fileURLToPath(file), maxThreads: maxWorkers })
    await serve(() => pool.run(task))
  },

  async lido() {
    await serve(
      request => request.pool.run(task),
      null,
      app => app.register(fastifyPool, { filename: file, maxWorkers }),
    )
  },
}

await ways[way]()
