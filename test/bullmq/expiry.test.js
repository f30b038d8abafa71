// Finished jobs that nobody fetches, and the clocks of a host and its server.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

for (const engine of engines) {
  describe(`finished jobs of ${engine.name}`, { skip: engine.skip }, () => {
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

    async function openQueue() {
      const name = `finished-${++lastName}`
      const { connection } = server.options
      const isPostgres = engine.name === 'postgres'
      const queue = new bullmq.Queue(
        name,
        { connection: isPostgres ? { connectionString: connection, migrate: true } : connection },
        isPostgres ? bullmq.createPostgresBackend : undefined,
      )
      queue.on('error', () => {})
      await queue.waitUntilReady()
      cleanups.push(() => queue.close())
      const openHost = async options => {
        const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1 })
        const host = serve(name, pool, { ...server.options, ...options })
        host.on('error', () => {})
        await host.ready()
        // A destroyed pool ends the jobs that never end.
        cleanups.push(async () => {
          await pool.destroy()
          await host.close()
        })
        return host
      }
      return { queue, openHost }
    }

    async function until(condition) {
      while (!(await condition())) await sleep(20)
    }

    const isGone = async (queue, { id }) => (await queue.getJob(id)) === undefined
    const isFinished = async job => ['completed', 'failed'].includes(await job.getState())

    test('a host removes its finished jobs when their age has passed, although no other job finishes', async () => {
      const { queue, openHost } = await openQueue()
      await openHost({ worker: { removeOnComplete: { age: 1 } } })
      const keep = { removeOnComplete: false, removeOnFail: false }
      const age = { removeOnComplete: { age: 1 }, removeOnFail: { age: 1 } }
      const kept = [await queue.add('double', 1, keep), await queue.add('throws', {}, keep)]
      const removed = [
        await queue.add('double', 1, age),
        await queue.add('throws', {}, age),
        await queue.add('double', 1),
      ]
      for (const job of removed) await until(() => isGone(queue, job))
      for (const job of kept) assert.ok(await isFinished(job))
    })

    test('a host that starts finds the expired jobs of other hosts, and keeps the rest', async () => {
      const { queue, openHost } = await openQueue()
      const first = await openHost()
      const add = (name, opts) => queue.add(name, 1, opts)
      const kept = [
        await add('double', {}),
        await add('double', { removeOnComplete: { age: 3600 } }),
        await add('throws', { removeOnFail: 1000 }),
      ]
      const old = []
      for (let index = 0; index < 3; index++) {
        old.push(await add('double', { removeOnComplete: { age: 2 } }))
        old.push(await add('throws', { removeOnFail: { age: 2 } }))
      }
      for (const job of [...kept, ...old]) await until(() => isFinished(job))
      await first.close()
      await sleep(2100)
      assert.equal(await isGone(queue, old[0]), false)
      await openHost()
      for (const job of old) await until(() => isGone(queue, job))
      for (const job of kept) assert.ok(await isFinished(job))
    })

    test('a job that runs again after its end stays', async () => {
      const { queue, openHost } = await openQueue()
      await openHost()
      const job = await queue.add('failsOnce', `again-${lastName}`, { removeOnFail: { age: 1 } })
      await until(() => job.isFailed())
      await (await queue.getJob(job.id)).retry()
      const other = await queue.add('double', 1, { removeOnComplete: { age: 2 } })
      await until(() => isGone(queue, other))
      assert.equal(await job.getState(), 'completed')
    })
  })
}
