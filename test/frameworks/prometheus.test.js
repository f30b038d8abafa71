// `lido/prometheus`: what a scrape of /metrics shows, as text and as Prometheus would add it up.
import assert from 'node:assert/strict'
import { execFile as execFileByCallback } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { collectPools } from 'lido/prometheus'
import prom from 'prom-client'
import { test } from '../helpers/pool-test.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'

const execFile = promisify(execFileByCallback)
const filename = new URL('./handlers/measured.js', import.meta.url)
const file = 'test/frameworks/handlers/measured.js'
process.chdir(fileURLToPath(new URL('../..', import.meta.url)))

/** Collects pools for one test. `scrape()` resolves to the values by series, as in `jobs_total{kind="plain"}`. */
function collect(t, options) {
  const register = options.register ?? new prom.Registry()
  t.after(collectPools({ register, ...options }))
  return { register, scrape: async () => valuesOf(await register.metrics()) }
}

function valuesOf(text) {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  const values = new Map(
    lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
  assert.equal(values.size, lines.length, 'a series appears twice')
  return values
}

/** Each worker runs one task. */
async function meet(pool, guests) {
  const words = sharedWords(1)
  await Promise.all(Array.from({ length: guests }, () => pool.run({ words, guests }, { name: 'meet' })))
}

test('a server shows the sum of the counters of two workers and of the host', async (open, t) => {
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, label: 'sums' })
  const register = new prom.Registry()
  const jobs = new prom.Counter({
    name: 'jobs_total',
    help: 'Jobs.',
    labelNames: ['kind'],
    registers: [register],
  })
  jobs.inc({ kind: 'meeting' }, 10)
  collect(t, { register, pools: [pool] })
  const server = createServer(async (_request, response) => {
    response.setHeader('content-type', register.contentType)
    response.end(await register.metrics())
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  await meet(pool, 2)
  await pool.map([1, 5, 50].map(size => ({ size })))
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/metrics`, {
    headers: { connection: 'close' },
  })
  const values = valuesOf(await answer.text())
  assert.equal(values.get('jobs_total{kind="meeting"}'), 12)
  assert.equal(values.get('jobs_total{kind="plain"}'), 3)
  assert.deepEqual(
    ['job_size_bucket{le="1"}', 'job_size_bucket{le="10"}', 'job_size_bucket{le="+Inf"}', 'job_size_sum'].map(
      name => values.get(name),
    ),
    [1, 2, 3, 56],
  )
  // The default metrics of a thread repeat those of the process.
  assert.deepEqual(
    [...values.keys()].filter(name => /^(process|nodejs)_/.test(name)),
    [],
  )
})

test('the metrics of a pool are those of stats(), by handler', async (open, t) => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, label: 'figures', maxQueue: 7 })
  const { scrape } = collect(t, { pools: [pool], workers: false, buckets: [0.01, 60] })
  await pool.map([1, 2, 3, 4].map(size => ({ size })))
  await assert.rejects(pool.run(null, { name: 'fails' }))
  pool.histogram.reset()
  const { runTime, waitTime, tasks } = pool.stats()
  const values = await scrape()
  const labels = handler => `pool="figures",file="${file}",handler="${handler}"`
  const near = (name, expected) => {
    const value = values.get(name)
    assert.ok(Math.abs(value - expected) < 1e-6, `${name}: ${value}, not ${expected}`)
  }
  assert.equal(values.get(`lido_tasks_total{${labels('default')},outcome="fulfilled"}`), 4)
  assert.equal(values.get(`lido_tasks_total{${labels('fails')},outcome="rejected"}`), 1)
  assert.equal(values.get('lido_tasks_accepted_total{pool="figures"}'), tasks.accepted)
  assert.equal(values.get('lido_task_wait_seconds_count{pool="figures"}'), waitTime.count)
  near('lido_task_wait_seconds_sum{pool="figures"}', (waitTime.meanMs * waitTime.count) / 1000)
  const counts = ['default', 'fails'].map(name => values.get(`lido_task_run_seconds_count{${labels(name)}}`))
  assert.deepEqual(counts, [4, 1])
  const sums = ['default', 'fails'].map(name => values.get(`lido_task_run_seconds_sum{${labels(name)}}`))
  assert.ok(Math.abs(sums[0] + sums[1] - (runTime.meanMs * 5) / 1000) < 1e-6)
  assert.equal(values.get(`lido_task_run_seconds_bucket{le="60",${labels('default')}}`), 4)
  assert.equal(values.get('lido_queue_limit{pool="figures"}'), 7)
  assert.equal(values.get('lido_workers{pool="figures",state="ready"}'), 1)
})

test('the buckets of a histogram count each duration once, at its place', async (open, t) => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, label: 'buckets' })
  const gate = sharedWords(2)
  const { scrape } = collect(t, { pools: [pool], workers: false, buckets: [0.000001, 0.05, 100] })
  const slow = pool.run({ gate }, { name: 'blocks' })
  await reached(gate, 0)
  const began = performance.now()
  while (performance.now() - began < 60);
  set(gate, 1)
  await slow
  const values = await scrape()
  const buckets = ['0.000001', '0.05', '100', '+Inf'].map(le =>
    values.get(`lido_task_run_seconds_bucket{le="${le}",pool="buckets",file="${file}",handler="blocks"}`),
  )
  assert.deepEqual(buckets, [0, 0, 1, 1])
})

for (const backend of ['thread', 'process']) {
  test(`a counter never falls when workers are replaced, and counts until their end (${backend})`, async (open, t) => {
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, backend })
    const { scrape } = collect(t, { pools: [pool] })
    await pool.run()
    assert.equal((await scrape()).get('jobs_total{kind="plain"}'), 1)
    for (let round = 2; round <= 4; round++) {
      await pool.run()
      // This task is in no scrape before the worker ends.
      await pool.recycle()
      const values = await scrape()
      assert.equal(values.get('jobs_total{kind="plain"}'), round)
      assert.equal(values.get('job_size_count'), round)
      assert.equal(values.get('open_files') ?? 0, 0)
    }
    await pool.run()
    await scrape()
    await pool.workers[0].terminate()
    assert.equal((await scrape()).get('jobs_total{kind="plain"}'), 5)
    await pool.close()
    assert.equal((await scrape()).get('jobs_total{kind="plain"}'), 5)
  })
}

test('a worker that is stuck does not hold up a scrape, and keeps its last values', async (open, t) => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const gate = sharedWords(2)
  const { scrape } = collect(t, { pools: [pool], timeout: 50 })
  await pool.run()
  await scrape()
  const stuck = pool.run({ gate }, { name: 'blocks' })
  await reached(gate, 0)
  for (let count = 0; count < 3; count++) {
    const values = await scrape()
    assert.equal(values.get('jobs_total{kind="plain"}'), 1)
    assert.equal(values.get('jobs_total{kind="blocking"}'), undefined)
  }
  set(gate, 1)
  await stuck
  while ((await scrape()).get('jobs_total{kind="blocking"}') !== 1);
})

test('by default all pools of the thread count, pools with one label together, and closed pools in the totals', async (open, t) => {
  const early = open({ filename, maxWorkers: 1, label: 'shared' })
  await early.run()
  const { scrape } = collect(t, { workers: false })
  const late = open({ filename, maxWorkers: 2, label: 'shared' })
  await Promise.all([late.run(), late.run()])
  const series = `lido_tasks_total{pool="shared",file="${file}",handler="default",outcome="fulfilled"}`
  const before = await scrape()
  assert.equal(before.get(series), 3)
  assert.equal(before.get('lido_slots{pool="shared"}'), 3)
  assert.equal(before.get('lido_pools{pool="shared"}'), 2)
  await early.run()
  await early.close()
  const after = await scrape()
  assert.equal(after.get(series), 4)
  assert.equal(after.get('lido_pools{pool="shared"}'), 1)
  assert.equal(after.get('lido_slots{pool="shared"}'), 2)
  await late.close()
  assert.equal((await scrape()).get(series), 4)
})

test('an OpenMetrics register gets names without a second ending', async (open, t) => {
  const pool = open({ filename, maxWorkers: 1, label: 'open' })
  const register = new prom.Registry(prom.Registry.OPENMETRICS_CONTENT_TYPE)
  collect(t, { register, pools: [pool] })
  await pool.run()
  for (let times = 0; times < 2; times++) {
    const text = await register.metrics()
    assert.match(text, /^# TYPE jobs counter\njobs_total\{kind="plain"\} 1$/m)
    assert.match(text, /^# TYPE lido_tasks_accepted counter\nlido_tasks_accepted_total\{pool="open"\} 1$/m)
    assert.doesNotMatch(text, /_total_total/)
    assert.ok(text.endsWith('# EOF\n'))
  }
})

test('waiting_for names the reason why tasks wait', async (open, t) => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, label: 'waits' })
  const gate = sharedWords(2)
  const { scrape } = collect(t, { pools: [pool], workers: false })
  const first = pool.run({ gate }, { name: 'blocks' })
  await reached(gate, 0)
  const second = pool.run()
  const values = await scrape()
  assert.equal(values.get('lido_waiting_for{pool="waits",reason="all busy"}'), 1)
  assert.equal(values.get('lido_waiting_for{pool="waits",reason="circuit open"}'), 0)
  assert.equal(values.get('lido_queue_size{pool="waits"}'), 1)
  assert.ok(values.get('lido_queue_oldest_seconds{pool="waits"}') > 0)
  set(gate, 1)
  await Promise.all([first, second])
})

test('hosts and queues of lido/bullmq have metrics, and a server that does not answer costs only the time limit', async (_open, t) => {
  const host = {
    stats: () => ({
      queue: 'jobs',
      overload: 'memory',
      concurrency: 4,
      active: 3,
      completed: 5,
      failed: 1,
      givenBack: 2,
    }),
    health: async () => ({}),
  }
  let counts = async () => ({ waiting: 6, running: 3, oldestWaitingMs: 1500 })
  const queue = { stats: () => ({ label: 'jobs' }), counts: () => counts() }
  const { scrape } = collect(t, { pools: [], hosts: [host], queues: [queue], timeout: 20 })
  const values = await scrape()
  assert.equal(values.get('lido_host_jobs_active{queue="jobs"}'), 3)
  assert.equal(values.get('lido_host_jobs_total{queue="jobs",outcome="given back"}'), 2)
  assert.equal(values.get('lido_host_overloaded{queue="jobs"}'), 1)
  assert.equal(values.get('lido_queue_jobs_waiting{queue="jobs"}'), 6)
  assert.equal(values.get('lido_queue_oldest_waiting_seconds{queue="jobs"}'), 1.5)
  for (const fails of [() => Promise.reject(new Error('no')), () => new Promise(() => {})]) {
    counts = fails
    assert.equal((await scrape()).get('lido_queue_jobs_waiting{queue="jobs"}'), undefined)
  }
})

test('a second collection of one register is refused, until the first one is stopped', async () => {
  const register = new prom.Registry()
  const stop = collectPools({ register })
  assert.throws(() => collectPools({ register, prefix: 'other_' }), {
    name: 'InvalidOptionError',
    message: /already collects pools\. Call the function that the first collectPools\(\) returned/,
  })
  stop()
  assert.equal((await register.metrics()).trim(), '')
  const again = collectPools({ register })
  stop()
  assert.match(await register.metrics(), /lido_tasks_waiting/)
  again()
})

test('collectPools() refuses wrong options with what they must be', () => {
  for (const [options, message] of [
    [{ register: {} }, /'register' of collectPools\(\) must be a Registry of prom-client/],
    [{ prefix: 'my-pools' }, /'prefix' of collectPools\(\) must be letters, digits and underscores/],
    [{ pools: [{}] }, /'pools' of collectPools\(\) must be an array of pools/],
    [{ buckets: [2, 1] }, /'buckets' of collectPools\(\) must be an array of ascending numbers/],
    [{ registry: prom.register }, /Unknown option 'registry' for collectPools\(\)\. Use 'register'\./],
  ])
    assert.throws(() => collectPools(options), { name: 'InvalidOptionError', message })
})

test('a program that imports only lido loads no other package', async () => {
  const program = `
    import { createRequire } from 'node:module'
    import { Pool } from 'lido'
    const pool = new Pool({ filename: ${JSON.stringify(fileURLToPath(new URL('../fixtures/handlers/echo.js', import.meta.url)))} })
    await pool.run(1)
    await pool.close()
    const files = Object.keys(createRequire(import.meta.url).cache)
    console.log(files.filter(file => /[\\\\/]node_modules[\\\\/]/.test(file)).length, files.length > 0)`
  const { stdout } = await execFile(process.execPath, ['--input-type=module', '--eval', program])
  assert.equal(stdout.trim(), '0 true')
})
