// The load on the server of P13, in a process of its own so that it takes nothing from the server's event loop.
import { once } from 'node:events'
import { fire } from '../examples/shared/load.js'

const [{ url, ...load }] = await once(process, 'message')
process.on('disconnect', () => process.exit())

const { perSecond, latencyMs, failures } = await fire(url, load)
process.send({
  requestsPerSecond: perSecond,
  latencyMsP50: latencyMs.p50,
  latencyMsP99: latencyMs.p99,
  failures,
})
