// The load of the trial `body`: small requests and large bodies, in a process of its own; it is that of examples/body.
import { once } from 'node:events'
import { fireBodies, makeOrders } from '../examples/body/load.js'

const [{ bytes, ...plan }] = await once(process, 'message')
process.on('disconnect', () => process.exit())

const { latencyMs, large, failures } = await fireBodies({ ...plan, orders: makeOrders(bytes) })
process.send({
  smallMsP99: latencyMs.p99,
  largePerSecond: large.perSecond,
  largeMsP50: large.latencyMs.p50,
  failures,
})
