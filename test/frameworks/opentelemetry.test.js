// lido/opentelemetry with OpenTelemetry's own SDK, in the program and in its workers.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InvalidOptionError } from 'lido'
import { LidoInstrumentation } from 'lido/opentelemetry'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { sharedWords } from '../helpers/shared-words.js'
import { instrumentation } from './otel/instrumentation.js'
import { recordSpans } from './otel/spans.js'

const filename = new URL('./handlers/traced.js', import.meta.url)
const setUp = new URL('./otel/instrumentation.js', import.meta.url).href
const execArgv = ['--import', setUp]
const tracer = trace.getTracer('program')

/** Runs the function in a span, as a server runs a request. */
const request = (name, respond) =>
  tracer.startActiveSpan(name, async span => {
    try {
      return await respond()
    } finally {
      span.end()
    }
  })

const backends = {
  thread: { execArgv },
  'thread with messages': { execArgv, transport: 'messages' },
  process: { backend: 'process', execArgv },
  inline: { backend: 'inline' },
}

for (const [backend, options] of Object.entries(backends)) {
  test(`three parallel requests give three trees of spans (backend: ${backend})`, async (open, t) => {
    const spans = recordSpans(t)
    const pool = open({ filename, maxWorkers: 2, concurrentTasksPerWorker: 2, ...options })
    const numbers = [1, 2, 3]
    const answers = numbers.map(number =>
      request(`GET /${number}`, async () => {
        const [one, two, many, pages] = await Promise.all([
          pool.run(number, { name: 'resize' }),
          pool.api.resize(number),
          pool.map([number, number], { name: 'resize' }),
          collect(pool.stream(2, { name: 'pages' })),
        ])
        return [one, two, ...many, ...pages]
      }),
    )
    assert.deepEqual(
      await Promise.all(answers),
      numbers.map(number => [number, number, number, number, 0, 1]),
    )
    const found = spans.read()
    const resize = { 'lido.run resize': [{ 'lido.handler resize': [{ inner: [] }] }] }
    const pages = { 'lido.run pages': [{ 'lido.handler pages': [{ inner: [] }, { inner: [] }] }] }
    for (const number of numbers) {
      const root = found.one(`GET /${number}`)
      const trees = found.below(root).map(span => found.tree(span))
      trees.sort((a, b) => Object.keys(b)[0].localeCompare(Object.keys(a)[0]))
      assert.deepEqual(trees, [resize, resize, resize, resize, pages])
      assert.equal(found.all.filter(({ traceId }) => traceId === root.traceId).length, 1 + 4 * 3 + 4)
    }
    assert.equal(
      found.named('lido.run resize').every(({ kind }) => kind === SpanKind.INTERNAL),
      true,
    )
  })
}

test('the spans have the attributes of the conventions and those of the pool', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename, maxWorkers: 1, label: 'images', execArgv })
  const threadId = await pool.run(undefined, { name: 'thread' })
  const found = spans.read()
  const [run, handler] = [found.one('lido.run thread'), found.one('lido.handler thread')]
  const both = {
    'code.function.name': 'thread',
    'code.file.path': run.attributes['code.file.path'],
    'lido.pool.name': 'images',
    'lido.pool.id': run.attributes['lido.pool.id'],
    'lido.task.id': run.attributes['lido.task.id'],
    'lido.worker.id': 1,
  }
  assert.equal(pathToFileURL(both['code.file.path']).href, filename.href)
  assert.deepEqual(handler.attributes, { ...both, 'thread.id': threadId, 'thread.name': 'images' })
  const waitTime = run.attributes['lido.task.wait_time']
  assert.deepEqual(run.attributes, {
    ...both,
    'thread.id': 0,
    'lido.task.attempt': 1,
    'lido.task.outcome': 'fulfilled',
    'lido.task.wait_time': waitTime,
  })
  assert.ok(
    waitTime > 0 && waitTime * 1000 <= run.end - run.start + 1,
    `${waitTime} s of ${run.end - run.start} ms`,
  )
})

for (const name of ['fails', 'failsLater']) {
  test(`an error is recorded once, at the span of the handler '${name}'`, async (open, t) => {
    const spans = recordSpans(t)
    const pool = open({ filename, maxWorkers: 1, execArgv })
    await rejection(pool.run(undefined, { name }))
    const found = spans.read()
    const [run, handler] = [found.one(`lido.run ${name}`), found.one(`lido.handler ${name}`)]
    for (const { status, attributes } of [run, handler]) {
      assert.deepEqual(status, { code: SpanStatusCode.ERROR, message: 'bad picture' })
      assert.equal(attributes['error.type'], 'TypeError')
    }
    assert.deepEqual([run.exceptions, handler.exceptions], [[], ['bad picture']])
  })
}

test('a killed worker leaves the span of the call with the error', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, execArgv })
  pool.on('error', () => {})
  const started = sharedWords(1)
  const call = rejection(pool.run(started, { name: 'waits' }))
  // A task that has not started would go to another worker.
  while (started[0] === 0) await new Promise(setImmediate)
  await pool.workers[0].terminate()
  const error = await call
  const run = spans.read().one('lido.run waits')
  assert.equal(run.attributes['error.type'], error.name)
  assert.equal(run.attributes['lido.task.outcome'], 'rejected')
  assert.deepEqual(run.status, { code: SpanStatusCode.ERROR, message: error.message })
  assert.deepEqual(run.exceptions, [error.message])
  assert.deepEqual(spans.read().named('lido.handler waits'), [])
})

test('a retry after the death of a worker stays in the trace of its caller', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename, maxWorkers: 1, execArgv })
  await request('GET /', () =>
    pool.run(sharedWords(1), { name: 'diesOnce', retry: { attempts: 2, when: () => true } }),
  )
  const found = spans.read()
  const run = found.one('lido.run diesOnce')
  assert.equal(run.parent, found.one('GET /').id)
  assert.equal(run.attributes['lido.task.attempt'], 2)
  assert.equal(found.one('lido.handler diesOnce').parent, run.id)
  // The span in the first worker had ended before the worker did.
  assert.equal(found.named('inner').length, 2)
})

test('a cancelled call has no status of an error, and a time limit has one', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename, maxWorkers: 1, execArgv, cancelGrace: 0 })
  const controller = new AbortController()
  const cancelled = rejection(pool.run(undefined, { name: 'waits', signal: controller.signal }))
  controller.abort()
  await cancelled
  await rejection(pool.run(undefined, { name: 'waits', timeout: 1 }))
  const [first, second] = spans.read().named('lido.run waits')
  assert.equal(first.status.code, SpanStatusCode.UNSET)
  assert.equal(first.attributes['error.type'], 'AbortError')
  assert.equal(second.status.code, SpanStatusCode.ERROR)
  assert.equal(second.attributes['error.type'], 'TimeoutError')
  assert.deepEqual(
    [first, second].map(({ attributes }) => attributes['lido.task.outcome']),
    ['cancelled', 'cancelled'],
  )
})

test('waitSpan adds a span that begins with the call and ends where the worker starts', async (open, t) => {
  const spans = recordSpans(t)
  configure(t, { waitSpan: true })
  const pool = open({ filename, maxWorkers: 1, execArgv })
  await pool.run(1, { name: 'resize' })
  const found = spans.read()
  const run = found.one('lido.run resize')
  const wait = found.one('lido.wait resize')
  assert.equal(wait.parent, run.id)
  assert.ok(Math.abs(wait.start - run.start) <= 1, `${wait.start} ${run.start}`)
  const waitMs = run.attributes['lido.task.wait_time'] * 1000
  assert.ok(Math.abs(wait.end - wait.start - waitMs) < 0.01, `${wait.end - wait.start} ${waitMs}`)
})

test('minRunMs drops the span of a short handler, and keeps it where it is needed', async (open, t) => {
  const spans = recordSpans(t)
  const env = { ...process.env, LIDO_OTEL: '{"minRunMs":40}' }
  const pool = open({ filename, maxWorkers: 1, execArgv, env })
  for (const name of ['quick', 'resize', 'activeSpan']) await pool.run(1, { name })
  await pool.run(50, { name: 'lasts' })
  await rejection(pool.run(1, { name: 'fails' }))
  const found = spans.read()
  assert.deepEqual(found.below(found.one('lido.run quick')), [])
  // A library has a span below it.
  assert.equal(found.one('inner').parent, found.one('lido.handler resize').id)
  assert.equal(found.one('lido.handler activeSpan').parent, found.one('lido.run activeSpan').id)
  const { start, end, parent } = found.one('lido.handler lasts')
  assert.equal(parent, found.one('lido.run lasts').id)
  assert.ok(end - start >= 49, `${end - start} ms`)
  assert.deepEqual(found.one('lido.handler fails').exceptions, ['bad picture'])
})

test('handlerSpans: false puts the spans of libraries below the span of the call', async (open, t) => {
  const spans = recordSpans(t)
  const env = { ...process.env, LIDO_OTEL: '{"handlerSpans":false}' }
  const pool = open({ filename, maxWorkers: 1, execArgv, env })
  configure(t, { handlerSpans: false })
  await pool.run(1, { name: 'resize' })
  await rejection(pool.run(1, { name: 'fails' }))
  const found = spans.read()
  assert.deepEqual(found.tree(found.one('lido.run resize')), { 'lido.run resize': [{ inner: [] }] })
  assert.deepEqual(found.one('lido.run fails').exceptions, ['bad picture'])
})

test('two enabled instrumentations give one set of spans, and none gives no span', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename, maxWorkers: 1, execArgv })
  const second = new LidoInstrumentation()
  t.after(() => {
    second.disable()
    instrumentation.enable()
  })
  await pool.run(1, { name: 'quick' })
  assert.deepEqual(spans.read().names(), ['lido.handler quick', 'lido.run quick'])
  instrumentation.disable()
  await pool.run(1, { name: 'quick' })
  assert.equal(spans.read().all.length, 4)
  second.disable()
  await pool.run(1, { name: 'quick' })
  assert.equal(spans.read().all.length, 4)
  // A task that has started without a span has none later.
  const half = pool.run(1, { name: 'quick' })
  second.enable()
  await half
  assert.equal(spans.read().all.length, 4)
  await pool.run(1, { name: 'quick' })
  assert.equal(spans.read().all.length, 6)
})

test('a planned end of a worker flushes its spans', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, execArgv })
  await pool.ready()
  await pool.recycle()
  assert.equal(spans.read().named('flush').length, 2)
  await pool.close()
  assert.equal(spans.read().named('flush').length, 4)
})

test('metrics count the tasks and the workers of a pool', async (open, t) => {
  recordSpans(t)
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  instrumentation.setMeterProvider(new MeterProvider({ readers: [reader] }))
  t.after(() => {
    instrumentation.setMeterProvider(metrics.getMeterProvider())
    return reader.shutdown()
  })
  const pools = ['images', 'images', 'texts'].map(label =>
    open({ filename, minWorkers: 1, maxWorkers: 1, label, cancelGrace: 0 }),
  )
  const [pool, , texts] = pools
  await Promise.all(pools.map(each => each.ready()))
  for (const value of [1, 2, 3]) await pool.run(value, { name: 'resize' })
  await rejection(pool.run(1, { name: 'fails' }))
  const running = rejection(texts.run(undefined, { name: 'waits' }))
  while (texts.workers[0].usage !== 1) await new Promise(setImmediate)
  const waiting = rejection(texts.run(undefined, { name: 'waits' }))
  await collect()
  const about = {
    'lido.pool.name': 'images',
    'code.function.name': 'resize',
    'lido.task.outcome': 'fulfilled',
  }
  for (const name of ['lido.task.wait_time', 'lido.task.run_time']) {
    const { unit, points } = metric(name)
    assert.equal(unit, 's')
    const { count, sum } = points.find(
      ({ attributes }) => attributes['code.function.name'] === 'resize',
    ).value
    assert.equal(count, 3)
    assert.ok(sum > 0 && sum < 60, `${sum} s`)
    assert.deepEqual(points[0].attributes, about)
    const failed = { ...about, 'code.function.name': 'fails', 'lido.task.outcome': 'rejected' }
    assert.deepEqual(points[1].attributes, failed)
  }
  assert.deepEqual(ownValues('lido.task.pending'), { images: 0, texts: 1 })
  assert.deepEqual(ownValues('lido.worker.count', 'lido.worker.state'), {
    'images starting': 0,
    'images idle': 2,
    'images busy': 0,
    'texts starting': 0,
    'texts idle': 0,
    'texts busy': 1,
  })
  const closed = once(texts, 'close')
  await texts.destroy()
  await Promise.all([running, waiting, closed])
  await pool.close()
  await collect()
  assert.deepEqual(ownValues('lido.worker.exits', 'lido.worker.exit.reason'), {
    'images close': 1,
    'texts destroy': 1,
  })
  assert.deepEqual(ownValues('lido.task.pending'), { images: 0, texts: 0 })

  async function collect() {
    exporter.reset()
    await reader.forceFlush()
  }

  function metric(name) {
    const [{ scopeMetrics }] = exporter.getMetrics()
    const { descriptor, dataPoints } = scopeMetrics[0].metrics.find(
      ({ descriptor }) => descriptor.name === name,
    )
    return { unit: descriptor.unit, points: dataPoints }
  }

  /** Without the pools of other tests, whose series stay. */
  function ownValues(name, ...more) {
    const { points } = metric(name)
    const keyOf = attributes => ['lido.pool.name', ...more].map(key => attributes[key]).join(' ')
    const own = points.filter(({ attributes }) => attributes['lido.pool.name'] !== 'lido')
    return Object.fromEntries(own.map(({ attributes, value }) => [keyOf(attributes), value]))
  }
})

test('names of handlers beyond 256 count as one in metrics', async (open, t) => {
  recordSpans(t)
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  const provider = new MeterProvider({ readers: [reader] })
  const { pool, own } = await withOwnInstrumentation(open, t, provider)
  const names = Array.from({ length: 258 }, (_, index) => `handler ${index}`)
  await Promise.all(names.map(name => rejection(pool.run(undefined, { name }))))
  await reader.forceFlush()
  const [{ scopeMetrics }] = exporter.getMetrics()
  const { dataPoints } = scopeMetrics[0].metrics.find(
    ({ descriptor }) => descriptor.name === 'lido.task.run_time',
  )
  const others = dataPoints.filter(({ attributes }) => attributes['code.function.name'] === 'other')
  assert.deepEqual([dataPoints.length, others.length, others[0].value.count], [257, 1, 2])
  own.disable()
  await reader.shutdown()
})

test('the instrumentation works in a program without an SDK', async () => {
  const { exitCode, output, errors } = await runProgram(`
    import { LidoInstrumentation } from '${import.meta.resolve('lido/opentelemetry')}'
    new LidoInstrumentation({ waitSpan: true })
    const pool = new Pool({ filename: handler('echo.js') })
    console.log(await pool.run('echo'))
    await pool.close()`)
  assert.deepEqual({ exitCode, output, errors }, { exitCode: 0, output: 'echo\n', errors: '' })
})

for (const backend of ['thread', 'process']) {
  test(`--import of an instrumentation traces the program and its workers (backend: ${backend})`, async (_open, t) => {
    const spans = recordSpans(t)
    const { exitCode, errors } = await runProgram(
      `const pool = new Pool({ filename: '${filename}', backend: '${backend}' })
      await pool.run(1, { name: 'resize' })
      await pool.close()`,
      { nodeArguments: ['--import', setUp] },
    )
    assert.deepEqual({ exitCode, errors }, { exitCode: 0, errors: '' })
    const found = spans.read()
    const tree = { 'lido.run resize': [{ 'lido.handler resize': [{ inner: [] }] }] }
    assert.deepEqual(found.tree(found.one('lido.run resize')), tree)
    assert.equal(found.named('flush').length, 1)
  })
}

test('the module of a handler may import the instrumentation', async (open, t) => {
  const spans = recordSpans(t)
  const pool = open({ filename: new URL('./otel/own-instrumentation.js', import.meta.url), maxWorkers: 1 })
  await pool.run(1, { name: 'resize' })
  const found = spans.read()
  const tree = { 'lido.run resize': [{ 'lido.handler resize': [{ inner: [] }] }] }
  assert.deepEqual(found.tree(found.one('lido.run resize')), tree)
})

test('the program lido loads no part of OpenTelemetry', async () => {
  const { output } = await runProgram(`
    import { createRequire } from 'node:module'
    const { cache } = createRequire(import.meta.url)
    const pool = new Pool({ filename: handler('echo.js'), backend: 'inline' })
    await pool.run(1)
    await pool.close()
    console.log(Object.keys(cache).filter(file => file.includes('opentelemetry')).length)`)
  assert.equal(output, '0\n')
})

test('options are checked, and the version is that of the package', () => {
  const create = options => () => new LidoInstrumentation({ enabled: false, ...options })
  assert.throws(create({ minRunMs: -1 }), InvalidOptionError)
  assert.throws(create({ minRunMS: 1 }), /Did you mean 'minRunMs'\?/)
  assert.throws(() => new LidoInstrumentation([]), InvalidOptionError)
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.equal(create()().instrumentationVersion, version)
})

async function collect(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** Changes options of the program's instrumentation until the test ends. */
function configure(t, options) {
  const before = instrumentation.getConfig()
  instrumentation.setConfig(options)
  t.after(() => instrumentation.setConfig(before))
}

/** A pool that an instrumentation of the test alone measures. */
async function withOwnInstrumentation(open, t, provider) {
  instrumentation.disable()
  const own = new LidoInstrumentation()
  own.setMeterProvider(provider)
  t.after(() => instrumentation.enable())
  return { own, pool: open({ filename, maxWorkers: 1 }) }
}
