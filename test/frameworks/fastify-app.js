// A Fastify server for one test, closed when the test ends.
import Fastify from 'fastify'
import fastifyPool from 'lido/fastify'
import { work } from './held.js'

// A handler of a cancelled task has unlimited time to report the cancellation.
export const oneWorker = { filename: work, minWorkers: 1, maxWorkers: 1, cancelGrace: Infinity }

/** Opens an app that does not listen. `routes` are added after the pool. */
export async function openApp(t, options = oneWorker, routes = () => {}, server = {}) {
  const app = Fastify(server)
  t.after(async () => {
    if (app.pools) for (const name in app.pools) await app.pools[name].destroy()
    await app.close()
  })
  if (options !== null) app.register(fastifyPool, options)
  app.register(async scope => routes(scope))
  await app.ready()
  return app
}

/** Opens an app that listens. Returns it with its port and URL. */
export async function serveApp(t, options, routes, server) {
  const app = await openApp(t, options, routes, { forceCloseConnections: true, ...server })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, port: app.server.address().port, url: `http://127.0.0.1:${app.server.address().port}` }
}
