// CommonJS beside ES modules in one program. `fastify.mts` declares the modules of the pools, also for this file.
import Fastify = require('fastify')

import { Pool } from 'lido'
import { fastifyPool, type RequestPool } from 'lido/fastify'
import type { Pool as PoolOfModules, poolMadeByModules } from './pools.mjs'

const app = Fastify.fastify()
app.register(fastifyPool, { filename: '/worker.js', as: 'numbers' })
app.get('/', async request => {
  const pool: RequestPool = request.pools.numbers
  const text: string = await request.pools.numbers.run(4)
  // @ts-expect-error no such pool
  request.pools.images
  return { text, any: await pool.run(4) }
})

/** A class is the same type for import and for require(). */
export const madeHere: PoolOfModules = new Pool()
export function isGiven(pool: typeof poolMadeByModules): Pool {
  return pool
}
