// A server of each framework that echoes bodies, for one test.
import { createServer } from 'node:http'
import express from 'express'
import Fastify from 'fastify'
import { Pool } from 'lido'
import { fastifyJson, jsonReader } from 'lido/body'
import { json } from 'lido/express'
import { alive } from '../helpers/alive.js'
import { listen } from '../helpers/raw-http.js'

/** Each starts a server that echoes bodies and passes errors to `told`. */
export const frameworks = {
  async Express(t, options, told) {
    const app = express()
    // Express prints errors to the console, except in this environment.
    app.set('env', 'test')
    app.use(json(options))
    app.post('/', (request, response) => response.json(request.body))
    app.use((error, _request, _response, next) => {
      told(error)
      next(error)
    })
    return await listen(t, createServer(app))
  },
  async Fastify(t, { limit, ...options }, told) {
    const app = Fastify({ forceCloseConnections: true, bodyLimit: limit })
    await app.register(fastifyJson(options))
    app.addHook('onError', async (_request, _reply, error) => told(error))
    app.post('/', async request => request.body)
    await app.listen({ host: '127.0.0.1', port: 0 })
    t.after(() => app.close())
    return app.server.address().port
  },
  async 'node:http'(t, options, told) {
    const read = jsonReader(options)
    const server = createServer((request, response) => {
      read(request).then(
        value => response.end(JSON.stringify(value)),
        error => {
          told(error)
          response.writeHead(error.status ?? 500, error.headers).end()
        },
      )
    })
    return await listen(t, server)
  },
}

/** Collects errors. `next()` resolves with the next error. */
export function listener() {
  const found = []
  const waiting = []
  return {
    told(error) {
      const waiter = waiting.shift()
      if (waiter) waiter(error)
      else found.push(error)
    },
    next: () =>
      found.length > 0
        ? Promise.resolve(found.shift())
        : alive(new Promise(resolve => waiting.push(resolve))),
  }
}

export function openPool(t, options = {}) {
  const pool = new Pool({ minWorkers: 1, maxWorkers: 1, ...options })
  t.after(() => pool.destroy())
  return pool
}
