// The plugin: a pool for each registration, closed with the server. What is asked of a pool is asked of the pool itself;
// here is only what it has to do with Fastify.
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidOptionError, Pool } from '../../index.js'
import { forHttp, type HttpFields } from '../http/answers.js'
import { watchFurtherServers } from '../http/further-servers.js'
import { RETRY_AFTER_S } from '../http/options.js'
import {
  checkRoute,
  DEFAULT_POOL_NAME,
  type FastifyPoolOptions,
  type PiscinaPluginOptions,
  type Registration,
  splitPluginOptions,
} from './options.js'
import { decorateWithPiscina } from './piscina-decorators.js'
import { RequestPool, RequestTie } from './request-pool.js'

/** Where a request keeps its tie, and a server what is said of each pool. */
const tieSymbol = Symbol('lido.tie')
const registrationsSymbol = Symbol('lido.registrations')

/** By name; an encapsulated scope's own stand before those around it, through the prototype. */
type Named<Value> = Record<string, Value>

interface Decorated extends FastifyInstance {
  [registrationsSymbol]: Named<Registration>
}

interface Tied extends FastifyRequest {
  /** Absent, too, in scopes that were there before the plugin. */
  [tieSymbol]?: RequestTie | null
}

async function plugin(app: FastifyInstance, given: FastifyPoolOptions | PiscinaPluginOptions): Promise<void> {
  if (given.piscina === true) return await decorateWithPiscina(app, given)
  const { registration, options } = splitPluginOptions(given)
  const { as } = registration
  // A decorator of that name alone is somebody else's, and Fastify refuses ours.
  const isFirst = !(registrationsSymbol in app)
  if (!isFirst && as in app.pools) throw alreadyRegistered(as)
  const pool = new Pool(options)
  const furtherServersClosed = watchFurtherServers(app)
  // When the server takes no more requests and has answered those it took: their tasks are over, and what they left runs out.
  app.addHook('onClose', async () => {
    await furtherServersClosed()
    await pool.close()
  })
  if (isFirst) decorateFirst(app)
  ownNames(app, 'pools')[as] = pool
  ownNames(app, registrationsSymbol)[as] = registration
  if (as === DEFAULT_POOL_NAME) app.decorate('pool', pool)
}

function decorateFirst(app: FastifyInstance): void {
  app.decorate('pools', Object.create(null))
  app.decorate(registrationsSymbol, Object.create(null))
  app.decorateRequest(tieSymbol, null)
  app.decorateRequest('pools', { getter: requestPools })
  app.decorateRequest('pool', { getter: requestPool })
  // By then a scope around this one may have pools of its own.
  app.addHook('onReady', done => {
    joinOuterNames(app, 'pools')
    joinOuterNames(app, registrationsSymbol)
    done()
  })
  app.addHook('onRoute', ({ config }) => checkRoute(config?.pool))
  app.addHook('onRequest', (request, reply, done) => {
    // Where a scope around this one was given its pool later, both come by here, and tasks may have begun in between.
    ;(request as Tied)[tieSymbol] ??= new RequestTie(request, reply)
    done()
  })
  // Before any error handler, so that its own answer has them as well.
  app.addHook('onError', (request, reply, error, done) => {
    // The request's scope may have a pool of its own without a name.
    const unnamed = (request.server as Decorated)[registrationsSymbol][DEFAULT_POOL_NAME]
    forHttp(error, unnamed?.retryAfter ?? RETRY_AFTER_S)
    // What was thrown may be nothing. A hook that stumbles over it keeps those after it from being called.
    const { headers, code } = Object(error) as HttpFields & { code?: string }
    const retryAfter = headers?.['retry-after']
    if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter)
    if (code === 'FST_ERR_HANDLER_TIMEOUT') (request as Tied)[tieSymbol]?.giveUp(error)
    done()
  })
}

/** The names of this scope, made where it has none yet. */
function ownNames(app: FastifyInstance, key: 'pools'): Named<Pool>
function ownNames(app: FastifyInstance, key: typeof registrationsSymbol): Named<Registration>
function ownNames(app: FastifyInstance, key: 'pools' | typeof registrationsSymbol): Named<unknown> {
  const names = (app as Decorated)[key]
  if (Object.hasOwn(app, key)) return names
  const own = Object.create(names)
  Object.defineProperty(app, key, { value: own, configurable: true, enumerable: true, writable: true })
  return own
}

function joinOuterNames(app: FastifyInstance, key: 'pools' | typeof registrationsSymbol): void {
  Object.setPrototypeOf((app as Decorated)[key], Object.getPrototypeOf(app)[key] ?? null)
}

function requestPool(this: FastifyRequest): RequestPool {
  return tiedPool(this, DEFAULT_POOL_NAME)
}

function requestPools(this: FastifyRequest): Named<RequestPool> {
  const pools: Named<RequestPool> = Object.create(null)
  for (const name in this.server.pools) pools[name] = tiedPool(this, name)
  return pools
}

function tiedPool(request: FastifyRequest, name: string): RequestPool {
  const { server } = request
  const pool = (server.pools as Named<Pool>)[name]
  if (pool === undefined) {
    const names = Object.keys(server.pools).map(known => `request.pools.${known}`)
    throw new Error(`No pool was registered without a name. There is ${names.join(', ')}.`)
  }
  const tie = (request as Tied)[tieSymbol]
  if (!tie)
    throw new Error(
      "The request is not tied to pools yet. Register 'lido/fastify' before your onRequest hooks.",
    )
  return new RequestPool(pool, (server as Decorated)[registrationsSymbol][name]!, tie)
}

function alreadyRegistered(as: string): InvalidOptionError {
  const which = as === DEFAULT_POOL_NAME ? 'a pool without a name' : `a pool named '${as}'`
  return new InvalidOptionError(
    'as',
    `'lido/fastify' has already been registered with ${which}. Give this one another name, as in as: 'images'; it is then app.pools.images.`,
  )
}

/** `app.register(fastifyPool, options)`. Rejects with `InvalidOptionError`, as `new Pool()` throws it. */
export const fastifyPool: FastifyPluginAsync<FastifyPoolOptions | PiscinaPluginOptions> = fp(plugin, {
  fastify: '5.x',
  name: 'lido',
})
