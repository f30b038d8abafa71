// The plugin creates a pool for each registration and closes the pool with the server. It adds the decorators of the
// server and of requests.
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import { InvalidOptionError, Pool } from '../../index.js'
import { ownFields } from '../../kit.js'
import { forHttp, type HttpFields } from '../http/answers.js'
import { asPlugin } from '../http/fastify-plugin.js'
import { watchFurtherServers } from '../http/further-servers.js'
import { RETRY_AFTER_S } from '../http/options.js'
import {
  DEFAULT_POOL_NAME,
  deadlineOfRoute,
  type FastifyPoolOptions,
  type PiscinaPluginOptions,
  type Registration,
  splitPluginOptions,
} from './options.js'
import { decorateWithPiscina } from './piscina-decorators.js'
import { RequestPool, RequestTie } from './request-pool.js'

/** The property of a request that has its `RequestTie`. */
const tieSymbol = Symbol('lido.tie')
/** The property of a server that has the options of each pool. */
const registrationsSymbol = Symbol('lido.registrations')

/** Values by pool name. The prototype has the values of the outer scopes, so an inner scope can hide an outer name. */
type Named<Value> = Record<string, Value>

interface Decorated extends FastifyInstance {
  [registrationsSymbol]: Named<Registration>
}

interface Tied extends FastifyRequest {
  /** Missing in scopes that were created before the plugin was registered. */
  [tieSymbol]?: RequestTie | null
}

async function plugin(app: FastifyInstance, given: FastifyPoolOptions | PiscinaPluginOptions): Promise<void> {
  const own = ownFields(given)
  if (own.piscina === true) return await decorateWithPiscina(app, own)
  const { registration, options } = splitPluginOptions(own)
  const { as } = registration
  // If another plugin has added a decorator `pools`, Fastify refuses the one of this plugin.
  const isFirst = !(registrationsSymbol in app)
  if (!isFirst && as in app.pools) throw alreadyRegistered(as)
  const pool = new Pool(options)
  const furtherServersClosed = watchFurtherServers(app)
  // `onClose` runs after the server has answered all requests. `close()` then waits for tasks that requests left
  // behind.
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
  // An outer scope can register its pools after this one, so link the names when all plugins are loaded.
  app.addHook('onReady', done => {
    joinOuterNames(app, 'pools')
    joinOuterNames(app, registrationsSymbol)
    done()
  })
  app.addHook('onRoute', ({ config }) => void deadlineOfRoute(config))
  app.addHook('onRequest', (request, reply, done) => {
    // If an outer scope also registered the plugin, this hook runs twice. The first tie may already have tasks.
    ;(request as Tied)[tieSymbol] ??= new RequestTie(request, reply)
    done()
  })
  // This hook runs before any error handler, so that a custom answer also has the status and the headers.
  app.addHook('onError', (request, reply, error, done) => {
    // Uses the unnamed pool of the request's own scope.
    const unnamed = (request.server as Decorated)[registrationsSymbol][DEFAULT_POOL_NAME]
    forHttp(error, unnamed?.retryAfter ?? RETRY_AFTER_S)
    // A handler can throw `undefined`. An exception here would skip the hooks after this one.
    const { headers, code } = Object(error) as HttpFields & { code?: string }
    const retryAfter = headers?.['retry-after']
    if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter)
    if (code === 'FST_ERR_HANDLER_TIMEOUT') (request as Tied)[tieSymbol]?.giveUp(error)
    done()
  })
}

/** The names of this scope. Creates them at the scope's first registration. */
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
  const outer = Object.getPrototypeOf(app) as Decorated
  Object.setPrototypeOf((app as Decorated)[key], registrationsSymbol in outer ? outer[key] : null)
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
    throw new Error(`No pool was registered without a name. Use ${names.join(', ')}.`)
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
    `'lido/fastify' has already been registered with ${which}. Give this pool another name: as: 'images' makes it app.pools.images.`,
  )
}

/** Register it with `app.register(fastifyPool, options)`. Rejects with the `InvalidOptionError` of `new Pool()`. */
export const fastifyPool: FastifyPluginAsync<FastifyPoolOptions | PiscinaPluginOptions> = asPlugin(
  plugin,
  'lido',
)
