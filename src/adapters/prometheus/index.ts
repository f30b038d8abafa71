/**
 * The figures of pools as metrics of `prom-client`.
 * @module
 * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
 */

export { collectPools } from './collect.js'
export type { CollectOptions } from './options.js'
export type { MetricHost, MetricQueue } from './queue-metrics.js'
export type { MetricsRegister } from './register.js'
