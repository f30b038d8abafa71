// The door `lido/nestjs`. Decorators are applied as functions, so neither this source nor its users need a compiler's
// option for them.
export type { PoolPressure, PressureLimit } from '../http/pressure.js'
export { ClientSignal } from './client-signal.js'
export { PoolExceptionFilter } from './exception-filter.js'
export { PoolHealthIndicator, type PoolHealthResult } from './health-indicator.js'
export type { PoolFeatureOptions, PoolModuleAsyncOptions, PoolModuleOptions } from './options.js'
export { PoolModule } from './pool-module.js'
export { getPoolToken, InjectPool } from './tokens.js'
