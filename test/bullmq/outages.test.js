// Outages of the queue's server: connections that die silently, and writes of results that the server refuses for a while.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'
import { startProgram } from '../helpers/program.js'
import { startProxy } from '../helpers/proxy.js'

const redisFaults = [
  ['while the server is read-only', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one']],
  [
    'while the server is out of memory',
    ['config', 'set', 'maxmemory', '1'],
    ['config', 'set', 'maxmemory', '0'],
  ],
  ['after the server closed all connections', ['client', 'kill', 'type', 'normal'], ['ping']],
].map(([title, first, last]) => {
  const send = async (server, [name, ...parameters]) => {
    const { Redis } = await import('ioredis')
    const client = new Redis(server.options.connection)
    await client.call(name, ...parameters)
    client.disconnect()
  }
  return { title, start: server => send(server, first), stop: server => send(server, last) }
})

const reload = 'SELECT pg_reload_conf()'
const postgresFaults = [
  [
    'while the server is read-only',
    ['ALTER SYSTEM SET default_transaction_read_only = on', reload],
    ['ALTER SYSTEM RESET default_transaction_read_only', reload],
  ],
  [
    'after the server ended all connections',
    [
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    ],
    [],
  ],
].map(([title, first, last]) => {
  const send = async (server, texts) => {
    const { default: pg } = await import('pg')
    const client = new pg.Client(server.options.connection)
    await client.connect()
    await client.query('SET default_transaction_read_only = off')
    for (const text of texts) await client.query(text)
    await client.end()
  }
  return { title, start: server => send(server, first), stop: server => send(server, last) }
})

const faults = { postgres: postgresFaults, redis: redisFaults, valkey: redisFaults }

for (const engine of engines) {
  describe(`outages of ${engine.name}`, { skip: engine.skip }, () => {
    let server
    let lastName = 0
    const cleanups = []

    before(async () => {
      server = await engine.start()
    })
    after(async () => {
      for (const cleanup of cleanups.reverse()) await cleanup()
      await server.stop()
    })

    function open(options) {
      const name = `outages-${++lastName}`
      const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1 })
      const host = serve(name, pool, options)
      const remote = new RemotePool(name, options)
      const problems = []
      host.on('error', error => problems.push(error))
      remote.on('error', error => problems.push(error))
      cleanups.push(async () => {
        await Promise.all([remote.destroy(), host.close()])
        await pool.close()
      })
      return { host, remote, problems }
    }

    test('calls go on after a router forgot all connections, and health() says disconnected until then', async () => {
      const { connection } = server.options
      const isText = typeof connection === 'string'
      const proxy = await startProxy(isText ? new URL(connection).port : connection.port)
      cleanups.push(() => proxy.close())
      const through = isText
        ? {
            connectionString: Object.assign(new URL(connection), { port: proxy.port }).href,
            query_timeout: 3000,
          }
        : { ...connection, port: proxy.port }
      const { host, remote } = open({ ...server.options, connection: through })
      assert.equal(await remote.run(1, { name: 'echo' }), 1)
      assert.equal((await host.health()).status, 'ok')
      const forgottenAt = Date.now()
      proxy.forget()
      const { status, lastHeard } = await host.health()
      assert.equal(status, 'disconnected')
      assert.ok(lastHeard.at <= forgottenAt + 1000)
      assert.deepEqual(await Promise.all([2, 3].map(value => remote.run(value, { name: 'echo' }))), [2, 3])
      while ((await host.health()).status !== 'ok') await sleep(50)
    })

    test('a program ends after close() while the server does not answer', async () => {
      const proxy = await startProxy(server.port)
      cleanups.push(() => proxy.close())
      const options = { ...server.optionsAt(proxy.port), closeTimeout: 100 }
      const { child, ended } = startProgram(`
        import { once } from 'node:events'
        import { RemotePool, serve } from '${import.meta.resolve('lido/bullmq')}'
        const { closeTimeout, ...server } = ${JSON.stringify(options)}
        const pool = new Pool({ filename: ${JSON.stringify(String(handler('jobs.js')))}, maxWorkers: 1 })
        const host = serve('ends', pool, { ...server, closeTimeout })
        const remote = new RemotePool('ends', server)
        for (const part of [host, remote]) part.on('error', () => {})
        console.log(await remote.run(1, { name: 'echo' }))
        await once(process.stdin, 'data')
        await Promise.all([host.close(), remote.close()])
        await pool.close()
        process.stdin.destroy()
      `)
      await once(child.stdout, 'data')
      proxy.hold()
      child.stdin.write('close')
      const { exitCode, errors } = await ended
      assert.equal(exitCode, 0, errors)
    })

    for (const { title, start, stop } of faults[engine.name]) {
      test(`a job that succeeds resolves its call ${title}`, async () => {
        const { host, remote } = open(server.options)
        await host.ready()
        await remote.run(0, { name: 'echo' })
        const calls = Array.from({ length: 4 }, (_, index) => remote.run(300 + index, { name: 'computes' }))
        while (host.stats().active === 0) await sleep(5)
        await start(server)
        // Longer than two jobs, so that the host writes results during the outage.
        await sleep(1000)
        await stop(server)
        assert.deepEqual(await Promise.all(calls), [300, 301, 302, 303])
        assert.equal((await remote.counts()).failed, 0)
      })
    }
  })
}
