// The module: makes pools, hands them out by token, and closes them when the program shuts down.
import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common'
import { APP_FILTER, HttpAdapterHost, ModulesContainer } from '@nestjs/core'
import { InvalidOptionError, Pool, type PoolOptions } from '../../index.js'
import { watchFurtherServers } from '../http/further-servers.js'
import { DEFAULT_POOL, getPoolToken, POOLS_OF_MODULE } from './decorators.js'
import { PoolExceptionFilter } from './exception-filter.js'
import { PoolHealthIndicator } from './health-indicator.js'
import {
  type PoolFeatureOptions,
  type PoolModuleAsyncOptions,
  type PoolModuleOptions,
  readAsyncOptions,
  splitFeature,
  splitModuleOptions,
} from './options.js'

/** Of an asynchronous registration: what its factory said. */
const ASYNC_OPTIONS = 'LIDO_POOL_OPTIONS'

export class PoolModule implements OnModuleInit, OnApplicationShutdown {
  readonly #pools: readonly Pool[]
  readonly #host: HttpAdapterHost
  #furtherServersClosed: (() => Promise<void>) | null = null

  constructor(pools: readonly Pool[], host: HttpAdapterHost) {
    this.#pools = pools
    this.#host = host
  }

  /** The pool without a name, for the whole program. Throws `InvalidOptionError`; so does the program's start. */
  static forRoot(options: PoolModuleOptions): DynamicModule {
    const { own, others } = splitModuleOptions(options)
    return rootModule(own, [poolProvider(DEFAULT_POOL, [], () => others)])
  }

  /** The same, with options that are known only when other providers are there. */
  static forRootAsync(given: PoolModuleAsyncOptions): DynamicModule {
    const { imports, inject, useFactory, ...settings } = readAsyncOptions(given)
    const options: Provider = { provide: ASYNC_OPTIONS, useFactory, inject: inject ?? [] }
    const pool = poolProvider(DEFAULT_POOL, [ASYNC_OPTIONS], said => said as PoolOptions)
    return { ...rootModule(settings, [options, pool]), imports: imports ?? [] }
  }

  /** Pools with names, for the module that imports this one; to share one, export `PoolModule` from there. */
  static forFeature(...pools: PoolFeatureOptions[]): DynamicModule {
    const named = pools.map(splitFeature)
    named.forEach(({ as }, index) => {
      if (named.findIndex(other => other.as === as) < index) throw registeredTwice(as)
    })
    return poolModule(
      named.map(({ as, options }) => poolProvider(as, [], () => options)),
      named.map(({ as }) => as),
    )
  }

  onModuleInit(): void {
    // Without a server there is no adapter, or one that is nothing.
    const { httpAdapter } = this.#host
    if (httpAdapter?.getType?.() === 'fastify')
      this.#furtherServersClosed = watchFurtherServers(httpAdapter.getInstance())
  }

  /** The server takes no more requests by now, and has answered those it took; what they left in the pools is finished. */
  async onApplicationShutdown(): Promise<void> {
    await this.#furtherServersClosed?.()
    // A stand-in, put there by `overrideProvider()`, need not have it, and may be nothing.
    await Promise.all(this.#pools.map(pool => pool?.close?.()))
  }
}

Module({})(PoolModule)
Inject(POOLS_OF_MODULE)(PoolModule, undefined, 0)
Inject(HttpAdapterHost)(PoolModule, undefined, 1)

function rootModule(
  {
    isGlobal,
    exceptionFilter,
    retryAfter,
  }: { isGlobal: boolean; exceptionFilter: boolean; retryAfter: number },
  providers: Provider[],
): DynamicModule {
  const filter: Provider = {
    provide: APP_FILTER,
    useFactory: (host: HttpAdapterHost) => new PoolExceptionFilter(host, retryAfter),
    inject: [HttpAdapterHost],
  }
  const module = poolModule(
    [...providers, PoolHealthIndicator, ...(exceptionFilter ? [filter] : [])],
    [DEFAULT_POOL],
  )
  return { ...module, global: isGlobal, exports: [...module.exports!, PoolHealthIndicator] }
}

function poolModule(providers: Provider[], names: string[]): DynamicModule {
  const tokens = names.map(getPoolToken)
  const poolsOfModule: Provider = {
    provide: POOLS_OF_MODULE,
    useFactory: (...pools: Pool[]) => pools,
    inject: tokens,
  }
  return { module: PoolModule, providers: [...providers, poolsOfModule], exports: tokens }
}

function poolProvider(name: string, inject: string[], optionsOf: (said: unknown) => PoolOptions): Provider {
  return {
    provide: getPoolToken(name),
    inject: [ModulesContainer, ...inject],
    useFactory: (modules: ModulesContainer, said: unknown) => {
      refuseSecond(name, modules)
      refusePerRequest(name, modules)
      return new Pool(optionsOf(said))
    },
  }
}

/** Nest would make both, and hand out whichever is nearer. */
function refuseSecond(name: string, modules: ModulesContainer): void {
  const token = getPoolToken(name)
  const owners = [...modules.values()].filter(
    module => module.metatype === PoolModule && module.providers.has(token),
  )
  if (owners.length > 1) throw registeredTwice(name)
}

/** Nest would make one for each request, and close none of them. */
function refusePerRequest(name: string, modules: ModulesContainer): void {
  const token = getPoolToken(name)
  const providers = [...modules.values()].map(module => module.providers.get(token))
  if (providers.every(provider => provider?.isDependencyTreeStatic() !== false)) return
  throw new InvalidOptionError(
    'inject',
    `The option 'inject' of forRootAsync() names a provider that is made for each request, and so the pool would be. Take the options from one that lives as long as the program.`,
  )
}

function registeredTwice(name: string): InvalidOptionError {
  const [what, mend] =
    name === DEFAULT_POOL
      ? ['PoolModule.forRoot()', "Give further pools a name, by PoolModule.forFeature({ as: 'images', … })."]
      : [
          `The pool '${name}'`,
          'Register it in one module and export PoolModule from there, or give this one another name.',
        ]
  return new InvalidOptionError('as', `${what} has already been registered. ${mend}`)
}
