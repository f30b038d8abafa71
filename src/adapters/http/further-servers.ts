// Where a name stands for several addresses, as `localhost` does, Fastify has a server for each. It closes them all, and waits
// for the first alone: the others are waited for here.
import type { Server } from 'node:net'

interface FastifyLike {
  readonly server?: unknown
  addHook(name: any, hook: any): unknown
}

/** By instance: servers other than `app.server` that requests came by. */
const furtherServers = new WeakMap<FastifyLike, Set<Server>>()

/** While hooks may be added. What is returned waits, once `app.server` has closed, until the others have. */
export function watchFurtherServers(app: FastifyLike): () => Promise<void> {
  const servers = furtherServers.get(app) ?? watch(app)
  return async () => {
    for (const server of servers) {
      // One that listens still is none of Fastify's, but the program's own.
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
