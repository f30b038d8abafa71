// lido/fastify in CommonJS, in a program that does not declare the modules of its pools.
import Fastify = require('fastify')

import { fastifyPool } from 'lido/fastify'
import { type InjectPool, PoolModule } from 'lido/nestjs'

const app = Fastify.fastify()
app.register(fastifyPool, { filename: '/worker.js', as: 'images' })
app.get('/', async request => (await request.pools.images?.run(1)) as unknown)
export const module = PoolModule.forRoot({ filename: '/worker.js' })
export type Inject = typeof InjectPool
