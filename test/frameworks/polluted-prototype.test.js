// Options are own fields, at every entry point. Each test gives `Object.prototype` all names of options: the names in the reference of
// lido, and the names that Node reads when it starts a worker. A read of such a field by lido, or by Node for lido, fails the test.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import Fastify from 'fastify'
import { Pool } from 'lido'
import { fastifyJson, fastifyNdjson, jsonReader, ndjsonReader, runFor } from 'lido/body'
import { processor, RemotePool, serve } from 'lido/bullmq'
import fastifyPool, { healthCheck } from 'lido/fastify'
import { getPoolToken, PoolHealthIndicator, PoolModule } from 'lido/nestjs'
import Piscina, { ArrayTaskQueue } from 'lido/piscina'
import { Tinypool } from 'lido/tinypool'
import workerpool from 'lido/workerpool'
import { handler } from '../helpers/handler.js'
import { openNest } from './nestjs-app.js'

/** The names in the first column of all tables of options. */
function documentedNames() {
  const folder = new URL('../../docs/reference/', import.meta.url)
  const pages = readdirSync(folder).map(page => readFileSync(new URL(page, folder), 'utf8'))
  const tables = pages.flatMap(page => page.match(/^\| option \|.*\n(?:\|.*\n)+/gm) ?? [])
  const cells = tables.flatMap(table => table.match(/^\|[^|]*\|/gm))
  return cells.flatMap(cell => cell.match(/(?<=`)\w+(?=`)/g) ?? [])
}

const furtherNames = [
  // `new Worker()`, `spawn()` and `EventEmitterAsyncResource` of Node.
  ...[
    'argv0',
    'captureRejections',
    'cwd',
    'detached',
    'eval',
    'execPath',
    'gid',
    'killSignal',
    'serialization',
  ],
  ...[
    'shell',
    'silent',
    'stderr',
    'stdin',
    'stdio',
    'stdout',
    'uid',
    'windowsHide',
    'windowsVerbatimArguments',
  ],
  ...['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb', 'NODE_OPTIONS'],
  // Options in the text of the reference.
  ...[
    'abortListenerTimeout',
    'channel',
    'delay',
    'force',
    'jobId',
    'itemsPerJob',
    'metadata',
    'on',
    'onTerminate',
  ],
  ...['age', 'count', 'failures', 'period', 'script', 'when'],
]
const names = [...new Set([...documentedNames(), ...furtherNames])]

const ownCode = new URL('../../dist/', import.meta.url)
const starts = /node:internal\/worker:|node:(?:internal\/)?child_process:/

/** The options of BullMQ and of the frameworks are their own. */
function isReader(frame) {
  return frame.includes(ownCode.href) || frame.includes(fileURLToPath(ownCode)) || starts.test(frame)
}

/** Resolves to the inherited fields that were read, each with the first frames of the stack. */
async function readsWhile(use) {
  const reads = new Set()
  for (const name of names) {
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      enumerable: true,
      get() {
        const [, , ...frames] = new Error(name).stack.split('\n')
        if (isReader(frames[0])) reads.add([name, ...frames.slice(0, 3)].join('\n'))
        return undefined
      },
      set(value) {
        Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true })
      },
    })
  }
  try {
    await use()
  } finally {
    for (const name of names) delete Object.prototype[name]
  }
  return [...reads]
}

const filename = handler('jobs.js')
const path = fileURLToPath(filename)

async function usePool(backend) {
  const pool = new Pool({ filename, backend, maxWorkers: 1 })
  const name = 'echo'
  assert.equal(await pool.run(1, { name }), 1)
  assert.equal(await pool.api.add(1, 2), 3)
  assert.equal(await pool.with({}).api.add(1, 2), 3)
  assert.deepEqual(await pool.map([1, 2], { name }).toArray(), [1, 2])
  assert.deepEqual(await pool.broadcast(1, { name }), [1])
  await pool
    .stream(1, { name })
    .next()
    .catch(() => {})
  const { writable } = pool.transform({ name })
  await writable.abort().catch(() => {})
  await pool.run(1, { name: 'throws' }).catch(() => {})
  if (backend !== 'inline') await pool.run(1, { name: 'dies' }).catch(() => {})
  await pool.room({})
  pool.resize({})
  pool.stats()
  const shared = pool.share([1])
  assert.deepEqual(await pool.run(shared, { name }), [1])
  await pool.recycle()
  await pool.close({})
}

async function useTinypool(runtime) {
  const pool = new Tinypool({ filename: path, runtime, maxThreads: 1 })
  assert.equal(await pool.run(1, { name: 'echo' }), 1)
  assert.equal(await pool.run(1, { name: 'echo', signal: new AbortController().signal }), 1)
  await pool.recycleWorkers({})
  await pool.destroy()
  const other = new Tinypool({ filename: path, runtime, taskQueue: new ArrayTaskQueue() })
  assert.equal(await other.run(1, { name: 'echo' }), 1)
  await other.destroy()
}

async function useWorkerpool(workerType) {
  const pool = workerpool.pool({ workerType, maxWorkers: 1 })
  assert.equal(await pool.exec((left, right) => left + right, [1, 2], {}), 3)
  await pool.terminate()
  const onCreateWorker = () => ({ forkOpts: {}, workerThreadOpts: { resourceLimits: {} } })
  const other = workerpool.pool({ workerType, onCreateWorker, queueStrategy: 'lifo' })
  assert.equal(await other.exec(() => 1), 1)
  await other.terminate()
}

/** Sends a JSON body to a server, and resolves to the answer. */
async function post(port, body, type = 'application/json') {
  const url = `http://127.0.0.1:${port}/`
  return await (await fetch(url, { method: 'POST', body, headers: { 'content-type': type } })).text()
}

async function useBody() {
  const pool = new Pool({ filename, maxWorkers: 1 })
  const readers = [jsonReader({ threshold: 0 }), ndjsonReader({ threshold: 0 })]
  const server = createServer(async (request, response) => {
    const isJson = request.headers['content-type'] === 'application/json'
    const body = await readers[isJson ? 0 : 1](request)
    response.end(JSON.stringify(await runFor(request, pool, body, { name: 'echo' })))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  assert.equal(await post(server.address().port, '{"a":1}'), '{"a":1}')
  assert.equal(await post(server.address().port, '1\n2\n', 'application/x-ndjson'), '[1,2]')
  server.closeAllConnections()
  await Promise.all([...readers, pool].map(part => part.close()))
  await new Promise(closed => server.close(closed))
}

async function useFastify() {
  const app = Fastify({ forceCloseConnections: true })
  app.register(fastifyPool, { filename, maxWorkers: 1 })
  app.register(fastifyJson, { threshold: 0 })
  app.register(fastifyNdjson, { threshold: 0 })
  app.register(async scope => {
    scope.post('/', request => request.pool.run(request.body, { name: 'echo' }))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  assert.equal(await post(app.server.address().port, '{"a":1}'), '{"a":1}')
  await healthCheck({})(app)
  await app.close()
}

async function useNest(t) {
  const imports = [
    PoolModule.forRootAsync({ useFactory: () => ({ filename, maxWorkers: 1 }) }),
    PoolModule.forFeature({ as: 'images', filename, maxWorkers: 1 }),
  ]
  PoolModule.forRoot({ filename })
  const app = await openNest(t, { imports })
  assert.equal(await app.get(getPoolToken(), { strict: false }).run(1, { name: 'echo' }), 1)
  app.get(PoolHealthIndicator, { strict: false }).check('pool', {})
  await app.close()
}

/** No server runs at this address. The options are read before the first connection. */
async function useQueue() {
  const options = { engine: 'redis', connection: { host: '127.0.0.1', port: 1, maxRetriesPerRequest: null } }
  const remote = new RemotePool('jobs', { ...options, connectTimeout: 100 })
  await remote.run(1, {}).catch(() => {})
  await remote
    .with({})
    .api.add(1, 2)
    .catch(() => {})
  await remote.enqueue(1, {}).catch(() => {})
  await remote.result('id', {}).catch(() => {})
  await remote
    .map([1], {})
    .toArray()
    .catch(() => {})
  await remote.room({})
  await remote.close({})
  const pool = new Pool({ filename, maxWorkers: 1 })
  // The table has read all options when it refuses the last one.
  assert.throws(() => serve('jobs', pool, { ...options, prefetch: -1 }), /'prefetch'/)
  const job = { id: '1', name: 'echo', data: 1, opts: {}, attemptsMade: 0, log() {}, updateProgress() {} }
  assert.equal(await processor(pool, {})(job, ''), 1)
  assert.equal(await processor(pool, {})({ ...job, opts: { lido: { format: 1 } } }, ''), 1)
  await pool.close()
}

const entryPoints = {
  'a pool of threads': () => usePool('thread'),
  'a pool of processes': () => usePool('process'),
  'an inline pool': () => usePool('inline'),
  async 'lido/piscina'() {
    const pool = new Piscina({ filename: path, taskQueue: new ArrayTaskQueue() })
    assert.equal(await pool.run(1, { name: 'echo' }), 1)
    await pool.close({})
  },
  'lido/tinypool with threads': () => useTinypool('worker_threads'),
  'lido/tinypool with processes': () => useTinypool('child_process'),
  'lido/workerpool with threads': () => useWorkerpool('thread'),
  'lido/workerpool with processes': () => useWorkerpool('process'),
  'lido/body': useBody,
  'lido/fastify': useFastify,
  'lido/nestjs': useNest,
  'lido/bullmq': useQueue,
}

for (const [entryPoint, use] of Object.entries(entryPoints)) {
  test(`${entryPoint} reads only own fields of options`, async t => {
    assert.deepEqual(await readsWhile(() => use(t)), [])
  })
}

test('the tests notice the inherited fields that Node reads', async () => {
  const reads = await readsWhile(async () => {
    await once(new Worker('', { eval: true, resourceLimits: {} }), 'exit')
    await once(spawn(process.execPath, ['--version'], { env: {}, stdio: 'ignore' }), 'exit')
  })
  const found = reads.map(read => read.split('\n')[0])
  for (const name of ['env', 'execArgv', 'stackSizeMb', 'NODE_OPTIONS']) assert.ok(found.includes(name), name)
})
