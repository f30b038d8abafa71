// What a program says of its pools, apart from what is said of a pool.
import type { DynamicModule, InjectionToken, OptionalFactoryDependency } from '@nestjs/common'
import { InvalidOptionError, type PoolOptions } from '../../index.js'
import { resolveRetryAfter } from '../http/answers.js'
import { refuse } from '../http/refuse.js'
import { DEFAULT_POOL } from './decorators.js'

export interface PoolModuleOptions extends PoolOptions {
  /** Whether every module of the program sees the pool without importing this one. Default `true`. */
  isGlobal?: boolean | undefined
  /**
   * Answers HTTP requests that fail of a pool's state with 503 and `Retry-After`, by a filter for the whole program. `false`:
   * they are answered as any error, and `PoolExceptionFilter` is there for single routes. Default `true`.
   */
  exceptionFilter?: boolean | undefined
  /** Seconds that a client turned away is asked to stay away. Default 1. */
  retryAfter?: number | undefined
}

export interface PoolModuleAsyncOptions
  extends Pick<PoolModuleOptions, 'isGlobal' | 'exceptionFilter' | 'retryAfter'> {
  imports?: DynamicModule['imports']
  /** What `useFactory` is called with. */
  inject?: (InjectionToken | OptionalFactoryDependency)[]
  useFactory: (...dependencies: any[]) => PoolOptions | Promise<PoolOptions>
}

export interface PoolFeatureOptions extends PoolOptions {
  /** The pool's name, as in `@InjectPool('images')`. */
  as: string
}

/** What is said of the module, and the rest, which is said of the pool. */
export function splitOptions<Options extends Partial<PoolModuleOptions>>(given: Options) {
  if (Object(given) !== given) refuse('options', given, 'an object')
  const { isGlobal = true, exceptionFilter = true, retryAfter, ...rest } = given
  if (typeof isGlobal !== 'boolean') refuse('isGlobal', isGlobal, 'true or false')
  if (typeof exceptionFilter !== 'boolean') refuse('exceptionFilter', exceptionFilter, 'true or false')
  return { isGlobal, exceptionFilter, retryAfter: resolveRetryAfter(retryAfter), rest }
}

export function splitFeature(given: PoolFeatureOptions): { as: string; options: PoolOptions } {
  const { as, ...options }: PoolFeatureOptions = Object(given)
  if (typeof as === 'string' && as !== '' && as !== DEFAULT_POOL) return { as, options }
  throw new InvalidOptionError(
    'as',
    `The option 'as' of forFeature() must be the pool's name, as in as: 'images'; the pool without a name is that of forRoot(). Got ${String(as)}.`,
  )
}
