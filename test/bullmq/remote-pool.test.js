// RemotePool on real servers: one computing host in this process runs the jobs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { serialize } from 'node:v8'
// BullMQ 5 has no `createPostgresBackend`.
import * as classes from 'bullmq'
import { move, NotCloneableError, Pool, PoolClosedError, WorkerStartError } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { OrderError } from '../fixtures/remote-handlers.js'
import { engines, hasPostgres } from '../helpers/engines.js'

const { Queue, UnrecoverableError, Worker } = classes

const filename = new URL('../fixtures/remote-handlers.js', import.meta.url)
const coded = code => error => error.code === `ERR_LIDO_${code}` || assert.fail(error)

for (const { name, skip, start } of engines) {
  describe(`RemotePool on ${name}`, { skip }, () => {
    let server
    let local
    let host
    let pool
    const remotes = []

    /** A pool of an idle queue: no host runs its jobs. */
    const idle = (options = {}) => {
      const remote = new RemotePool(`idle-${remotes.length}`, { ...server.options, ...options })
      remotes.push(remote)
      return remote
    }

    /** The further arguments of BullMQ's own classes. */
    const bullmq = () => [
      { connection: server.options.connection },
      name === 'postgres' ? classes.createPostgresBackend : undefined,
    ]

    before(async () => {
      server = await start()
      local = new Pool({ filename, minWorkers: 0, maxWorkers: 2, errorClasses: [OrderError] })
      host = serve('jobs', local, { ...server.options, giveBackTimeout: 0 })
      pool = new RemotePool('jobs', { ...server.options, errorClasses: [OrderError] })
      await pool.run('first')
    })

    after(async () => {
      await Promise.all([pool, ...remotes].map(remote => remote?.destroy()))
      await host?.close()
      await local?.destroy()
      await server?.stop()
    })

    test('run() returns values as a local pool does', async () => {
      const cycle = { map: new Map([[1n, new Set([new Date(5)])]]), bytes: new Uint8Array([1, 2]) }
      cycle.self = cycle
      for (const value of [undefined, null, 1, 'text', { a: [1, null] }, -0, Number.NaN, cycle]) {
        assert.deepEqual(await pool.run(value), value)
      }
      assert.equal(await pool.api.add(2, 3), 5)
      assert.equal(await pool.with({ priority: 5 }).api.add(2, 4), 6)
    })

    test('an error keeps its class, code and cause', async () => {
      await assert.rejects(pool.run('no stock', { name: 'fail' }), error => {
        assert.ok(error instanceof OrderError)
        assert.equal(error.message, 'no stock')
        assert.equal(error.code, 'ORDER')
        assert.ok(error.cause instanceof RangeError)
        return true
      })
      await assert.rejects(pool.run(1, { name: 'missing' }), WorkerStartError)
    })

    test('a host gets the payload of the time of the call', async () => {
      const order = { amount: [1] }
      const answer = pool.run(order)
      const id = pool.enqueue(order)
      order.amount[0] = 2
      assert.deepEqual(await answer, { amount: [1] })
      assert.deepEqual(await pool.result(await id), { amount: [1] })
    })

    test('progress reaches the caller in order', async () => {
      const steps = []
      assert.equal(await pool.run(3, { name: 'steps', onProgress: step => steps.push(step) }), 3)
      assert.deepEqual(steps, steps.toSorted())
      assert.equal(steps.length > 0, true)
    })

    test('enqueue() gives an id for result(), and a jobId runs once', async () => {
      const id = await pool.enqueue(new Set([1]), { jobId: `once-${process.pid}` })
      assert.equal(id, `once-${process.pid}`)
      const other = new RemotePool('jobs', server.options)
      remotes.push(other)
      assert.deepEqual(await other.result(id), new Set([1]))
      assert.deepEqual(await pool.run('ignored', { jobId: id }), new Set([1]))
      await assert.rejects(other.result('unknown'), coded('JOB_LOST'))
    })

    test('aborting the signal cancels the job on its host', async () => {
      const controller = new AbortController()
      const call = pool.run(1, { name: 'hang', signal: controller.signal })
      while (local.stats().tasks.inFlight === 0) await sleep(10)
      controller.abort('enough')
      await assert.rejects(call, { name: 'AbortError', reason: 'enough' })
      while (local.stats().tasks.inFlight > 0) await sleep(10)
      await assert.rejects(pool.run(1, { signal: controller.signal }), coded('TASK_CANCELLED'))
    })

    test('aborting the signal removes a waiting job', async () => {
      const remote = idle()
      const controller = new AbortController()
      const call = remote.run(1, { signal: controller.signal })
      while ((await remote.counts()).waiting === 0) await sleep(10)
      controller.abort()
      await assert.rejects(call, coded('TASK_CANCELLED'))
      while ((await remote.counts()).waiting > 0) await sleep(10)
    })

    test('time limits reject calls that wait too long', async () => {
      const remote = idle()
      await assert.rejects(remote.run(1, { queueTimeout: 50 }), { limit: 'queueTimeout' })
      await assert.rejects(remote.run(1, { deadline: Date.now() + 50 }), { limit: 'deadline' })
      await assert.rejects(remote.run(1, { deadline: 5 }), { limit: 'deadline', limitMs: 0 })
      await assert.rejects(pool.run(1, { name: 'hang', timeout: 50 }), { limit: 'timeout' })
      while ((await remote.counts()).waiting > 0) await sleep(10)
    })

    test('a full pool refuses calls, and room() waits', async () => {
      const remote = idle({ maxQueue: 1 })
      const controller = new AbortController()
      const call = remote.run(1, { signal: controller.signal })
      await assert.rejects(remote.run(2), coded('QUEUE_FULL'))
      const room = remote.room()
      controller.abort()
      await assert.rejects(call, coded('TASK_CANCELLED'))
      await room
      const { accepted, cancelled } = remote.stats().tasks
      assert.deepEqual({ accepted, cancelled }, { accepted: 1, cancelled: 1 })
    })

    test('values that cannot be sent are refused with advice', async () => {
      await assert.rejects(pool.run({ deep: () => {} }), NotCloneableError)
      await assert.rejects(pool.run('x'.repeat(1_000_000)), coded('VALUE_TOO_LARGE'))
      await assert.rejects(pool.run(move(new Uint8Array(1))), /moved payload/)
      await assert.rejects(pool.run(1, { transferList: [] }), /copied/)
      await assert.rejects(pool.run(1, { deadlin: 5 }), /Did you mean 'deadline'/)
      for (const method of ['stream', 'transform', 'broadcast', 'share']) {
        assert.throws(() => pool[method](), coded('INVALID_TASK'))
      }
    })

    test('map() packs items, keeps their order, and isolates failures', async () => {
      const items = Array.from({ length: 200 }, (_, index) => index)
      const map = pool.map(items, { name: 'double', onError: () => 'failed' })
      const expected = items.map(item => (item === 13 ? 'failed' : item * 2))
      assert.deepEqual(await map.toArray(), expected)
      const { accepted } = pool.stats().tasks
      const unordered = { itemsPerJob: 40, ordered: false, onError: 'skip', name: 'double' }
      const results = await pool.map(new Set(items), unordered).toArray()
      assert.deepEqual(
        results.sort((left, right) => left - right),
        items.filter(item => item !== 13).map(item => item * 2),
      )
      assert.equal(pool.stats().tasks.accepted - accepted, 5)
      await assert.rejects(pool.map(items, { name: 'double' }).toArray(), RangeError)
    })

    test('map() limits its jobs, and removes them when it ends', async () => {
      const remote = idle()
      let pulled = 0
      function* endless() {
        for (;;) yield pulled++
      }
      const map = remote.map(endless())
      const next = map.next()
      while ((await remote.counts()).waiting < 32) await sleep(10)
      assert.ok(pulled < 70, String(pulled))
      await map.return()
      assert.deepEqual(await next, { value: undefined, done: true })
      while ((await remote.counts()).waiting > 0) await sleep(10)
    })

    test('a map of large items stays below maxValueBytes', async () => {
      const remote = new RemotePool('jobs', { ...server.options, maxValueBytes: 1000 })
      remotes.push(remote)
      const items = Array.from({ length: 20 }, (_, index) => String(index).repeat(100))
      assert.deepEqual(await remote.map(items, { itemsPerJob: 20 }).toArray(), items)
      assert.ok(remote.stats().tasks.accepted >= 3)
      const lengths = new Array(8).fill(200_000)
      const texts = await pool.map(lengths, { name: 'textOf', itemsPerJob: 8 }).toArray()
      assert.deepEqual(
        texts.map(text => text.length),
        lengths,
      )
      const mapping = remote.map(['x'.repeat(2000)]).toArray()
      await assert.rejects(mapping, coded('VALUE_TOO_LARGE'))
    })

    test('a caller decodes only what it can check, whichever program answers', async () => {
      const remote = idle({ maxValueBytes: 1000 })
      const other = new Worker(remote.stats().label, async job => answers[job.name](job), ...bullmq())
      const encoded = value => ({ $lido: 1, bytes: serialize({ value }).toString('base64') })
      const link = (...parts) => encoded({ copies: [{ thrown: undefined }, {}], links: [parts], errors: [] })
      const errors = [
        { length: 1e9 },
        { copies: { length: 1e9 }, links: [], errors: [] },
        link('__proto__', 'polluted', 'yes'),
        link(1, '__proto__', 0),
        link(0, 'thrown', 5),
        encoded({
          copies: [{ thrown: undefined }],
          links: [],
          errors: [{ index: 1e9, classes: ['Error'], name: '', message: '', stack: '', hidden: [] }],
        }),
      ]
      const failing = stack => () => {
        throw Object.assign(new UnrecoverableError('the reason'), { stack })
      }
      const answers = {
        length: () => ({ $lido: 1, bytes: { length: 1e9 } }),
        garbage: () => ({ $lido: 1, bytes: 'AAAA' }),
        version: () => ({ $lido: 2 }),
        large: () => encoded('x'.repeat(1000)),
        items: ({ data }) => data.map(index => ({ error: errors[index], isFinal: true })),
        lengths: ({ data }) => data.map(() => ({ value: { $lido: 1, bytes: { length: 1e9 } } })),
        nulls: ({ data }) => data.map(() => null),
        line: failing(`Error: x\n    [lido:error] {"length":1e9}`),
        message: failing(`Error: x\n    [lido:error] {"length":1e9}\n    at file.js:1:1`),
        async progress(job) {
          await job.updateProgress({ $lido: 1, bytes: { length: 1e9 } })
          return 1
        },
      }
      for (const name of ['length', 'garbage', 'version', 'line']) {
        await assert.rejects(remote.run(1, { name }), coded('JOB_FORMAT'))
      }
      await assert.rejects(remote.run(1, { name: 'large' }), coded('VALUE_TOO_LARGE'))
      await assert.rejects(remote.run(1, { name: 'message' }), coded('JOB_FAILED'))
      const onProgress = value => assert.fail(value)
      assert.equal(await remote.run(1, { name: 'progress', onProgress }), 1)
      for (const name of ['items', 'lengths']) {
        const codes = await remote.map(errors.keys(), { name, onError: ({ code }) => code }).toArray()
        assert.deepEqual(codes, new Array(errors.length).fill('ERR_LIDO_JOB_FORMAT'))
      }
      await assert.rejects(remote.map([1], { name: 'nulls' }).toArray(), coded('INVALID_TASK'))
      assert.equal([].polluted, undefined)
      await other.close()
    })

    test('result() gives the plain result of a job that another client added', async () => {
      const queue = new Queue('jobs', ...bullmq())
      const data = { $lido: 1, bytes: { length: 1e9 } }
      const { id } = await queue.add('default', data, { jobId: 'plain' })
      assert.deepEqual(await pool.result(id), data)
      assert.deepEqual(await pool.run('ignored', { jobId: id }), data)
      await queue.close()
    })

    test('close() waits for calls, and destroy() rejects them', async () => {
      const remote = new RemotePool('jobs', server.options)
      const closed = once(remote, 'close')
      const call = remote.run(100, { name: 'nap' })
      assert.deepEqual(await remote.close(), { cutOff: 0, timedOut: false })
      assert.equal(await call, 100)
      await closed
      await assert.rejects(remote.run(1), PoolClosedError)
      const other = idle()
      const forced = assert.rejects(other.run(1), { reason: 'forced' })
      while ((await other.counts()).waiting === 0) await sleep(10)
      assert.deepEqual(await other.close({ force: true }), { cutOff: 1, timedOut: false })
      await forced
      const last = idle()
      const destroyed = assert.rejects(last.run(1), { reason: 'destroyed' })
      await last.destroy()
      await destroyed
      await other.destroy()
    })

    test('a wrong password rejects the first call', async t => {
      if (name !== 'postgres') return t.skip('this server has no password')
      const url = new URL(server.options.connection)
      url.password = 'wrong'
      const remote = new RemotePool('jobs', { ...server.options, connection: url.href })
      await assert.rejects(remote.run(1), coded('ENGINE'))
      await remote.close()
    })

    test('calls survive a restart of the server', async t => {
      if (server.restart === undefined) return t.skip('this server keeps no data')
      const interrupted = new Promise(resolve => pool.on('error', resolve))
      host.on('error', () => {})
      const calls = Array.from({ length: 20 }, (_, index) => pool.run(index))
      await server.restart(() => interrupted)
      calls.push(pool.run(20))
      assert.deepEqual(await Promise.all(calls), [...calls.keys()])
    })
  })
}

describe('RemotePool without a server', () => {
  test('the first call rejects with the address and the cause', async () => {
    const unreachable = [['redis', { host: '127.0.0.1', port: 1, maxRetriesPerRequest: null }]]
    if (hasPostgres) unreachable.push(['postgres', 'postgres://user:secret@127.0.0.1:1/db'])
    for (const [engine, connection] of unreachable) {
      const pool = new RemotePool('jobs', { engine, connection, connectTimeout: 100 })
      pool.on('error', () => {})
      for (let attempt = 1; attempt <= 2; attempt++) {
        await assert.rejects(pool.run(1), error => {
          assert.match(error.message, /127\.0\.0\.1:1 .*ECONNREFUSED/)
          assert.doesNotMatch(error.message, /secret/)
          return coded('ENGINE')(error)
        })
      }
      await pool.close()
    }
  })

  test('wrong options are refused', () => {
    const create = (name, options) => () => new RemotePool(name, options)
    assert.throws(create('jobs'), /'engine' must be/)
    assert.throws(create('jobs', { engine: 'redis' }), /'connection' must be/)
    assert.throws(create('jobs', { engine: 'redis', conection: {} }), /Did you mean 'connection'/)
    assert.throws(create('a:b', { engine: 'redis', connection: {} }), /'queueName' must be/)
  })

  test('options that need the scheduler of a local pool are refused with advice', async () => {
    const options = { engine: 'redis', connection: {} }
    const create = option => () => new RemotePool('jobs', { ...options, ...option })
    assert.throws(create({ groups: {} }), /'groups'.*BullMQ.*tenants\.html/)
    assert.throws(create({ aging: 1_000 }), /'aging'.*priority.*tenants\.html/)
    const pool = new RemotePool('jobs', options)
    const cases = [
      [{ key: 'document' }, /'key'.*keeps no order.*Wait for each job/],
      [{ keyOrder: 'none' }, /'keyOrder'.*no worker/],
      [{ group: 'tenant' }, /'group'.*BullMQ.*tenants\.html/],
    ]
    for (const [option, message] of cases) {
      await assert.rejects(pool.run(1, option), message)
      await assert.rejects(pool.enqueue(1, option), message)
      assert.throws(() => pool.with(option), message)
      assert.throws(() => pool.map([1], option), message)
    }
    assert.throws(() => pool.map([1], { itemsPerTask: 2 }), /Use 'itemsPerJob'/)
    await pool.close()
  })
})
