// Fastify starts one server for each address of a name such as `localhost`. It closes all of them but waits only for
// the first. This file waits for the others.
import type { Server } from 'node:net'

interface FastifyLike {
  readonly server?: unknown
  addHook(name: any, hook: any): unknown
}

/** For each instance: the servers besides `app.server` that received requests. */
const furtherServers = new WeakMap<FastifyLike, Set<Server>>()

/**
 * Call it while hooks can still be added. Returns a function to call after `app.server` has closed. It waits until the
 * other servers have closed.
 */
export function watchFurtherServers(app: FastifyLike): () => Promise<void> {
  const servers = furtherServers.get(app) ?? watch(app)
  return async () => {
    for (const server of servers) {
      // A server that still listens belongs to the program, not to Fastify.
      if (!server.listening) await new Promise(closed => server.close(closed))
    }
  }
}

function watch(app: FastifyLike): Set<Server> {
  const servers = new Set<Server>()
  furtherServers.set(app, servers)
  app.addHook('onRequest', (request: any, _reply: unknown, done: () => void) => {
    const server: Server | undefined = request.raw.socket?.server
    if (server !== undefined && server !== app.server) servers.add(server)
    done()
  })
  return servers
}
