// The connections of hosts and callers: which server they lead to, how many there are, and what the server is asked.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { engines, hasPostgres } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

const fakePool = { run() {}, room() {} }

for (const engine of engines) {
  describe(`connections to ${engine.name}`, { skip: engine.skip }, () => {
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

    test('BullMQ finds the host among its workers', async () => {
      const name = `connections-${++lastName}`
      const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1 })
      const host = serve(name, pool, server.options)
      await host.ready()
      const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
      const queue = new bullmq.Queue(name, { connection: server.options.connection }, factory)
      await queue.waitUntilReady()
      assert.equal((await queue.getWorkers()).length, 1)
      await Promise.all([queue.close(), host.close()])
      await pool.close()
    })

    if (engine.name === 'postgres') {
      test('a host has at most two connections, a RemotePool has one, and both close all', async () => {
        const name = `connections-${++lastName}`
        const { default: pg } = await import('pg')
        const observer = new pg.Client(server.options.connection)
        await observer.connect()
        cleanups.push(() => observer.end())
        const text =
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        const count = async () => (await observer.query(text)).rows[0].n
        const before = await count()
        const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 2 })
        const host = serve(name, pool, server.options)
        const remote = new RemotePool(name, server.options)
        await Promise.all(Array.from({ length: 200 }, (_, index) => remote.run(index, { name: 'echo' })))
        await host.health()
        assert.ok((await count()) - before <= 3)
        await Promise.all([remote.close(), host.close()])
        while ((await count()) > before) await sleep(10)
        const many = new RemotePool(name, { ...server.options, connections: 3 })
        const calls = Array.from({ length: 50 }, () => many.counts())
        await Promise.all(calls)
        assert.ok((await count()) - before <= 3)
        await many.close()
        await pool.close()
      })
    } else {
      test('a connection string leads to its server, its database and its user', async () => {
        const name = `connections-${++lastName}`
        const { host = '127.0.0.1', port, username, password } = server.options.connection
        const login = password === undefined ? '' : `${username ?? 'default'}:${password}@`
        const connection = `${engine.name}://${login}${host}:${port}/3`
        const remote = new RemotePool(name, { engine: engine.name, connection })
        const id = await remote.enqueue(1, { name: 'echo' })
        const queue = new bullmq.Queue(name, { connection: { ...server.options.connection, db: 3 } })
        assert.equal((await queue.getJob(id)).name, 'echo')
        await queue.obliterate({ force: true })
        await Promise.all([queue.close(), remote.close()])
      })
    }
  })
}

describe('the options of connections', () => {
  const secret = 'pa55word'
  for (const [title, options, message] of [
    ['a number', { engine: 'redis', connection: 6379 }, /'connection' .*must be .*got 6379/],
    ['an array', { engine: 'valkey', connection: ['localhost'] }, /'connection' .*must be/],
    ['an empty string', { engine: 'redis', connection: '' }, /'connection' is no connection string/],
    [
      'the string of another kind of server',
      { engine: 'redis', connection: `postgres://user:${secret}@host/db` },
      /'connection' is no connection string for the engine 'redis'/,
    ],
    [
      'connections of Redis',
      { engine: 'redis', connection: {}, connections: 2 },
      /'connections' is for PostgreSQL/,
    ],
    ['no connections', { engine: 'redis', connection: {}, connections: 0 }, /'connections'.* must be/],
  ]) {
    test(`RemotePool and serve() refuse ${title}`, () => {
      for (const make of [() => new RemotePool('q', options), () => serve('q', fakePool, options)]) {
        assert.throws(make, error => {
          assert.equal(error.code, 'ERR_LIDO_INVALID_OPTION')
          assert.match(error.message, message)
          assert.ok(!error.message.includes(secret))
          return true
        })
      }
    })
  }

  test('RemotePool refuses connections beside a pg.Pool', { skip: !hasPostgres }, () => {
    const connection = { connect() {}, query() {}, end() {} }
    assert.throws(() => new RemotePool('q', { engine: 'postgres', connection, connections: 2 }), {
      code: 'ERR_LIDO_INVALID_OPTION',
      message: /set 'max' of the pool/,
    })
  })
})
