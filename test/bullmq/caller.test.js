// What a RemotePool promises beside the results: order, counts, cancellation, shared ids, the clock, and the first connection.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bullmq from 'bullmq'
import { Pool, PoolClosedError } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { acceptsConnections, freePort } from '../../examples/machines/database.js'
import { engines } from '../helpers/engines.js'

const filename = new URL('../fixtures/remote-handlers.js', import.meta.url)
const coded = code => error => error.code === `ERR_LIDO_${code}` || assert.fail(error)
/** The query of the guide for an autoscaler with PostgreSQL. */
const autoscalerQuery = `
  SELECT count(*) FILTER (WHERE state = 'waiting') AS waiting,
    count(*) FILTER (WHERE state = 'active') AS running,
    coalesce(max(extract(epoch FROM now()) - greatest(added_at_ms, process_at_ms) / 1000.0)
      FILTER (WHERE state = 'waiting'), 0) AS oldest_seconds
  FROM bullmq.job WHERE queue = $1 AND state IN ('waiting', 'active')`
const until = async isTrue => {
  while (!(await isTrue())) await sleep(10)
}

for (const engine of engines) {
  describe(`the calls of a RemotePool on ${engine.name}`, { skip: engine.skip }, () => {
    let server
    let local
    let lastQueue = 0
    const cleanups = []

    const newQueue = () => `caller-${++lastQueue}`
    const newPool = (queue, options = {}) => {
      const pool = new RemotePool(queue, { ...server.options, ...options })
      pool.on('error', () => {})
      cleanups.push(() => pool.destroy())
      return pool
    }
    const newHost = queue => {
      const host = serve(queue, local, { ...server.options, prefetch: 0, closeTimeout: 0 })
      host.on('error', () => {})
      cleanups.push(() => host.close())
      return host
    }
    const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
    const newBullmq = (queue, Class = bullmq.Queue, ...more) => {
      const part = new Class(queue, ...more, { connection: server.options.connection }, factory)
      part.on('error', () => {})
      cleanups.push(() => part.close())
      return part
    }
    const autoscalerRow = async queue => {
      const { default: pg } = await import('pg')
      const client = new pg.Client(server.options.connection)
      await client.connect()
      const { rows } = await client.query(autoscalerQuery, [queue])
      await client.end()
      const [{ waiting, running, oldest_seconds: oldest }] = rows
      return [Number(waiting), Number(running), oldest > 0 && oldest < 60]
    }
    const waits = async (pool, count) => await until(async () => (await pool.counts()).waiting === count)

    before(async () => {
      server = await engine.start()
      local = new Pool({ filename, minWorkers: 0, maxWorkers: 2, cancelGrace: 0 })
    })
    after(async () => {
      await Promise.all(cleanups.map(cleanup => cleanup()))
      await local?.destroy()
      await server?.stop()
    })

    test('priorities order the jobs, and most jobs wait in the list that autoscalers read', async () => {
      const name = newQueue()
      const pool = newPool(name)
      for (const priority of [0, -5, -1, 0, 3, 9]) await pool.enqueue(priority, { priority })
      const { waiting, prioritized, running, oldestWaitingMs } = await pool.counts()
      assert.deepEqual({ waiting, prioritized, running }, { waiting: 6, prioritized: 2, running: 0 })
      await sleep(50)
      assert.ok((await pool.counts()).oldestWaitingMs >= oldestWaitingMs + 40)
      assert.equal(await newBullmq(name).getWaitingCount(), 4)
      if (engine.name === 'postgres') assert.deepEqual(await autoscalerRow(name), [6, 0, true])
      const started = []
      newBullmq(name, bullmq.Worker, async job => void started.push(job.data))
      await until(() => started.length === 6)
      assert.deepEqual(started, [9, 3, 0, 0, -1, -5])
      await until(async () => (await pool.counts()).completed === 6)
      assert.equal((await pool.counts()).oldestWaitingMs, 0)
    })

    test('counts() include the jobs of a paused queue', async () => {
      const name = newQueue()
      const pool = newPool(name)
      await pool.enqueue(1)
      await newBullmq(name).pause()
      await pool.enqueue(2, { priority: -1 })
      await pool.enqueue(3, { delay: 60_000 })
      const { waiting, delayed } = await pool.counts()
      assert.deepEqual({ waiting, delayed }, { waiting: 2, delayed: 1 })
    })

    test('cancel() removes a job that waits, and all its callers reject', async () => {
      const name = newQueue()
      const [pool, other] = [newPool(name), newPool(name)]
      const id = await pool.enqueue(1)
      const calls = [
        pool.result(id),
        other.result(id),
        pool.run(1, { jobId: 'shared' }),
        other.run(1, { jobId: 'shared' }),
        other.run(1, { jobId: 'later', delay: 60_000 }),
      ]
      const rejections = calls.map(call => assert.rejects(call, coded('TASK_CANCELLED')))
      await waits(pool, 2)
      await until(async () => (await pool.counts()).delayed === 1)
      for (const jobId of [id, 'shared', 'later']) assert.equal(await newPool(name).cancel(jobId), true)
      await Promise.all(rejections)
      assert.equal(await pool.cancel(id), false)
      await until(async () => {
        const { waiting, delayed } = await pool.counts()
        return waiting + delayed === 0
      })
      await assert.rejects(other.result(id), coded('JOB_LOST'))
      await assert.rejects(pool.cancel(5), coded('INVALID_TASK'))
    })

    test('cancel() ends a running job on its host, and leaves a finished one', async () => {
      const name = newQueue()
      const pool = newPool(name)
      newHost(name)
      const id = await pool.enqueue(1, { name: 'hang', attempts: 3 })
      const result = assert.rejects(pool.result(id), coded('TASK_CANCELLED'))
      await until(() => local.stats().tasks.inFlight > 0)
      assert.equal(await newPool(name).cancel(id), true)
      await result
      await until(() => local.stats().tasks.inFlight === 0)
      await until(async () => (await pool.counts()).failed === 1)
      await assert.rejects(pool.result(id), coded('TASK_CANCELLED'))
      const done = await pool.enqueue(2)
      assert.equal(await pool.result(done), 2)
      assert.equal(await pool.cancel(done), false)
      assert.equal(await pool.result(done), 2)
    })

    test('a call goes on when another program ends its call with the same jobId', async () => {
      const leave = {
        signal: async (pool, jobId) => {
          const controller = new AbortController()
          const call = pool.run('first', { jobId, name: 'nap', signal: controller.signal })
          const rejected = assert.rejects(call, coded('TASK_CANCELLED'))
          return async () => {
            controller.abort()
            await rejected
          }
        },
        queueTimeout: async (pool, jobId) => {
          const call = pool.run('first', { jobId, name: 'nap', queueTimeout: 1000 })
          const rejected = assert.rejects(call, { limit: 'queueTimeout' })
          return () => rejected
        },
        deadline: async (pool, jobId) => {
          const call = pool.run('first', { jobId, name: 'nap', deadline: Date.now() + 1000 })
          const rejected = assert.rejects(call, { limit: 'deadline' })
          return () => rejected
        },
        force: async (pool, jobId) => {
          const call = pool.run('first', { jobId, name: 'nap' })
          const rejected = assert.rejects(call, PoolClosedError)
          return async () => {
            await pool.close({ force: true })
            await rejected
          }
        },
      }
      await Promise.all(
        Object.entries(leave).map(async ([jobId, start]) => {
          const name = newQueue()
          const [first, second] = [newPool(name), newPool(name)]
          await Promise.all([first.counts(), second.counts()])
          const end = await start(first, jobId)
          await first.counts()
          const calls = [5, 5].map(ms => second.run(ms, { jobId, name: 'nap' }))
          await until(() => second.stats().tasks.accepted === 2)
          await second.counts()
          await end()
          newHost(name)
          assert.deepEqual(await Promise.all(calls), [5, 5], jobId)
        }),
      )
    })

    test('a running job starts again when another program ends it', async () => {
      for (const options of [{ signal: true }, { timeout: 500 }, { deadline: 1000 }]) {
        const name = newQueue()
        const [first, second] = [newPool(name), newPool(name)]
        newHost(name)
        await Promise.all([first.counts(), second.counts()])
        const controller = new AbortController()
        const call = first.run(1, {
          name: 'hang',
          jobId: 'same',
          ...options,
          ...(options.signal && { signal: controller.signal }),
          ...(options.deadline && { deadline: Date.now() + options.deadline }),
        })
        const rejected = assert.rejects(call)
        await until(async () => (await second.counts()).running === 1)
        const other = second.run(7, { name: 'nap', jobId: 'same' })
        other.catch(() => {})
        await second.counts()
        controller.abort()
        await rejected
        assert.equal(await other, 7, JSON.stringify(options))
      }
    })

    test('a job that failed can be asked for again, and one that succeeded keeps its result', async () => {
      const name = newQueue()
      const [pool, other] = [newPool(name), newPool(name)]
      newHost(name)
      const jobId = 'again'
      for (const caller of [pool, pool, other]) {
        await assert.rejects(caller.run('no', { name: 'fail', jobId }), { message: 'no' })
      }
      await pool.enqueue(3, { name: 'double', jobId })
      assert.equal(await other.result(jobId), 6)
      assert.equal(await other.run(4, { name: 'double', jobId }), 6)
      const calls = [13, 13].map(value => pool.run(value, { name: 'double', jobId: 'twice' }))
      assert.deepEqual(
        (await Promise.allSettled(calls)).map(({ status }) => status),
        ['rejected', 'rejected'],
      )
    })

    test('backoff reaches BullMQ, and wrong ones are refused', async () => {
      const name = newQueue()
      const pool = newPool(name, { backoff: 250 })
      const queue = newBullmq(name)
      const backoffOf = async options => (await queue.getJob(await pool.enqueue(1, options))).opts.backoff
      assert.deepEqual(await backoffOf({}), { type: 'fixed', delay: 250 })
      const exponential = { type: 'exponential', delay: 100, jitter: 0.5 }
      assert.deepEqual(await backoffOf({ backoff: exponential }), exponential)
      newHost(name)
      const startedAt = Date.now()
      const map = pool.map([13], { name: 'double', attempts: 2, onError: 'skip' })
      assert.deepEqual(await map.toArray(), [])
      assert.ok(Date.now() - startedAt >= 250)
      for (const [backoff, option] of [
        ['1s', 'backoff'],
        [-1, 'backoff'],
        [{ type: 'linear', delay: 1 }, 'backoff.type'],
        [{ delay: 1 }, 'backoff.type'],
        [{ type: 'fixed' }, 'backoff.delay'],
        [{ type: 'fixed', delay: 1, jitter: 2 }, 'backoff.jitter'],
        [{ type: 'fixed', dely: 1 }, 'backoff.dely'],
      ]) {
        await assert.rejects(pool.run(1, { backoff }), { code: 'ERR_LIDO_INVALID_TASK', option })
        assert.throws(() => new RemotePool(name, { ...server.options, backoff }), {
          code: 'ERR_LIDO_INVALID_OPTION',
          option,
        })
      }
      for (const connectTimeout of [0, '5s']) {
        const option = 'connectTimeout'
        assert.throws(() => new RemotePool(name, { ...server.options, connectTimeout }), { option })
      }
    })

    test('delay and deadline use the clock of the server', async t => {
      const realNow = Date.now.bind(Date)
      const name = newQueue()
      const queue = newBullmq(name)
      await queue.waitUntilReady()
      t.mock.method(Date, 'now', () => realNow() + 3_600_000)
      const pool = newPool(name)
      const id = await pool.enqueue(1, { delay: 1000, deadline: Date.now() + 60_000 })
      const { timestamp, opts } = await queue.getJob(id)
      assert.ok(Math.abs(timestamp - realNow()) < 30_000, String(timestamp - realNow()))
      const leftMs = opts.lido.deadline - realNow()
      assert.ok(leftMs > 30_000 && leftMs < 90_000, String(leftMs))
    })

    test('a call that no host serves gives one warning', async t => {
      const [idle, served] = [newQueue(), newQueue()]
      const warnings = []
      const onWarning = ({ code, message }) => code === 'LIDO_NO_HOST' && warnings.push(message)
      process.on('warning', onWarning)
      t.after(() => process.off('warning', onWarning))
      newHost(served)
      const calls = [
        newPool(idle).run(1),
        newPool(idle, { maxQueue: 5 }).run(1, { delay: 60_000 }),
        newPool(served).run(1, { name: 'hang' }),
        newPool(served).run(1, { delay: 60_000 }),
      ]
      for (const call of calls) call.catch(() => {})
      await until(() => warnings.length > 0)
      await sleep(1000)
      assert.equal(warnings.length, 1)
      assert.match(warnings[0], new RegExp(`'${idle}'.*serve\\(`))
    })

    test('calls wait for a server that starts, within their limits', async t => {
      if (server.restart === undefined) return t.skip('this server keeps no data')
      // A worker of BullMQ that meets a restart may never close. So the parts of the other tests keep their server.
      const [shared, first] = [server, cleanups.length]
      server = await engine.start()
      t.after(async () => {
        await Promise.all(cleanups.splice(first).map(cleanup => cleanup()))
        await server.stop()
        server = shared
      })
      const name = newQueue()
      let calls
      await server.restart(async () => {
        const pool = newPool(name)
        const told = once(pool, 'error')
        calls = [pool.run(1), pool.enqueue(2), pool.counts(), pool.map([3]).toArray()]
        await told
        await assert.rejects(pool.run(1, { deadline: Date.now() + 100 }), { limit: 'deadline' })
        await assert.rejects(pool.run(1, { queueTimeout: 100 }), { limit: 'queueTimeout' })
        await assert.rejects(pool.run(1, { signal: AbortSignal.timeout(100) }), coded('TASK_CANCELLED'))
        const impatient = newPool(name, { connectTimeout: 300 })
        await assert.rejects(impatient.run(1), coded('ENGINE'))
        const closing = newPool(name)
        const call = assert.rejects(closing.run(1), PoolClosedError)
        await closing.close({ force: true })
        await call
      })
      newHost(name)
      await Promise.all(calls)
    })
  })
}

const hasRedis = spawnSync('redis-server', ['--version']).error === undefined

describe('the first connection to Redis', {
  skip: hasRedis ? false : 'redis-server is not installed',
}, () => {
  const cleanups = []
  const start = async (port, ...flags) => {
    const all = ['--port', String(port), '--save', '', '--appendonly', 'no', ...flags]
    const server = spawn('redis-server', all, { stdio: 'ignore' })
    process.once('exit', () => server.kill('SIGKILL'))
    cleanups.push(async () => {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    })
    await acceptsConnections(port)
  }
  const newPool = (port, options = {}) => {
    const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
    const pool = new RemotePool('first', { engine: 'redis', connection, ...options })
    cleanups.push(() => pool.destroy())
    return pool
  }
  const redis = (port, ...args) => spawnSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' })

  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })

  test('calls wait for a server that starts later', async () => {
    const port = await freePort()
    const pool = newPool(port)
    const told = once(pool, 'error')
    const id = pool.enqueue(1, { jobId: 'early' })
    await told
    await start(port)
    assert.equal(await id, 'early')
  })

  test('calls wait for a server that is read-only, and then reject with its state', async () => {
    const port = await freePort()
    await start(port, '--replicaof', '127.0.0.1 1')
    const impatient = newPool(port, { connectTimeout: 300 })
    impatient.on('error', () => {})
    await assert.rejects(impatient.run(1), { code: 'ERR_LIDO_ENGINE', message: /read-only|READONLY/ })
    const pool = newPool(port)
    pool.on('error', () => {})
    const id = pool.enqueue(1, { jobId: 'early' })
    redis(port, 'replicaof', 'no', 'one')
    assert.equal(await id, 'early')
  })

  test('a server that refuses for ever rejects calls at once', async () => {
    const port = await freePort()
    await start(port, '--requirepass', 'right')
    const pool = newPool(port, {
      connection: { host: '127.0.0.1', port, password: 'wrong', maxRetriesPerRequest: null },
    })
    pool.on('error', () => {})
    await assert.rejects(pool.run(1), { code: 'ERR_LIDO_ENGINE', message: /WRONGPASS|password/ })
    const full = await freePort()
    await start(full)
    const connected = newPool(full)
    connected.on('error', () => {})
    await connected.enqueue(1)
    redis(full, 'config', 'set', 'maxmemory', '1')
    await assert.rejects(connected.run(1), { code: 'ERR_LIDO_ENGINE', message: /out of memory|OOM/ })
    redis(full, 'config', 'set', 'maxmemory', '0')
  })

  test('the commands of an autoscaler count the jobs that wait and run', async () => {
    const port = await freePort()
    await start(port)
    const pool = newPool(port)
    for (let index = 0; index < 3; index++) await pool.enqueue(index)
    await pool.enqueue(3, { priority: -1 })
    assert.equal(redis(port, 'llen', 'bull:first:wait').stdout.trim(), '3')
    assert.equal(redis(port, 'zcard', 'bull:first:prioritized').stdout.trim(), '1')
    const worker = new bullmq.Worker('first', () => new Promise(() => {}), {
      connection: { host: '127.0.0.1', port, maxRetriesPerRequest: null },
      concurrency: 2,
    })
    cleanups.push(() => worker.close(true))
    await until(() => redis(port, 'llen', 'bull:first:active').stdout.trim() === '2')
    const { waiting, running } = await pool.counts()
    assert.deepEqual({ waiting, running }, { waiting: 2, running: 2 })
  })
})
