/**
 * The plugin for Fastify is the default export. `fastifyPiscina` replaces the package fastify-piscina.
 * @module
 * @see [lido/fastify](https://OWNER.github.io/lido/guides/fastify.html)
 */

export type { PoolPressure, PressureLimit } from '../http/pressure.js'
export { type HealthCheckOptions, healthCheck } from './health-check.js'
export type { FastifyPoolOptions, PiscinaPluginOptions } from './options.js'
export { fastifyPiscina } from './piscina-decorators.js'
export { fastifyPool, fastifyPool as default } from './plugin.js'
export type { RequestPool } from './request-pool.js'
export type { FastifyPools, ModuleOf, PoolModules, RequestPools } from './types.js'
