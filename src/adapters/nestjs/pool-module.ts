// The module: creates pools, provides them by token, and closes them when the program shuts down.
import { createRequire } from 'node:module'
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
import { packagesFrom } from '../../kit.js'
import { watchFurtherServers } from '../http/further-servers.js'
import { checkVersion } from '../packages/version.js'
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

/** The token of the options that the factory of `forRootAsync()` returned. */
const ASYNC_OPTIONS = 'LIDO_POOL_OPTIONS'

/**
 * The token of a number that differs between registrations. Nest 10 takes two dynamic modules for one when their texts are the same, and
 * the options are not in the text.
 */
const REGISTRATION = 'LIDO_POOL_REGISTRATION'
let lastRegistration = 0

/** Creates pools, provides them to constructors, and closes them when the program shuts down. */
export class PoolModule implements OnModuleInit, OnApplicationShutdown {
  readonly #pools: readonly Pool[]
  readonly #host: HttpAdapterHost
  #furtherServersClosed: (() => Promise<void>) | null = null

  constructor(pools: readonly Pool[], host: HttpAdapterHost) {
    this.#pools = pools
    this.#host = host
  }

  /**
   * Creates the pool without a name, for the whole program. Throws `InvalidOptionError` for options of the module.
   * Invalid options of the pool reject the start of the program.
   * @example
   * PoolModule.forRoot({ filename: join(__dirname, 'image.js') })
   * @see [PoolModule.forRoot()](https://OWNER.github.io/lido/reference/nestjs.html#poolmoduleforrootoptions)
   */
  static forRoot(options: PoolModuleOptions): DynamicModule {
    const { own, others } = splitModuleOptions(options)
    return rootModule(own, [poolProvider(DEFAULT_POOL, [], () => others)])
  }

  /**
   * Like `forRoot()`, with options that depend on other providers.
   * @see [PoolModule.forRootAsync()](https://OWNER.github.io/lido/reference/nestjs.html#poolmoduleforrootasyncoptions)
   */
  static forRootAsync(given: PoolModuleAsyncOptions): DynamicModule {
    const { imports, inject, useFactory, ...settings } = readAsyncOptions(given)
    const options: Provider = { provide: ASYNC_OPTIONS, useFactory, inject: inject ?? [] }
    const pool = poolProvider(DEFAULT_POOL, [ASYNC_OPTIONS], options => options as PoolOptions)
    return { ...rootModule(settings, [options, pool]), imports: imports ?? [] }
  }

  /**
   * Creates named pools for the module that imports this one. To share them, export `PoolModule` from that module.
   * @example
   * PoolModule.forFeature({ as: 'images', filename: join(__dirname, 'image.js') })
   * @see [PoolModule.forFeature()](https://OWNER.github.io/lido/reference/nestjs.html#poolmoduleforfeatureoptions)
   */
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

  /**
   * Nest calls this at the start.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  onModuleInit(): void {
    // A program without a server has no adapter, or an adapter without methods.
    const { httpAdapter } = this.#host
    if (httpAdapter?.getType?.() === 'fastify')
      this.#furtherServersClosed = watchFurtherServers(httpAdapter.getInstance())
  }

  /**
   * Nest calls this after the server has answered all requests. Waits for tasks that requests left in the pools.
   * @see [Closing](https://OWNER.github.io/lido/reference/nestjs.html#closing)
   */
  async onApplicationShutdown(): Promise<void> {
    await this.#furtherServersClosed?.()
    // A replacement from `overrideProvider()` may be null or have no `close()`.
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
  checkVersion(
    { user: "'lido/nestjs'", name: '@nestjs/core', oldest: '10.0.0' },
    createRequire(packagesFrom()),
  )
  const tokens = names.map(getPoolToken)
  const poolsOfModule: Provider = {
    provide: POOLS_OF_MODULE,
    useFactory: (...pools: Pool[]) => pools,
    inject: tokens,
  }
  const registration: Provider = { provide: REGISTRATION, useValue: ++lastRegistration }
  return { module: PoolModule, providers: [...providers, poolsOfModule, registration], exports: tokens }
}

function poolProvider(
  name: string,
  inject: string[],
  optionsOf: (injected: unknown) => PoolOptions,
): Provider {
  return {
    provide: getPoolToken(name),
    inject: [ModulesContainer, ...inject],
    useFactory: (modules: ModulesContainer, injected: unknown) => {
      refuseSecond(name, modules)
      refusePerRequest(name, modules)
      return new Pool(optionsOf(injected))
    },
  }
}

/** Without this check Nest would create both pools and inject the nearer one. */
function refuseSecond(name: string, modules: ModulesContainer): void {
  const token = getPoolToken(name)
  const owners = [...modules.values()].filter(
    module => module.metatype === PoolModule && module.providers.has(token),
  )
  if (owners.length > 1) throw registeredTwice(name)
}

/** Without this check Nest would create a pool for each request and close none of them. */
function refusePerRequest(name: string, modules: ModulesContainer): void {
  const token = getPoolToken(name)
  const providers = [...modules.values()].map(module => module.providers.get(token))
  if (providers.every(provider => provider?.isDependencyTreeStatic() !== false)) return
  throw new InvalidOptionError(
    'inject',
    `The option 'inject' of forRootAsync() names a request-scoped provider, so Nest would create a pool for each request. Inject a provider with the default scope.`,
  )
}

function registeredTwice(name: string): InvalidOptionError {
  const [what, advice] =
    name === DEFAULT_POOL
      ? ['PoolModule.forRoot()', "Name further pools, with PoolModule.forFeature({ as: 'images', … })."]
      : [
          `The pool '${name}'`,
          'Register it in one module and export PoolModule from that module, or give this pool another name.',
        ]
  return new InvalidOptionError('as', `${what} has already been registered. ${advice}`)
}
