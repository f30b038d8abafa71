// `collectPools()`: registers the metrics, and joins them to the pools, the workers and the queues. Nothing happens between two scrapes.
import { register as defaultRegister } from 'prom-client'
import { type CollectOptions, errors, readOptions } from './options.js'
import { type Definition, definitions } from './pool-metrics.js'
import { CollectedPools } from './pools.js'
import { addHost, addQueues, hostDefinitions, queueDefinitions } from './queue-metrics.js'
import type { LiveMetric, Register } from './register.js'
import { Samples } from './samples.js'
import { extend, WorkerMetrics } from './worker-metrics.js'

/** Two collections would count the same pools twice. */
const inUse = new WeakSet<object>()

/**
 * Adds the figures of all pools to a register of `prom-client`. Call it once, when the program starts. Throws `InvalidOptionError`.
 * @returns removes the metrics from the register
 */
export function collectPools(options: CollectOptions = {}): () => void {
  const settings = readOptions(options)
  const { prefix, buckets, hosts, queues, timeout } = settings
  const register = (settings.register ?? defaultRegister) as unknown as Register
  if (inUse.has(register)) {
    errors.contradiction(
      'register',
      "The option 'register' of collectPools(): this register already collects pools. Call the function that the first collectPools() returned, or pass another register.",
    )
  }
  const pools = new CollectedPools(settings.pools ?? null, buckets)
  const ofHosts = once(async () => {
    const samples = new Samples(buckets)
    for (const host of hosts) addHost(host, samples)
    return samples
  })
  const ofQueues = once(async () => {
    const samples = new Samples(buckets)
    await addQueues(queues, samples, timeout)
    return samples
  })
  const metrics = [
    ...definitions.map(each => metricOf(each, prefix, async () => pools.samples)),
    ...(hosts.length === 0 ? [] : hostDefinitions).map(each => metricOf(each, prefix, ofHosts)),
    ...(queues.length === 0 ? [] : queueDefinitions).map(each => metricOf(each, prefix, ofQueues)),
  ]
  const names = metrics.map(({ name }) => name)
  for (const metric of metrics) register.registerMetric(metric)
  inUse.add(register)
  const stopWorkers = settings.workers
    ? extend(register, new WorkerMetrics(timeout), () => pools.list)
    : () => {}
  let isStopped = false
  return () => {
    if (isStopped) return
    isStopped = true
    inUse.delete(register)
    stopWorkers()
    pools.end()
    for (const name of names) register.removeSingleMetric(name)
  }
}

function metricOf(
  { name, type, help }: Definition,
  prefix: string,
  read: () => Promise<Samples>,
): LiveMetric {
  return {
    name: prefix + name,
    help,
    type,
    aggregator: 'sum',
    reset() {},
    async get() {
      const samples = await read()
      // An OpenMetrics register changes the name of a counter, and expects the new one here.
      return { name: this.name, help, type, aggregator: 'sum', values: samples.values(name, prefix + name) }
    },
  }
}

/** A register reads all metrics in one turn. They share one reading. */
function once(read: () => Promise<Samples>): () => Promise<Samples> {
  let present: Promise<Samples> | null = null
  return () => {
    if (present === null) {
      present = read()
      queueMicrotask(() => {
        present = null
      })
    }
    return present
  }
}
