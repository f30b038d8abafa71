// Sends the requests of bar P13 from a separate process, so that they do not use the server's event loop.
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
