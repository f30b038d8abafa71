// Keeps the ways to a parsed body, each as middleware for Express that leaves the parsed body in `request.body`.
import { Worker } from 'node:worker_threads'
import express from 'express'
import { Pool } from 'lido'
import { json } from 'lido/express'

const limit = '100mb'
const module = new URL('./orders.js', import.meta.url)

export const parsers = {
  /** Express' own: on the event loop. */
  alone: () => [express.json({ limit })],

  /** In lido's pool; the whole value comes back, in slices as long as those of a pool that json() makes for itself. */
  lido: maxWorkers => [json({ limit, pool: new Pool({ maxWorkers }) })],

  /** In lido's pool; only what the route needs comes back. */
  select: maxWorkers => [json({ limit, pool: new Pool({ maxWorkers }), module, select: 'summarize' })],

  /** By hand: a worker for each request. */
  worker: () =>
    byHand(bytes => {
      const worker = new Worker(new URL('./parse-once.js', import.meta.url), {
        workerData: bytes,
        transferList: [bytes.buffer],
      })
      return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }),

  /** By hand: piscina. */
  async piscina(maxWorkers) {
    const { Piscina } = await import('piscina')
    const pool = new Piscina({ filename: module.href, maxThreads: maxWorkers })
    return byHand(bytes => pool.run(bytes, { transferList: [bytes.buffer] }))
  },
}

function byHand(parse) {
  return [
    express.raw({ limit, type: 'application/json' }),
    async (request, _response, next) => {
      if (request.body !== undefined) request.body = await parse(new Uint8Array(request.body))
      next()
    },
  ]
}
