// Large JSON bodies beside small requests: how long the small ones wait, how late the event loop runs, and how many large
// ones are answered. Server and load are those of examples/body; this process is the load's.
import { strictEqual } from 'node:assert/strict'
import { loadBodies, makeOrders } from '../../examples/body/load.js'
import { ways } from '../ways.js'

export async function takeTurn({ poolName }, { maxWorkers, bytes, ...load }) {
  const orders = makeOrders(bytes)
  const figures = await loadBodies(ways[poolName], maxWorkers, { ...load, orders })
  const { latencyMs, loopDelayMs, large, failures } = figures
  strictEqual(failures, 0, `${failures} requests failed`)
  return {
    smallMsP99: latencyMs.p99,
    loopDelayMsMax: loopDelayMs.max,
    largePerSecond: large.perSecond,
    largeMsP50: large.latencyMs.p50,
  }
}
