// The ways of parsing a body. Each is middleware for Express that sets `request.body`.
import { Worker } from 'node:worker_threads'
import express from 'express'
import { Pool } from 'lido'
import { json } from 'lido/express'

const limit = '100mb'
const module = new URL('./orders.js', import.meta.url)

export const parsers = {
  /** express.json(), on the event loop. */
  alone: () => [express.json({ limit })],

  /** A pool of lido. The whole value comes back in slices. */
  lido: maxWorkers => [json({ limit, pool: new Pool({ maxWorkers }) })],

  /** A pool of lido. Only the part that the route needs comes back. */
  select: maxWorkers => [json({ limit, pool: new Pool({ maxWorkers }), module, select: 'summarize' })],

  /** Hand-written: a worker for each request. */
  worker: () =>
    byHand(bytes => {
      const worker = new Worker(new URL('./parse-once.js', import.meta.url), {
        workerData: bytes,
        transferList: [bytes.buffer],
      })
      return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }),

  /** Hand-written: piscina. */
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
