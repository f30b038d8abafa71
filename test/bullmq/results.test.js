// Results on real servers when the events of jobs are lost, as those of PostgreSQL sometimes are.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, mock, test } from 'node:test'
import * as bullmq from 'bullmq'
import { Job, Queue, QueueEvents } from 'bullmq'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { OrderError } from '../fixtures/remote-handlers.js'
import { engines } from '../helpers/engines.js'

const filename = new URL('../fixtures/remote-handlers.js', import.meta.url)
const codeIs = code => error => error.code === `ERR_LIDO_${code}` || assert.fail(error)
const range = length => Array.from({ length }, (_, index) => index)

const { emit } = QueueEvents.prototype
const jobEvents = new Set(['active', 'progress', 'completed', 'failed', 'removed'])

for (const { name, skip, start } of engines) {
  describe(`results on ${name} without events`, { skip }, () => {
    let server
    let local
    let host
    let pool
    let frugal
    let idle
    let queue
    let reads

    before(async () => {
      QueueEvents.prototype.emit = function (event, ...args) {
        return jobEvents.has(event) ? false : emit.call(this, event, ...args)
      }
      reads = mock.method(Job, 'fromId').mock
      server = await start()
      local = new Pool({ filename, minWorkers: 2, maxWorkers: 2, errorClasses: [OrderError] })
      host = serve('deaf', local, server.options)
      pool = new RemotePool('deaf', { ...server.options, errorClasses: [OrderError] })
      frugal = new RemotePool('deaf', { ...server.options, keepResults: { count: 100 } })
      idle = new RemotePool('deaf-idle', server.options)
      await pool.run('first')
      await idle.counts()
      const factory = name === 'postgres' ? bullmq.createPostgresBackend : undefined
      queue = new Queue('deaf-idle', { connection: server.options.connection }, factory)
    })

    beforeEach(() => reads.resetCalls())

    after(async () => {
      QueueEvents.prototype.emit = emit
      mock.restoreAll()
      await queue?.close()
      await Promise.all([pool, frugal, idle].map(remote => remote?.destroy()))
      await host?.close()
      await local?.destroy()
      await server?.stop()
    })

    test('calls settle with their results and errors', async () => {
      const calls = range(100).map(value => pool.run(value))
      const failing = pool.run('broken', { name: 'fail' })
      const named = [1, 2].map(() => pool.run('same', { jobId: 'same' }))
      await assert.rejects(failing, error => error instanceof OrderError && error.message === 'broken')
      assert.deepEqual(await Promise.all(calls), range(100))
      assert.deepEqual(await Promise.all(named), ['same', 'same'])
      assert.equal(await pool.result('same'), 'same')
      const id = await pool.enqueue('later')
      assert.equal(await pool.result(id), 'later')
    })

    for (const itemsPerJob of [1, 10, 'auto']) {
      test(`map() gives all results with itemsPerJob ${itemsPerJob}`, async () => {
        const results = pool.map(range(60), { name: 'double', itemsPerJob, onError: 'skip' })
        const wanted = range(60).filter(value => value !== 13)
        assert.deepEqual(
          await results.toArray(),
          wanted.map(value => value * 2),
        )
      })
    }

    test('keepResults bounds the number of results', async () => {
      await Promise.all(range(250).map(value => frugal.enqueue(value)))
      const isDone = ({ waiting, prioritized, active }) => waiting + prioritized + active === 0
      let counts = await frugal.counts()
      while (!isDone(counts)) counts = await frugal.counts()
      const { completed } = counts
      // On PostgreSQL a few more: only some jobs have the limit.
      assert.ok(completed <= 160, `${completed} results are kept`)
    })

    test('waiting calls are not read, and a removed job is lost', async () => {
      const calls = range(200).map(value => idle.run({ value, text: 'x'.repeat(1000) }))
      const settled = Promise.allSettled(calls)
      while ((await queue.getJobCountByTypes('wait', 'prioritized')) < 200) {}
      const [job] = await queue.getJobs(['wait', 'prioritized'], 0, 0)
      reads.resetCalls()
      await job.remove()
      await assert.rejects(calls[job.data.value], codeIs('JOB_LOST'))
      assert.deepEqual(
        reads.calls.map(({ arguments: [, id] }) => id),
        [job.id],
      )
      await idle.destroy()
      await settled
    })
  })
}
