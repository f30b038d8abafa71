// Callers and hosts together: RemotePool adds jobs, serve() runs them in processes of their own.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

const hostProgram = fileURLToPath(new URL('../fixtures/host-program.js', import.meta.url))

for (const engine of engines) {
  describe(`callers and hosts with ${engine.name}`, { skip: engine.skip }, () => {
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

    test('a host that starts before its server takes jobs later', async t => {
      if (server.restart === undefined) return t.skip('this server keeps no data')
      const name = `machines-${++lastName}`
      const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1 })
      let host
      await server.restart(async () => {
        host = serve(name, pool, server.options)
        host.on('error', () => {})
        await assert.rejects(host.ready())
        assert.deepEqual(await host.health(), { status: 'disconnected', waiting: null, lastHeard: null })
      })
      const remote = new RemotePool(name, server.options)
      remote.on('error', () => {})
      assert.equal(await remote.run(21, { name: 'double' }), 42)
      assert.equal((await host.health()).status, 'ok')
      await remote.close()
      await host.close()
      await pool.close()
    })

    test('map() tries a failed item again, and a job of another format fails when no host took it in time', async () => {
      const name = `machines-${++lastName}`
      const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1 })
      const host = serve(name, pool, { ...server.options, giveBackTimeout: 600 })
      const remote = new RemotePool(name, server.options)
      for (const part of [host, remote]) part.on('error', () => {})
      const results = remote.map([1, 2, 3], { name: 'failsOnce', attempts: 2, itemsPerJob: 3 })
      assert.deepEqual(await results.toArray(), [1, 2, 3])
      const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
      const queue = new bullmq.Queue(name, { connection: server.options.connection }, factory)
      const { id } = await queue.add('double', 1, { lido: { format: 99 } })
      await assert.rejects(remote.result(id), {
        code: 'ERR_LIDO_JOB_FORMAT',
        message: /has format 99.* gave the job back for 1 s/,
      })
      await Promise.all([queue.close(), remote.close(), host.close()])
      await pool.close()
    })

    test('no job is lost when a host is killed while it runs jobs', async () => {
      const name = `machines-${++lastName}`
      const startHost = async () => {
        const host = fork(hostProgram, [name, JSON.stringify({ ...server.options, lockDuration: 1000 })])
        cleanups.push(() => host.kill('SIGKILL'))
        await once(host, 'message')
        return host
      }
      const [first] = await Promise.all([startHost(), startHost()])
      const remote = new RemotePool(name, server.options)
      remote.on('error', () => {})
      cleanups.push(() => remote.destroy())
      const calls = Array.from({ length: 60 }, (_, index) => remote.run(index, { name: 'slowly' }))
      await calls[5]
      first.kill('SIGKILL')
      assert.deepEqual(
        await Promise.all(calls),
        Array.from({ length: 60 }, (_, index) => index),
      )
    })
  })
}
