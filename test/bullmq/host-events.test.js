// What a host tells: its events and warnings, and the job in the context of its handlers.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

const hostProgram = fileURLToPath(new URL('../fixtures/host-program.js', import.meta.url))

for (const engine of engines) {
  describe(`events and limits of hosts with ${engine.name}`, { skip: engine.skip }, () => {
    let server
    let factory
    let base
    let lastName = 0
    const cleanups = []

    before(async () => {
      server = await engine.start()
      const { connection } = server.options
      const isPostgres = engine.name === 'postgres'
      factory = isPostgres ? bullmq.createPostgresBackend : undefined
      base = { connection: isPostgres ? { connectionString: connection, migrate: true } : connection }
    })
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })
    after(() => server.stop())

    const nextName = () => `events-${++lastName}`

    async function openHost(name, options, file = 'host-jobs.js') {
      const pool = new Pool({ filename: handler(file), maxWorkers: 1, cancelGrace: 100 })
      cleanups.push(() => pool.destroy())
      const host = serve(name, pool, { ...server.options, closeTimeout: 300, ...options })
      host.on('error', () => {})
      cleanups.push(() => host.close())
      await host.ready()
      return host
    }

    async function openQueue(name) {
      const queue = new bullmq.Queue(name, base, factory)
      await queue.waitUntilReady()
      cleanups.push(() => queue.close())
      return queue
    }

    function openRemote(name) {
      const remote = new RemotePool(name, server.options)
      remote.on('error', () => {})
      cleanups.push(() => remote.destroy())
      return remote
    }

    async function finished(queue, { id }) {
      for (;;) {
        const job = await queue.getJob(id)
        if (job.finishedOn !== undefined) return job
        await sleep(10)
      }
    }

    test('a host tells each result and each failed attempt, with the error of the handler', async () => {
      const name = nextName()
      const host = await openHost(name)
      const told = []
      for (const event of ['completed', 'failed']) host.on(event, facts => told.push({ event, ...facts }))
      const remote = openRemote(name)
      assert.equal(await remote.run(1, { name: 'echo' }), 1)
      await assert.rejects(remote.run(1, { name: 'throws', attempts: 2 }), RangeError)
      while (told.length < 3) await once(host, 'failed')
      assert.deepEqual(
        told.map(({ event, name, attempt }) => [event, name, attempt]),
        [
          ['completed', 'echo', 1],
          ['failed', 'throws', 1],
          ['failed', 'throws', 2],
        ],
      )
      for (const { id, durationMs, error, event } of told) {
        assert.ok(typeof id === 'string' && id !== '' && durationMs > 0)
        if (event !== 'failed') continue
        assert.deepEqual([error.name, error.message, error.code], ['RangeError', 'too far', 'E_FAR'])
        assert.doesNotMatch(error.stack, /lido:error/)
      }
    })

    test('a host without listeners warns once a second, and counts what it left out', async () => {
      const name = nextName()
      await openHost(name)
      const warnings = []
      const onWarning = warning => warning.code === 'LIDO_QUEUE_HOST' && warnings.push(warning.message)
      process.on('warning', onWarning)
      cleanups.push(() => process.off('warning', onWarning))
      const queue = await openQueue(name)
      const count = 30
      await queue.addBulk(Array.from({ length: count }, () => ({ name: 'throws', data: 1 })))
      const leftOut = () =>
        warnings.reduce((sum, text) => sum + Number(/left out (\d+) more/.exec(text)?.[1] ?? 0), 0)
      while (warnings.length + leftOut() < count) await sleep(10)
      assert.equal(warnings.length + leftOut(), count)
      assert.match(
        warnings[0],
        /failed the job 'throws' \(id \d+, attempt 1\): too far\. Listen to its event/,
      )
    })

    test('a host tells of the job of a host that died', async () => {
      const name = nextName()
      const queue = await openQueue(name)
      const dead = await startProgram(name)
      const job = await queue.add('waits', 1)
      await until(async () => (await job.getState()) === 'active')
      dead.kill('SIGKILL')
      const host = await openHost(name, { lockDuration: 500 })
      const [stalled] = await once(host, 'stalled')
      assert.deepEqual([stalled.id, stalled.name, stalled.attempt], [job.id, 'waits', 1])
      assert.match(stalled.error.message, /did not renew its lock: it died/)
    })

    test('a blocked host tells that it lost a job', async () => {
      const name = nextName()
      const host = await openHost(name, { lockDuration: 500 })
      const stalls = []
      host.on('stalled', facts => stalls.push(facts))
      host.on('failed', () => {})
      const queue = await openQueue(name)
      const job = await queue.add('waits', 1)
      await until(() => host.stats().active === 1)
      await startProgram(name)
      const isLost = ({ error }) => /This host lost its lock/.test(error.message)
      while (!stalls.some(isLost)) {
        // Blocks this process until the other host has taken the job.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)
        await sleep(200)
      }
      const { id, name: jobName, attempt } = stalls.find(isLost)
      assert.deepEqual([id, jobName, attempt], [job.id, 'waits', 1])
    })

    test('the timeout of a host holds for jobs of other clients, and a shorter one of the job wins', async () => {
      const name = nextName()
      const host = await openHost(name, { timeout: 300 })
      host.on('failed', () => {})
      const queue = await openQueue(name)
      const plain = await finished(queue, await queue.add('waits', 1))
      assert.match(plain.failedReason, /timeout of 300 ms/)
      const remote = openRemote(name)
      await assert.rejects(remote.run(1, { name: 'waits', timeout: 100 }), { limit: 'timeout', limitMs: 100 })
      await assert.rejects(remote.run(1, { name: 'waits', timeout: 60_000 }), { limitMs: 300 })
    })

    test('a handler reads the data, the options, the parent and the children of its job', async () => {
      const name = nextName()
      await openHost(name)
      const queue = await openQueue(name)
      const flows = new bullmq.FlowProducer(base, factory)
      cleanups.push(() => flows.close())
      const node = await flows.add({
        name: 'describesJob',
        queueName: name,
        data: { top: true },
        children: [{ name: 'describesJob', queueName: name, data: { leaf: 1 }, opts: { attempts: 2 } }],
      })
      const parent = (await finished(queue, node.job)).returnvalue
      const [child] = Object.values(parent.children)
      assert.deepEqual([parent.data, parent.parent], [{ top: true }, undefined])
      assert.deepEqual([child.data, child.children], [{ leaf: 1 }, {}])
      assert.deepEqual(child.parent, { id: node.job.id, queue: name })
      assert.equal(child.options.attempts, 2)

      const remote = openRemote(name)
      const described = await remote.run(new Map([[1, 2]]), { name: 'describesJob', attempts: 3 })
      assert.deepEqual(described.data, new Map([[1, 2]]))
      assert.equal(described.options.attempts, 3)
      assert.equal('lido' in described.options, false)
    })

    async function startProgram(name) {
      const program = fork(hostProgram, [name, JSON.stringify({ ...server.options, lockDuration: 500 })])
      cleanups.push(() => program.kill('SIGKILL'))
      await once(program, 'message')
      return program
    }

    async function until(isTrue) {
      while (!(await isTrue())) await sleep(10)
    }
  })
}
