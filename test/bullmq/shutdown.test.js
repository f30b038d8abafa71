// Which jobs a host holds, and when it gives them back: hosts that close, and short jobs behind long ones.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

for (const engine of engines) {
  describe(`jobs that hosts of ${engine.name} hold`, { skip: engine.skip }, () => {
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
      const name = `held-${++lastName}`
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
      const openHost = async (options, poolOptions) => {
        const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1, cancelGrace: 0, ...poolOptions })
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
      const finished = async job => {
        while (!(await job.isCompleted())) await sleep(10)
        return await queue.getJob(job.id)
      }
      return { queue, openHost, finished }
    }

    async function until(condition) {
      while (!(await condition())) await sleep(5)
    }

    test('a closing host gives back its waiting jobs before its running job has ended', async () => {
      const { queue, openHost, finished } = await openQueue()
      const closing = await openHost({ prefetch: 3, closeTimeout: 60_000 })
      await queue.add('waits', 1)
      await until(() => closing.stats().active === 1)
      const options = [{}, { priority: 5 }, { lifo: true }]
      const jobs = await Promise.all(options.map(given => queue.add('double', 4, given)))
      await until(() => closing.stats().active === 4)
      await openHost()
      const report = closing.close()
      for (const job of jobs) {
        const { returnvalue, attemptsMade, attemptsStarted } = await finished(job)
        assert.deepEqual([returnvalue, attemptsMade, attemptsStarted], [8, 1, 2])
      }
      assert.equal(closing.stats().active, 1)
      assert.ok((await Promise.race([report, sleep(1, 'open')])) === 'open')
    })

    test('a job that was given back comes before the jobs that were added later', async () => {
      for (const given of [{}, { priority: 3 }]) {
        const { queue, openHost } = await openQueue()
        const closing = await openHost({ closeTimeout: 0 })
        const first = await queue.add('waits', 1, given)
        await until(() => closing.stats().active === 1)
        await queue.addBulk([1, 2, 3].map(data => ({ name: 'double', data, opts: given })))
        assert.deepEqual(await closing.close(), { givenBack: 1 })
        const [next] = await queue.getJobs(given.priority ? ['prioritized'] : ['waiting'], 0, -1, true)
        assert.equal(next.id, first.id)
        assert.equal(next.attemptsMade, 0)
      }
    })

    test('an overloaded host gives back the jobs that wait on it', async () => {
      const { queue, openHost } = await openQueue()
      const host = await openHost({ prefetch: 1, maxEventLoopDelay: 100 })
      await queue.add('waits', 1)
      const job = await queue.add('double', 4)
      await until(() => host.stats().active === 2)
      await until(() => {
        const end = performance.now() + 400
        while (performance.now() < end);
        return host.stats().overload !== null
      })
      await until(() => host.stats().givenBack > 0)
      assert.equal((await queue.getJob(job.id)).attemptsMade, 0)
    })

    test('a host fetches ahead only while its jobs are short', async () => {
      const { queue, openHost, finished } = await openQueue()
      const host = await openHost()
      assert.equal(host.stats().concurrency, 1)
      await until(async () => {
        await finished(await queue.add('double', 1))
        return host.stats().concurrency === 2
      })
      await finished(await queue.add('computes', 500))
      assert.equal(host.stats().concurrency, 1)
    })

    test('a short job that waits behind a long one goes to another host', async () => {
      const { queue, openHost, finished } = await openQueue()
      const busy = await openHost()
      await until(async () => {
        await finished(await queue.add('double', 1))
        return busy.stats().concurrency === 2
      })
      const long = await queue.add('waits', 1)
      await until(() => busy.stats().active === 1)
      const short = await queue.add('double', 2)
      await until(() => busy.stats().givenBack === 1)
      assert.equal(busy.stats().concurrency, 1)
      await openHost()
      const { attemptsMade, returnvalue } = await finished(short)
      assert.deepEqual([attemptsMade, returnvalue], [1, 4])
      assert.equal(await long.getState(), 'active')
      // The busy host may have one fetch under way when it gives the job back.
      assert.ok(busy.stats().givenBack <= 2)
    })

    test('a job with many items leaves no job waiting on its host', async () => {
      const { queue, openHost, finished } = await openQueue()
      const busy = await openHost({}, { maxWorkers: 2 })
      const items = Array.from({ length: 4 }, () => 400)
      const many = await queue.add('computes', items, { lido: { format: 1, items: true } })
      await until(() => busy.stats().active === 1)
      const short = await queue.add('double', 2)
      await until(() => busy.stats().givenBack > 0)
      await openHost()
      assert.equal((await finished(short)).attemptsMade, 1)
      assert.equal((await finished(many)).returnvalue.length, 4)
      assert.ok(busy.stats().givenBack <= 2)
    })
  })
}

describe('a host without a server', () => {
  test('a host closes at once while it connects, and a second close() returns the same promise', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const pool = new Pool({ filename: handler('jobs.js'), minWorkers: 0 })
    const { port } = silent.address()
    const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
    const host = serve('silent', pool, { engine: 'redis', connection })
    host.on('error', () => {})
    host.ready().catch(() => {})
    const closed = host.close()
    assert.equal(host.close(), closed)
    assert.deepEqual(await closed, { givenBack: 0 })
    await pool.close()
    silent.close()
  })
})
