// A Fastify server in a child process of load.js, with one page and /health, on a free port of 127.0.0.1. It measures the event
// loop of this process while the load lasts.
import Fastify from 'fastify'
import { EventLoopDelay } from './event-loop-delay.js'
import { answerParent, tellParent } from './parent.js'
import { atWorkPercent } from './worth.js'

// `pool`: the pool that runs the requests, if any. The figures of its only handler go into the report.
// `prepare` gets the server before the page is added.
export async function serve(answer, pool = null, prepare = () => {}) {
  const app = Fastify({ forceCloseConnections: true })
  const delay = new EventLoopDelay()
  await prepare(app)
  app.get('/', answer)
  app.get('/health', () => ({ isUp: true }))
  answerParent({
    async measure() {
      await delay.start()
      return { kind: 'measuring' }
    },
    async report() {
      return { kind: 'measured', loopDelayMs: await delay.stop(), atWorkPercent: atWorkPercent(pool) }
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  tellParent({ kind: 'listening', port: app.server.address().port })
}
