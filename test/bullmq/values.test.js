// What strangers can put into a queue of lido/bullmq: malformed jobs, and names of any length.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { serialize } from 'node:v8'
import * as bullmq from 'bullmq'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { freePort } from '../../examples/machines/database.js'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

const envelope = bytes => ({ $lido: 1, bytes: Buffer.from(bytes).toString('base64') })
const packed = value => envelope(serialize({ value }))
/** The bytes of an object with the field `value`. */
const written = (...parts) => {
  const bytes = parts.map(part =>
    typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
  )
  return envelope(Buffer.concat([Buffer.from([0xff, 15]), Buffer.from('o"\x05value'), ...bytes]))
}
/** The bytes of a length of 100,000. */
const longLength = [0xa0, 0x8d, 6]
const sparse = []
sparse.length = 2 ** 32 - 1

/** Each of them: the data, and what is added to the terms. */
const hostile = [
  [{ $lido: 1 }],
  [{ $lido: '1', bytes: '' }],
  [{ $lido: -1, bytes: '' }],
  [{ $lido: null }],
  [{ $lido: 1, bytes: { length: 1e9 } }],
  [{ $lido: 1, bytes: [1e9] }],
  [{ $lido: 1, bytes: '' }],
  [{ $lido: 1, bytes: '%%%' }],
  [envelope('no bytes of the serialiser')],
  [envelope(serialize('no message'))],
  [envelope(serialize({ value: [1, 2, 3] }).subarray(0, 12))],
  [written(...new Array(200).fill(['A', longLength]).flat(), '_'.repeat(100_000))],
  [written('B', [255, 255, 255, 255, 7])],
  [written('~', [0], [255, 255, 255, 255, 7], '{', [1])],
  [written('R"', longLength, '\\p{L}'.repeat(20_000), [16], '{', [1])],
  [written('A', longLength, ';:\0'.repeat(100_000), '$', [0], longLength, '{', [1])],
  [written('o"\x01v'.repeat(5000), '0', '{\x01'.repeat(5000), '{', [1])],
  [packed({ length: 5 }), { args: true }],
  [packed(sparse), { args: true }],
  [{ length: 5 }, { args: true }],
  [{ length: 1e9 }, { items: true }],
  ['text', { items: true }],
  [new Array(10_001).fill(1), { items: true }],
  [[1], { args: true, items: true }],
  [1, { args: 1 }],
  [1, { items: 'yes' }],
  [1, { timeout: -1 }],
  [1, { timeout: '5' }],
  [1, { deadline: 1e300 }],
  [1, { deadline: {} }],
  [1, { format: 0 }],
  [1, { format: '1' }],
  [1, { format: [1] }],
]
const longName = 'x'.repeat(10_000)

for (const engine of engines) {
  describe(`values in ${engine.name}`, { skip: engine.skip }, () => {
    let server
    let queue
    let pool
    let host
    const warnings = []
    const onWarning = warning => warnings.push(String(warning.message))

    before(async () => {
      process.on('warning', onWarning)
      server = await engine.start()
      pool = new Pool({ filename: handler('jobs.js'), maxWorkers: 1 })
      host = serve('values', pool, server.options)
      await host.ready()
      const { connection } = server.options
      const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
      queue = new bullmq.Queue('values', { connection }, factory)
      await queue.waitUntilReady()
    })
    after(async () => {
      process.off('warning', onWarning)
      await queue?.close()
      await host?.close()
      await pool?.destroy()
      await server?.stop()
    })

    /** The finished job. */
    async function finished({ id }) {
      for (;;) {
        const job = await queue.getJob(id)
        if (job.finishedOn !== undefined) return job
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    }

    test('each malformed job fails once with the code, and the host serves the other jobs', async () => {
      const jobs = await queue.addBulk(
        hostile.flatMap(([data, more]) => [
          { name: 'echo', data, opts: { attempts: 3, lido: { format: 1, ...more } } },
          { name: 'double', data: 21 },
        ]),
      )
      for (const job of jobs) {
        const { failedReason, attemptsMade, returnvalue, stacktrace } = await finished(job)
        if (job.name === 'double') {
          assert.equal(returnvalue, 42)
          continue
        }
        assert.match(
          stacktrace.at(-1) ?? '',
          /^JobFormatError: /,
          JSON.stringify([failedReason, returnvalue, job.opts.lido]),
        )
        assert.match(failedReason, /^The job has /)
        assert.equal(attemptsMade, 1)
      }
      const remote = new RemotePool('values', server.options)
      const error = await remote.result(jobs[0].id).catch(error => error)
      assert.deepEqual([error.code, error.isOtherVersion], ['ERR_LIDO_JOB_FORMAT', false])
      await remote.close()
    })

    test('a malformed item fails, and the other items of its job succeed', async () => {
      const items = [
        1,
        packed(2),
        { $lido: 1, bytes: { length: 1e9 } },
        written('B', [255, 255, 255, 255, 7]),
      ]
      const job = await queue.add('echo', items, { attempts: 3, lido: { format: 1, items: true } })
      const { returnvalue, attemptsMade } = await finished(job)
      assert.deepEqual(returnvalue.slice(0, 2), [{ value: 1 }, { value: 2 }])
      assert.deepEqual([returnvalue[2].isFinal, returnvalue[3].isFinal, attemptsMade], [true, true, 1])
    })

    test('messages cut the long name of a job', async () => {
      for (const opts of [{}, { lido: { format: 1 } }]) {
        const job = await queue.add(longName, 1, opts)
        // Hosts may give back a job without a handler. Then its refusal is in a warning.
        while (
          (await queue.getJob(job.id)).finishedOn === undefined &&
          !warnings.some(text => text.includes('xxx'))
        ) {
          await new Promise(resolve => setTimeout(resolve, 10))
        }
        const { failedReason = '' } = await queue.getJob(job.id)
        assert.ok(failedReason.length < 1000, failedReason.slice(0, 200))
        await queue.remove(job.id)
      }
    })

    test('messages cut the long id of a job', async () => {
      const remote = new RemotePool('values', server.options)
      const error = await remote.result(longName).catch(error => error)
      assert.equal(error.code, 'ERR_LIDO_JOB_LOST')
      assert.ok(error.message.length < 1000)
      await remote.close()
    })

    test('no warning has a long name', () => {
      for (const warning of warnings) assert.ok(warning.length < 2000, warning.slice(0, 200))
    })
  })
}

test('messages cut the long name of a queue', async () => {
  const connection = { host: '127.0.0.1', port: await freePort(), retryStrategy: () => null }
  const remote = new RemotePool(longName, { engine: 'redis', connection })
  remote.on('error', () => {})
  const error = await remote.run(1, { timeout: 1000, deadline: Date.now() + 1000 }).catch(error => error)
  assert.ok(error.message.length < 1000)
  await remote.close()
  const pool = new Pool({ filename: handler('jobs.js'), minWorkers: 0 })
  assert.throws(
    () => serve(`${longName}:`, pool, { engine: 'redis', connection }),
    ({ message }) => message.length < 1000,
  )
  await pool.close()
})
