// The part of `prom-client` that this adapter uses. A program without the package can read these types.

export type Labels = Record<string, string | number>

export interface MetricValue {
  value: number
  labels: Labels
  metricName?: string
}

/** A metric with its values, as `register.getMetricsAsJSON()` gives it. */
export interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  aggregator: string
  values: MetricValue[]
}

/** A metric in a register. */
export interface LiveMetric extends Omit<Metric, 'values'> {
  get(): Promise<Metric>
  /** `register.resetMetrics()` calls it. */
  reset?(): void
}

/** A `Registry` of `prom-client`. */
export interface Register {
  metrics(): Promise<string>
  getMetricsAsJSON(): Promise<Metric[]>
  getMetricsAsArray(): LiveMetric[]
  registerMetric(metric: LiveMetric): void
  removeSingleMetric(name: string): void
}

/** The value of the option `register`. Any `Registry` of `prom-client` fits. */
export interface MetricsRegister {
  /** The text for a scrape. */
  metrics(): Promise<string>
  /** The type of that text. */
  readonly contentType: string
}
