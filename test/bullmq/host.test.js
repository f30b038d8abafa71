// The hosts of lido/bullmq: processor() and serve(), used by plain clients of BullMQ.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { serialize } from 'node:v8'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { processor, serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

/** What a RemotePool adds to the options of its jobs. */
const terms = { format: 1 }

for (const engine of engines) {
  describe(`jobs of ${engine.name}`, { skip: engine.skip }, () => {
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

    /** A queue of its own for each test, with BullMQ's own classes. */
    async function openQueue() {
      const name = `jobs-${++lastName}`
      const { connection } = server.options
      const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
      const classArguments = [name, { connection: withMigration(engine, connection) }, factory]
      const queue = new bullmq.Queue(...classArguments)
      const events = new bullmq.QueueEvents(...classArguments)
      await Promise.all([queue.waitUntilReady(), events.waitUntilReady()])
      cleanups.push(() => Promise.all([queue.close(), events.close()]))
      return {
        name,
        queue,
        events,
        makeWorker: (process, options) => {
          const worker = new bullmq.Worker(name, process, { ...classArguments[1], ...options }, factory)
          cleanups.push(() => worker.close())
          return worker
        },
        /** The finished job. An event may be lost, so its state is read again. */
        async finished(job) {
          for (;;) {
            const state = await job.getState()
            if (state === 'completed' || state === 'failed') return await queue.getJob(job.id)
            await sleep(10)
          }
        },
      }
    }

    function openPool(options) {
      const pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 2, ...options })
      cleanups.push(() => pool.destroy())
      return pool
    }

    async function openHost(options, poolOptions) {
      const opened = await openQueue()
      const pool = openPool(poolOptions)
      const host = serve(opened.name, pool, { ...server.options, ...options })
      const problems = []
      host.on('error', error => problems.push(error))
      await host.ready()
      cleanups.push(() => host.close())
      return { ...opened, pool, host, problems }
    }

    test('the name of a job chooses the handler, and its data is the payload', async () => {
      const { queue, finished } = await openHost()
      const job = await finished(await queue.add('double', 21))
      assert.equal(job.returnvalue, 42)
    })

    test('a host gives the arguments of a job to the function, and keeps a Map exactly', async () => {
      const { queue, finished } = await openHost()
      const sum = await finished(await queue.add('add', [1, 2], { lido: { ...terms, args: true } }))
      assert.equal(sum.returnvalue, 3)
      const map = await finished(await queue.add('firstDay', 1, { lido: terms }))
      assert.equal(map.returnvalue.$lido, 1)
    })

    test('a failing item of a job does not fail its other items', async () => {
      const { queue, finished } = await openHost()
      const job = await finished(await queue.add('oddOnly', [1, 2, 3], { lido: { ...terms, items: true } }))
      const [first, second, third] = job.returnvalue
      assert.deepEqual([first, third], [{ value: 1 }, { value: 3 }])
      assert.ok('error' in second)
    })

    test('a handler reads its job, writes to its log and reports progress', async () => {
      const { queue, finished } = await openHost()
      const job = await finished(await queue.add('tells', 1))
      assert.deepEqual(job.returnvalue, { id: job.id, name: 'tells', attempt: 1 })
      assert.equal(job.progress, 100)
      assert.deepEqual((await queue.getJobLogs(job.id)).logs, ['a line'])
    })

    test("a handler's error fails the attempt, and the next attempt may succeed", async () => {
      const { queue, finished } = await openHost()
      const job = await finished(await queue.add('secondAttempt', 1, { attempts: 2 }))
      assert.equal(job.returnvalue, 2)
      const failed = await finished(await queue.add('throws', { code: 'E_FAR' }, { attempts: 2 }))
      assert.equal(failed.failedReason, 'too far')
      assert.equal(failed.attemptsMade, 2)
    })

    test('an error that every attempt would meet fails the job at once', async () => {
      const { queue, finished } = await openHost({ giveBackTimeout: 0 })
      const jobs = [
        ['unsendable', 1, {}, /cannot be sent/],
        ['missing', 1, {}, /No function named 'missing'/],
        ['double', 1, { lido: { format: 99 } }, /has format 99/],
        ['echo', 'x'.repeat(2_000_000), { lido: terms }, /more than maxValueBytes/],
        ['setup', 1, {}, /cannot call 'setup'/],
        ['teardown', [1], { lido: { ...terms, items: true } }, /cannot call 'teardown'/],
      ]
      for (const [name, data, options, message] of jobs) {
        const job = await finished(await queue.add(name, data, { attempts: 3, ...options }))
        assert.match(job.failedReason, message)
        assert.equal(job.attemptsMade, 1)
      }
    })

    test('a host decodes only data that a RemotePool encoded', async () => {
      const { queue, finished } = await openHost()
      const encoded = Buffer.from(serialize({ value: 'decoded' })).toString('base64')
      const lookalikes = [
        { $lido: 1, bytes: { length: 1e9 } },
        { $lido: 1, bytes: [1e9] },
        { $lido: 1, bytes: encoded },
        { $lido: 2, bytes: encoded },
      ]
      for (const data of lookalikes) {
        const job = await finished(await queue.add('echo', data))
        assert.deepEqual(job.returnvalue, data)
      }
      const decoded = await finished(await queue.add('echo', lookalikes[2], { lido: terms }))
      assert.equal(decoded.returnvalue, 'decoded')
    })

    test('a host refuses data of a RemotePool that it cannot decode', async () => {
      const { queue, finished } = await openHost({ maxValueBytes: 1000, giveBackTimeout: 0 })
      const envelope = bytes => ({ $lido: 1, bytes })
      const large = serialize({ value: 'x'.repeat(1000) }).toString('base64')
      for (const [data, more, message] of [
        [envelope({ length: 1e9 }), {}, /payload that lido did not write/],
        [envelope('no bytes of the serialiser'), {}, /payload that lido did not write/],
        [envelope(serialize('no message').toString('base64')), {}, /payload that lido did not write/],
        [envelope(large), {}, /more than maxValueBytes/],
        [{ $lido: 99, bytes: '' }, {}, /payload of format 99/],
        [{ length: 1e9 }, { args: true }, /no array of arguments/],
        [{ length: 1e9 }, { items: true }, /no array of items/],
      ]) {
        const job = await finished(
          await queue.add('echo', data, { attempts: 3, lido: { ...terms, ...more } }),
        )
        assert.match(job.failedReason, message)
        assert.equal(job.attemptsMade, 1)
      }
      const items = [1, envelope({ length: 1e9 })]
      const job = await finished(await queue.add('echo', items, { lido: { ...terms, items: true } }))
      assert.deepEqual(job.returnvalue[0], { value: 1 })
      assert.equal(job.returnvalue[1].isFinal, true)
    })

    test('a job that kills its worker uses up its attempts, and other jobs succeed', async () => {
      const { queue, finished } = await openHost()
      const deadly = await queue.add('dies', 1, { attempts: 2 })
      const others = await queue.addBulk([1, 2, 3].map(data => ({ name: 'double', data })))
      const failed = await finished(deadly)
      assert.match(failed.failedReason, /exited with code 3/)
      assert.equal(failed.attemptsMade, 2)
      for (const other of others) assert.equal((await finished(other)).returnvalue, other.data * 2)
    })

    test('a full pool gives a job back without counting an attempt', async () => {
      const { queue, finished, makeWorker } = await openQueue()
      const pool = openPool({ maxWorkers: 1, maxQueue: 0 })
      makeWorker(processor(pool), { concurrency: 3 })
      const jobs = await queue.addBulk([1, 2, 3].map(() => ({ name: 'computes', data: 50 })))
      for (const job of jobs) {
        const { returnvalue, attemptsMade } = await finished(job)
        assert.deepEqual([returnvalue, attemptsMade], [50, 1])
      }
    })

    test('a closed pool gives a job back, and another host finishes it', async () => {
      const { queue, finished, makeWorker, name } = await openQueue()
      const closed = openPool()
      await closed.close()
      const worker = makeWorker(processor(closed))
      const job = await queue.add('double', 4)
      await once(worker, 'active')
      const host = serve(name, openPool(), server.options)
      cleanups.push(() => host.close())
      assert.equal((await finished(job)).returnvalue, 8)
    })

    test('a closing host finishes its jobs within closeTimeout', async () => {
      const { queue, host, finished } = await openHost()
      const job = await queue.add('computes', 100)
      while (host.stats().active === 0) await sleep(1)
      assert.deepEqual(await host.close(), { givenBack: 0 })
      assert.equal((await finished(job)).returnvalue, 100)
    })

    test('a closing host gives back a job that does not finish, without counting an attempt', async () => {
      const { queue, host } = await openHost({ closeTimeout: 20 }, { cancelGrace: 0 })
      const job = await queue.add('waits', 1)
      while (host.stats().active === 0) await sleep(1)
      assert.deepEqual(await host.close(), { givenBack: 1 })
      assert.equal(await job.getState(), 'waiting')
      assert.equal((await queue.getJob(job.id)).attemptsMade, 0)
    })

    test('a computing job that is longer than its lock never stalls', async () => {
      const { queue, events, finished, problems } = await openHost({ lockDuration: 400 })
      const stalled = []
      events.on('stalled', ({ jobId }) => stalled.push(jobId))
      const jobs = await queue.addBulk([1, 2, 3, 4].map(() => ({ name: 'computes', data: 800 })))
      for (const job of jobs) assert.equal((await finished(job)).returnvalue, 800)
      assert.deepEqual([stalled, problems], [[], []])
    })

    test('a sandboxed processor of BullMQ runs unchanged', async () => {
      const { queue, finished, makeWorker } = await openQueue()
      const pool = openPool({ filename: handler('sandboxed.js') })
      makeWorker(processor(pool, { sandbox: true }))
      const job = await finished(await queue.add('any name', { a: 1 }))
      assert.deepEqual(job.returnvalue, {
        name: 'any name',
        data: { a: 1, more: 1 },
        progress: 10,
        children: {},
        hasToken: true,
        isAborted: false,
      })
      assert.deepEqual(job.data, { a: 1, more: 1 })
      assert.deepEqual((await queue.getJobLogs(job.id)).logs, ['a line'])
    })

    test('the concurrency of a host follows the size of its pool', async () => {
      const { host, pool } = await openHost({ prefetch: 1 })
      assert.equal(host.stats().concurrency, 3)
      pool.resize({ maxWorkers: 4 })
      while (host.stats().concurrency !== 5) await sleep(10)
    })

    test('an overloaded host takes no jobs', async () => {
      const { queue, host } = await openHost({ maxMemoryMb: 1 })
      while (host.stats().overload === null) await sleep(10)
      await queue.add('double', 1)
      while ((await host.health()).waiting !== 1) await sleep(10)
      assert.equal((await host.health()).status, 'overloaded')
      assert.equal(host.stats().completed, 0)
    })

    test('a probe learns that a host is well, then that it is closing', async () => {
      const { host } = await openHost()
      const { status, waiting, lastHeard } = await host.health()
      assert.deepEqual([status, waiting, typeof lastHeard.at], ['ok', 0, 'number'])
      const closed = host.close()
      assert.equal((await host.health()).status, 'closing')
      await closed
      assert.equal(host.stats().state, 'closed')
    })
  })
}

/** A test's own connections create the tables as well. */
function withMigration({ name }, connection) {
  return name === 'postgres' ? { connectionString: connection, migrate: true } : connection
}

describe('the options of hosts', () => {
  const pool = new Pool({ filename: handler('jobs.js'), minWorkers: 0 })
  after(() => pool.close())

  for (const [title, options, message] of [
    [
      'an unknown engine',
      { engine: 'mysql', connection: {} },
      /'engine'.* must be 'postgres', 'redis', 'valkey'/,
    ],
    ['a missing connection', { engine: 'redis' }, /'connection'.* must be what BullMQ takes/],
    [
      'a migration of Redis',
      { engine: 'redis', connection: {}, migrate: true },
      /'migrate' is for PostgreSQL/,
    ],
    ['a concurrency', { engine: 'redis', connection: {}, concurrency: 3 }, /It follows the pool/],
    ['a misspelt option', { engine: 'redis', connection: {}, prefech: 3 }, /Did you mean 'prefetch'/],
  ]) {
    test(`serve() refuses ${title}`, () => {
      assert.throws(() => serve('jobs', pool, options), { code: 'ERR_LIDO_INVALID_OPTION', message })
    })
  }

  test('processor() refuses a value that is no pool', () => {
    assert.throws(() => processor({}), { code: 'ERR_LIDO_INVALID_OPTION', message: /must be a Pool/ })
  })
})
