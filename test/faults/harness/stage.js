// What a scenario is given: pools of one kind, the facts of their tasks, and what it may ask of the machine. Its ways are
// its own, so that a scenario takes those it needs.
import { readFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { until, within } from './expect.js'
import { Facts } from './facts.js'
import { PoolUnderTest } from './pool-under-test.js'
import { startSubject } from './subject.js'
import { Skipped, Unsupported } from './verdicts.js'

export function createStage({ adapter, poolName, backend, fault, folder, workers }) {
  let pools = []
  const has = feature => adapter.features.has(feature)
  return {
    backend,
    poolName,
    workers,
    facts: new Facts(folder),
    has,

    needs(feature) {
      if (!has(feature)) throw new Unsupported(`it has no ${feature}`)
    },

    needsMemory(gibibytes) {
      const free = freeMemory() / 2 ** 30
      if (free < gibibytes) throw new Skipped(`needs ${gibibytes} GiB of free memory, has ${free.toFixed(1)}`)
    },

    /** An inline worker is nothing that could be seen from outside. */
    async aWorkerStarts() {
      if (backend !== 'inline') await until(() => workers.started > 0, 'no worker was started')
    },

    /** Options in the words of the harness; the adapter has its pool's. */
    open(options = {}) {
      const pool = new PoolUnderTest(adapter, { backend, ...options })
      // Drops destroyed pools, or their memory would count as a leak.
      pools = [...pools.filter(({ isDestroyed }) => !isDestroyed), pool]
      return pool
    },

    /** `options`: `nodeArguments`, `environment`. */
    startSubject: options => startSubject({ poolName, backend, fault }, options),

    /** After the verdict, so nobody is judged by it. */
    async leave() {
      const ends = pools.filter(({ isDestroyed }) => !isDestroyed).map(pool => pool.destroy().done)
      await within(Promise.all(ends), 'the end', 500).catch(() => {})
    },
  }
}

function freeMemory() {
  try {
    return 1024 * Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1])
  } catch {
    return freemem()
  }
}
