// Workers load this file. It gives the host the metrics that the handlers have in the registers of `prom-client`.
import { createRequire } from 'node:module'
import type { Metric, Register } from './register.js'

/** The default metrics of a thread repeat those of its process. */
const DEFAULT_METRIC = /^(process|nodejs)_/
const PACKAGE_FILE = /[\\/]prom-client[\\/]index\.js$/

interface LoadedModule {
  exports: { register?: Register }
}

/** The default registers of all copies of the package that the handlers have loaded. Loads nothing itself. */
function registers(): Set<Register> {
  const loaded = createRequire(import.meta.url).cache as Record<string, LoadedModule | undefined>
  const found = new Set<Register>()
  for (const [file, module] of Object.entries(loaded)) {
    const register = PACKAGE_FILE.test(file) ? module?.exports.register : undefined
    if (register !== undefined) found.add(register)
  }
  return found
}

export default async function metrics(): Promise<Metric[]> {
  const all = await Promise.all([...registers()].map(register => register.getMetricsAsJSON()))
  return all.flat().filter(({ name }) => !DEFAULT_METRIC.test(name))
}
