// lido/fastify, and the members that it adds to Fastify's own types.
import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import type { Pool } from 'lido'
import { fastifyJson, fastifyNdjson } from 'lido/body'
import fastifyPool, {
  type FastifyPoolOptions,
  fastifyPiscina,
  healthCheck,
  type PoolPressure,
  fastifyPool as samePlugin,
} from 'lido/fastify'
import { isTrue, type Same } from './checks.mjs'

declare module 'lido/fastify' {
  interface PoolModules {
    default: typeof import('./handler.mjs')
    numbers: { default: (value: number) => Promise<string> }
  }
}

const app = Fastify()
const options: FastifyPoolOptions = { filename: '/worker.js', deadlineMs: 500, retryAfter: 2, maxWorkers: 2 }
await app.register(fastifyPool, options)
await app.register(samePlugin, { filename: '/worker.js', as: 'numbers' })
await app.register(fastifyPool, { filename: '/worker.js', piscina: true, atomics: 'disabled' })
await app.register(fastifyPiscina, { filename: '/worker.js', maxQueue: 'auto' })
await app.register(underPressure, { healthCheck: healthCheck({ maxWaiting: 10 }), healthCheckInterval: 100 })
await app.register(fastifyJson, { threshold: 65_536, select: 'total', module: '/orders.js' })
await app.register(fastifyNdjson, { maxLines: 10 })
await app.register(fastifyNdjson({ maxLines: 10 }))
await app.register(fastifyJson)
// @ts-expect-error bytes are a number
await app.register(fastifyJson, { threshold: '64kb' })
// @ts-expect-error seconds are a number
await app.register(fastifyPool, { filename: '/worker.js', retryAfter: '2' })

isTrue<Same<typeof app.pool, Pool<typeof import('./handler.mjs')>>>()
app.get('/', { config: { pool: { deadlineMs: 100 } } }, async request => {
  const upper = await request.pool.run('text', { name: 'upper', signal: request.pool.signal })
  isTrue<Same<typeof upper, string>>()
  const length = await request.pool.run({ id: 1, text: 'text' })
  isTrue<Same<typeof length, number>>()
  // @ts-expect-error no such function
  await request.pool.run(1, { name: 'limit' })
  const text = await request.pools.numbers.run(4)
  isTrue<Same<typeof text, string>>()
  // @ts-expect-error no such pool
  request.pools.images
  return { upper, length, text, again: await app.pools.numbers.run(5) }
})
const task: Promise<unknown> = app.runTask({ any: 'thing' }, { name: 'upper' })
const completed: number = app.piscina.completed
const pressure = await healthCheck()(app)
if (pressure !== false) isTrue<Same<(typeof pressure)['pools'], Record<string, PoolPressure>>>()

export { completed, task }
