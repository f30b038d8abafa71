// Separates the options of the module from the options of its pools, and checks them.
import type { DynamicModule, InjectionToken, OptionalFactoryDependency } from '@nestjs/common'
import type { PoolOptions } from '../../index.js'
import { boolean, OptionTable, unchecked, value } from '../../kit.js'
import { checkHolder, optionErrors, retryAfterRule } from '../http/options.js'
import { DEFAULT_POOL } from './decorators.js'

/** The options of `PoolModule.forRoot()`. */
export interface PoolModuleOptions extends PoolOptions {
  /**
   * `true`: every module of the program can inject the pool without importing this module. Default `true`.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  isGlobal?: boolean | undefined
  /**
   * `true`: a filter for the whole program answers with 503 and `Retry-After` when the state of the pool is the cause.
   * `false`: Nest answers as for any error. Use `PoolExceptionFilter` for single routes. Default `true`.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  exceptionFilter?: boolean | undefined
  /**
   * The `Retry-After` header of refused requests, in seconds. Default 1.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  retryAfter?: number | undefined
}

/** The options of `PoolModule.forRootAsync()`. */
export interface PoolModuleAsyncOptions
  extends Pick<PoolModuleOptions, 'isGlobal' | 'exceptionFilter' | 'retryAfter'> {
  /**
   * Modules that provide the tokens of `inject`.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  imports?: DynamicModule['imports']
  /**
   * The providers that `useFactory` gets as arguments.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  inject?: (InjectionToken | OptionalFactoryDependency)[]
  /**
   * Returns the options of the pool, or a promise of them.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  useFactory: (...dependencies: any[]) => PoolOptions | Promise<PoolOptions>
}

/** The options of one pool of `PoolModule.forFeature()`. */
export interface PoolFeatureOptions extends PoolOptions {
  /**
   * The pool's name, as in `@InjectPool('images')`.
   * @see [lido/nestjs](https://OWNER.github.io/lido/reference/nestjs.html)
   */
  as: string
}

const moduleRules = {
  isGlobal: boolean({ default: true }),
  exceptionFilter: boolean({
    default: true,
  }),
  retryAfter: retryAfterRule,
}
const moduleTable = new OptionTable(moduleRules)
const asyncTable = new OptionTable({
  ...moduleRules,
  imports: unchecked<DynamicModule['imports']>({ default: undefined }),
  inject: unchecked<PoolModuleAsyncOptions['inject']>({ default: undefined }),
  useFactory: value<PoolModuleAsyncOptions['useFactory'] | undefined>(
    given => typeof given === 'function',
    'a function that returns options',
    { default: undefined },
  ),
})
const featureTable = new OptionTable({
  as: value<string | undefined>(
    given => typeof given === 'string' && given !== '' && given !== DEFAULT_POOL,
    "the pool's name, as in as: 'images'",
    { default: undefined },
  ),
})
const rootErrors = optionErrors('forRoot()')
const asyncErrors = optionErrors('forRootAsync(), whose useFactory returns the options of the pool')
const featureErrors = optionErrors('forFeature()')

export function splitModuleOptions(given: unknown) {
  return moduleTable.split(checkHolder(given, rootErrors, 'filename'), rootErrors)
}

export function readAsyncOptions(given: unknown) {
  const options = asyncTable.read(checkHolder(given, asyncErrors, 'useFactory'), asyncErrors)
  const { useFactory } = options
  if (useFactory !== undefined) return { ...options, useFactory }
  return asyncErrors.wrong('useFactory', undefined, 'a function that returns options')
}

export function splitFeature(given: unknown): { as: string; options: PoolOptions } {
  const { own, others } = featureTable.split(checkHolder(given, featureErrors, "as: 'images'"), featureErrors)
  const { as } = own
  if (as !== undefined) return { as, options: others }
  return featureErrors.wrong('as', undefined, "the pool's name, as in as: 'images'")
}
