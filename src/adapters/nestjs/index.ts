/**
 * Pools for Nest. Decorators are applied as functions, so no compiler option for decorators is needed.
 * @module
 * @see [lido/nestjs](https://OWNER.github.io/lido/guides/nestjs.html)
 */

export type { PoolPressure, PressureLimit } from '../http/pressure.js'
export { ClientSignal, getPoolToken, InjectPool } from './decorators.js'
export { PoolExceptionFilter } from './exception-filter.js'
export { PoolHealthIndicator, type PoolHealthResult } from './health-indicator.js'
export type { PoolFeatureOptions, PoolModuleAsyncOptions, PoolModuleOptions } from './options.js'
export { PoolModule } from './pool-module.js'
