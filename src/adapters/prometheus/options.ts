// The options of `collectPools()`.
import { InvalidOptionError, Pool } from '../../index.js'
import { boolean, milliseconds, OptionErrors, OptionTable, type RulesFor, value } from '../../kit.js'
import type { MetricHost, MetricQueue } from './queue-metrics.js'
import type { MetricsRegister } from './register.js'

/** The options of `collectPools()`. */
export interface CollectOptions {
  /**
   * A `Registry` of `prom-client`. Default: its `register`.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  register?: MetricsRegister | undefined
  /**
   * Begins the names of the metrics. Default `'lido_'`.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  prefix?: string | undefined
  /**
   * The pools. Default: all open pools of this thread, also later ones.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  pools?: readonly Pool<any, any>[] | undefined
  /**
   * Adds the metrics that handlers have in the default register of `prom-client` in their workers. Default `true`.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  workers?: boolean | undefined
  /**
   * Milliseconds that a scrape waits for workers and for servers of queues. Then the last figures count. Default 1,000.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  timeout?: number | undefined
  /**
   * The upper bounds of the buckets of wait and run times, in seconds, in ascending order.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  buckets?: readonly number[] | undefined
  /**
   * Hosts of `lido/bullmq` in this program, made by `serve()`.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  hosts?: readonly MetricHost[] | undefined
  /**
   * Pools of `lido/bullmq` whose queues are counted, made by `new RemotePool()`.
   * @see [lido/prometheus](https://OWNER.github.io/lido/reference/prometheus.html)
   */
  queues?: readonly MetricQueue[] | undefined
}

const DEFAULT_BUCKETS: readonly number[] = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
]
const DEFAULT_TIMEOUT_MS = 1000

const isListOf =
  (isRight: (item: any) => boolean) =>
  (given: unknown): boolean =>
    Array.isArray(given) && given.every(item => isRight(Object(item)))

const collectTable = new OptionTable({
  register: value<MetricsRegister | undefined>(
    given => typeof (Object(given) as MetricsRegister).metrics === 'function',
    'a Registry of prom-client',
    { default: undefined },
  ),
  prefix: value<string>(
    given => typeof given === 'string' && /^([a-zA-Z_:][a-zA-Z0-9_:]*)?$/.test(given),
    "letters, digits and underscores, as in 'lido_'",
    { default: 'lido_' },
  ),
  pools: value<readonly Pool[] | undefined>(
    isListOf(item => item instanceof Pool),
    'an array of pools that this copy of lido made',
    { default: undefined },
  ),
  workers: boolean({ default: true }),
  timeout: milliseconds(false, { default: DEFAULT_TIMEOUT_MS }),
  buckets: value<readonly number[]>(isAscending, 'an array of ascending numbers of seconds', {
    default: DEFAULT_BUCKETS,
  }),
  hosts: value<readonly MetricHost[]>(
    isListOf(({ stats, health }) => typeof stats === 'function' && typeof health === 'function'),
    'an array of hosts that serve() returned',
    { default: [] },
  ),
  queues: value<readonly MetricQueue[]>(
    isListOf(({ counts }) => typeof counts === 'function'),
    'an array of RemotePools',
    { default: [] },
  ),
} satisfies RulesFor<CollectOptions>)

export type CollectSettings = ReturnType<typeof collectTable.read>

export const errors: OptionErrors = new OptionErrors('collectPools()', InvalidOptionError, {
  registry: "Use 'register'.",
  labels: "Use 'setDefaultLabels()' of the register.",
})

/** Throws `InvalidOptionError`. */
export function readOptions(given: CollectOptions): CollectSettings {
  if (given === null || typeof given !== 'object') return errors.noObject(given, "prefix: 'lido_'")
  return collectTable.read(given, errors)
}

function isAscending(given: unknown): boolean {
  if (!Array.isArray(given) || given.length === 0) return false
  return given.every((bound, index) => Number.isFinite(bound) && (index === 0 || bound > given[index - 1]))
}
