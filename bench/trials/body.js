// Sends large JSON bodies beside small requests. Measures the latency of the small requests, the delay of the event
// loop, and the rate of the large requests. Server and load come from examples/body. This process sends the load.
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
