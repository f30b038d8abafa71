// Entry point `lido/prometheus`: the figures of pools as metrics of `prom-client`.
export { collectPools } from './collect.js'
export type { CollectOptions } from './options.js'
export type { MetricHost, MetricQueue } from './queue-metrics.js'
export type { MetricsRegister } from './register.js'
