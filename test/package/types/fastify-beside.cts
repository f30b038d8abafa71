// CommonJS beside ES modules in one program: `fastify.mts` has said which modules the pools run, and it holds here too.
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

/** A class is one type, whichever way it was imported. */
export const madeHere: PoolOfModules = new Pool()
export function isGiven(pool: typeof poolMadeByModules): Pool {
  return pool
}
