// Jobs that a host cannot run wait for a host that can.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { processor, RemotePool, serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

for (const engine of engines) {
  describe(`jobs for other hosts with ${engine.name}`, { skip: engine.skip }, () => {
    let server
    let lastName = 0
    const cleanups = []

    before(async () => {
      server = await engine.start()
    })
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })
    after(() => server.stop())

    const nextName = () => `give-back-${++lastName}`

    function openPool(options) {
      const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1, ...options })
      pool.on('error', () => {})
      cleanups.push(() => pool.destroy())
      return pool
    }

    /** A host and its events, as arrays by name. */
    async function openHost(name, options, poolOptions) {
      const pool = openPool(poolOptions)
      const host = serve(name, pool, { ...server.options, ...options })
      cleanups.push(() => host.close())
      const told = { completed: [], failed: [], 'given-back': [], error: [] }
      for (const event of Object.keys(told)) host.on(event, facts => told[event].push(facts))
      await host.ready()
      return { host, pool, told }
    }

    function openRemote(name, options) {
      const remote = new RemotePool(name, { ...server.options, ...options })
      remote.on('error', () => {})
      cleanups.push(() => remote.destroy())
      return remote
    }

    async function openQueue(name) {
      const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
      const { connection } = server.options
      const base = {
        connection: engine.name === 'postgres' ? { connectionString: connection, migrate: true } : connection,
      }
      const queue = new bullmq.Queue(name, base, factory)
      await queue.waitUntilReady()
      cleanups.push(() => queue.close())
      const makeWorker = (process, options) => {
        const worker = new bullmq.Worker(name, process, { ...base, ...options }, factory)
        cleanups.push(() => worker.close())
        return worker
      }
      return { queue, makeWorker }
    }

    /** A busy machine may also overload a host. */
    const refusals = told => told['given-back'].filter(({ reason }) => reason !== 'overload')
    const old = { filename: handler('jobs-old.js') }
    const broken = { filename: handler('gone.js'), minWorkers: 0 }

    test('queueTimeout and a forced close end a call whose job no host can run', async () => {
      const name = nextName()
      const { host } = await openHost(name, {}, old)
      const remote = openRemote(name)
      const forced = new RemotePool(name, server.options)
      const late = remote.run(1, { name: 'slowly', queueTimeout: 300 })
      const withdrawn = forced.run(2, { name: 'slowly' })
      withdrawn.catch(() => {})
      await assert.rejects(late, { code: 'ERR_LIDO_TASK_TIMEOUT', limit: 'queueTimeout' })
      while (host.stats().givenBack < 2) await sleep(5)
      await forced.close({ force: true })
      await assert.rejects(withdrawn, { code: 'ERR_LIDO_POOL_CLOSED' })
    })

    test('hosts that cannot run a job leave it to the host that can', async () => {
      const name = nextName()
      const faults = [
        ['no handler', {}, old],
        ['no handler', { handlers: ['echo'] }, {}],
        ['host fault', {}, broken],
        ['host fault', {}, { ...broken, restart: { failures: 1, pause: Infinity } }],
      ]
      const refusing = await Promise.all(faults.map(([, ...options]) => openHost(name, ...options)))
      const remote = openRemote(name)
      const calls = Array.from({ length: 12 }, (_, index) => remote.run(index, { name: 'slowly' }))
      // Each host refuses a job before the right host comes.
      for (const { host } of refusing) while (host.stats().givenBack === 0) await sleep(5)
      await openHost(name, {}, {})
      assert.deepEqual(await Promise.all(calls), [...calls.keys()])
      for (const [index, { host, told }] of refusing.entries()) {
        assert.deepEqual([told.failed, told.completed, host.stats().failed], [[], [], 0])
        for (const given of refusals(told)) {
          assert.equal(given.reason, faults[index][0])
          assert.deepEqual([given.name, given.attempt], ['slowly', 1])
          assert.ok(given.error instanceof Error && given.delayMs > 0)
        }
        const ids = refusals(told).map(({ id }) => id)
        assert.equal(new Set(ids).size, ids.length, 'told twice')
      }
    })

    test('a refused job uses up no attempt, and fails with its error after giveBackTimeout', async () => {
      const name = nextName()
      const { told, host } = await openHost(name, { giveBackTimeout: 600 }, old)
      const remote = openRemote(name, { attempts: 3 })
      await assert.rejects(remote.run(1, { name: 'double' }), {
        code: 'ERR_LIDO_WORKER_START',
        stage: 'handler',
        message: /No function named 'double'.* gave the job back for 1 s/,
      })
      assert.ok(host.stats().givenBack > 1)
      // The host may hear of the failed job after the caller.
      while (told.failed.length === 0) await sleep(5)
      assert.deepEqual(
        refusals(told).map(given => given.reason),
        ['no handler'],
      )
      assert.deepEqual(
        told.failed.map(({ attempt, error }) => [attempt, error.code]),
        [[1, 'ERR_LIDO_WORKER_START']],
      )
    })

    test('hosts with different handlers share a queue, and each job ends on the right host', async () => {
      const name = nextName()
      const [first, second] = await Promise.all([
        openHost(name, { handlers: ['double'] }),
        openHost(name, { handlers: ['echo', 'add'] }),
      ])
      const remote = openRemote(name)
      const { queue } = await openQueue(name)
      const jobs = []
      const calls = []
      for (let index = 0; index < 20; index++) {
        calls.push(remote.run(index, { name: index % 2 ? 'double' : 'echo' }))
        jobs.push(await queue.add(index % 3 ? 'echo' : 'double', index))
      }
      assert.deepEqual(
        await Promise.all(calls),
        Array.from({ length: 20 }, (_, index) => (index % 2 ? index * 2 : index)),
      )
      for (const [index, job] of jobs.entries()) {
        const done = await finished(queue, job)
        assert.equal(done.returnvalue, index % 3 ? index : index * 2)
      }
      const names = ({ told }) => new Set(told.completed.map(job => job.name))
      assert.deepEqual([names(first), names(second)], [new Set(['double']), new Set(['echo'])])
      assert.deepEqual([first.told.failed, second.told.failed], [[], []])
    })

    test("a processor in BullMQ's worker gives back what it cannot run", async () => {
      const name = nextName()
      const { queue, makeWorker } = await openQueue(name)
      const refusing = processor(openPool(), { handlers: ['echo'] })
      let refused = 0
      const worker = makeWorker(async (job, token, signal) => {
        try {
          return await refusing(job, token, signal)
        } catch (error) {
          refused++
          throw error
        }
      })
      const warned = once(process, 'warning')
      const job = await queue.add('double', 21, { attempts: 1 })
      const [warning] = await warned
      assert.match(warning.message, /gave back the job 'double'.*'handlers' has only echo/)
      assert.equal(warning.code, 'LIDO_QUEUE_HOST')
      while (refused < 2) await once(worker, 'active')
      await openHost(name, {}, {})
      const done = await finished(queue, job)
      assert.deepEqual([done.returnvalue, done.attemptsMade], [42, 1])
    })

    test('a job of another format waits, and a malformed job fails at once', async () => {
      const name = nextName()
      const { told, host } = await openHost(name)
      const { queue } = await openQueue(name)
      const newer = await queue.add('echo', 1, { lido: { format: 99 } })
      const malformed = await queue.add('echo', 1, { lido: { format: 'none' }, attempts: 3 })
      const failed = await finished(queue, malformed)
      assert.equal(failed.attemptsMade, 1)
      while (told.failed.length === 0) await sleep(5)
      assert.equal(told.failed[0].id, malformed.id)
      while (host.stats().givenBack < 2) await sleep(5)
      assert.deepEqual(
        refusals(told).map(({ id, reason, error }) => [id, reason, error.code]),
        [[newer.id, 'format', 'ERR_LIDO_JOB_FORMAT']],
      )
      assert.equal((await queue.getJob(newer.id)).attemptsMade, 0)
      await newer.remove().catch(() => {})
    })

    /** The finished job. */
    async function finished(queue, { id }) {
      for (;;) {
        const job = await queue.getJob(id)
        if (job.finishedOn !== undefined) return job
        await sleep(10)
      }
    }
  })
}
