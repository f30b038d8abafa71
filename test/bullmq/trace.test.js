// One trace over machines: a caller, its queue, a host in another process, and the handler. The stores of `carry()` go the same way.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { context, propagation, trace } from '@opentelemetry/api'
import * as bullmq from 'bullmq'
import { NotCloneableError } from 'lido'
import { RemotePool, ValueTooLargeError } from 'lido/bullmq'
import { recordSpans } from '../frameworks/otel/spans.js'
import { engines } from '../helpers/engines.js'
import { startProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { untilItWorks } from '../helpers/retry.js'
import { request } from './traced/context.js'

const setUp = new URL('../frameworks/otel/instrumentation.js', import.meta.url).href
const filename = new URL('./traced/handlers.js', import.meta.url).href
const tracer = trace.getTracer('program')

for (const engine of engines) {
  describe(`a trace over ${engine.name}`, { skip: engine.skip }, () => {
    let server
    let spans
    let host
    let pool
    const cleanups = []
    const caller = { id: 7, since: new Date(0) }

    before(async () => {
      spans = recordSpans({ after: cleanup => cleanups.push(cleanup) })
      await import(setUp)
      server = await engine.start()
      host = startProgram(
        `import { serve } from '${import.meta.resolve('lido/bullmq')}'
        const pool = new Pool({ filename: '${filename}', maxWorkers: 2 })
        const host = serve('traces', pool, ${JSON.stringify(server.options)})
        await host.ready()
        console.log('ready')
        process.once('SIGTERM', async () => { await host.close(); await pool.close(); process.exit() })`,
        { nodeArguments: ['--import', setUp], env: { LIDO_SPANS: spans.file } },
      )
      await once(host.child.stdout, 'data')
      pool = new RemotePool('traces', { ...server.options, backoff: { type: 'fixed', delay: 1 } })
    })
    after(async () => {
      await pool?.close()
      host.child.kill('SIGTERM')
      await host.ended
      for (const cleanup of cleanups.reverse()) await cleanup()
      await server.stop()
    })

    /** Calls as a request of a server does. Resolves to the span of the request and to the answer. */
    async function ask(call) {
      let id
      const answer = await tracer.startActiveSpan('GET /', async span => {
        id = span.spanContext().spanId
        try {
          return await request.run(caller, call)
        } finally {
          span.end()
        }
      })
      return { id, answer }
    }

    /** The names of the spans from this one up to the request. */
    function ancestors(found, span) {
      const parent = found.all.find(({ id }) => id === span.parent)
      return parent === undefined ? [span.name] : [span.name, ...ancestors(found, parent)]
    }

    const way = ['inner', 'lido.handler resize', 'lido.run resize', 'GET /']

    /** Waits for the spans of the host, which come after the answer. */
    function innerSpans({ id }, count) {
      return untilItWorks(async () => {
        const found = spans.read()
        const root = found.all.find(span => span.id === id)
        const inner = found.named('inner').filter(({ traceId }) => traceId === root.traceId)
        assert.equal(inner.length, count)
        for (const span of inner) assert.equal(ancestors(found, span).at(-1), 'GET /')
        const ways = inner.map(span =>
          ancestors(found, span).filter((name, index, all) => name !== all[index - 1]),
        )
        assert.deepEqual(ways, Array(count).fill(way))
      })
    }

    test('calls of all kinds give one trace and bring their stores', async () => {
      const run = await ask(() => pool.run(1, { name: 'resize' }))
      assert.deepEqual(run.answer, { payload: 1, request: caller })
      await innerSpans(run, 1)
      const api = await ask(() => pool.api.resize(2))
      assert.deepEqual(api.answer, { payload: 2, request: caller })
      await innerSpans(api, 1)
      const map = await ask(() => pool.map([3, 4], { name: 'resize' }))
      assert.deepEqual(
        map.answer,
        [3, 4].map(payload => ({ payload, request: caller })),
      )
      await innerSpans(map, 2)
      const enqueued = await ask(() => pool.enqueue(5, { name: 'resize' }))
      assert.deepEqual(await pool.result(enqueued.answer), { payload: 5, request: caller })
      await innerSpans(enqueued, 1)
    })

    test('a second attempt of a job stays in the trace of its caller', async () => {
      const { id, answer } = await ask(() => pool.run(undefined, { name: 'secondAttempt', attempts: 2 }))
      assert.deepEqual(answer, caller)
      await untilItWorks(async () => {
        const found = spans.read()
        const { traceId } = found.all.find(span => span.id === id)
        const handlers = found.named('lido.handler secondAttempt').filter(span => span.traceId === traceId)
        assert.deepEqual(
          handlers.map(({ exceptions }) => exceptions),
          [['the first attempt'], []],
        )
      })
    })

    test('a job without a trace has spans of its own, and no store', async () => {
      assert.deepEqual(await pool.run(1, { name: 'resize' }), { payload: 1, request: null })
    })

    test("a host continues the trace that BullMQ's telemetry writes", async () => {
      const queue = openQueue()
      const call = await ask(async () => {
        const headers = {}
        propagation.inject(context.active(), headers)
        await queue.add('resize', 1, { telemetry: { metadata: JSON.stringify(headers) } })
      })
      await innerSpans(call, 1)
    })

    test('a host ignores what no caller of lido carries', async () => {
      const queue = openQueue()
      const names = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`store ${index}`, 1]))
      const carriers = [
        'text',
        [1],
        null,
        JSON.parse('{"__proto__":{"polluted":true}}'),
        { opentelemetry: { traceparent: 1, baggage: { a: 1 } } },
        { opentelemetry: { traceparent: 'x'.repeat(9000), tracestate: 'y' } },
        { request: { $lido: 1, bytes: 'no bytes' } },
        { request: { $lido: 1, bytes: { length: 1e9 } } },
        { unknown: 1, 'lido.handler': 'x', ['n'.repeat(1000)]: 1 },
        names,
      ]
      const events = new bullmq.QueueEvents(...classArguments())
      cleanups.push(() => events.close())
      await events.waitUntilReady()
      const all = [
        ...carriers.map(carrier => ({ lido: { format: 1, carrier } })),
        ...['{', '[]', 'null', '{"traceparent":1}', 'x'.repeat(20_000), 5].map(metadata => ({
          telemetry: { metadata },
        })),
      ]
      for (const options of all) {
        const job = await queue.add('resize', 1, options)
        const result = await job.waitUntilFinished(events)
        assert.deepEqual(result, { payload: 1, request: null }, JSON.stringify(options).slice(0, 80))
      }
    })

    test('a store that cannot be sent fails the call and names the store', async () => {
      const call = () => pool.run(1, { name: 'resize' })
      const error = await rejection(request.run({ callback() {} }, call))
      assert.ok(error instanceof NotCloneableError, error)
      assert.match(error.message, /carried store 'request'\.callback/)
      const large = await rejection(request.run('x'.repeat(1_000_001), call))
      assert.ok(large instanceof ValueTooLargeError, large)
      assert.match(large.message, /The carried store 'request' takes 1000003 bytes/)
    })

    function classArguments() {
      const factory = engine.name === 'postgres' ? bullmq.createPostgresBackend : undefined
      return ['traces', { connection: server.options.connection }, factory]
    }

    function openQueue() {
      const queue = new bullmq.Queue(...classArguments())
      cleanups.push(() => queue.close())
      return queue
    }
  })
}
