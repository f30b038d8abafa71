// The metrics of handlers, and the warnings about handlers that do not benefit from a worker.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'

const filename = handler('metered.js')
/** The number of measured tasks that make a reliable mean. */
const ENOUGH = 600

/** The codes of warnings that name an export of the file, from now to the end of the test. */
function listen(t) {
  const heard = []
  const listener = ({ code, message }) => {
    const name = /^Pool 'lido': The handler '(\w+)' of /.exec(message)?.[1]
    if (name !== undefined) heard.push(`${name} ${code}`)
  }
  process.on('warning', listener)
  t.after(() => process.off('warning', listener))
  return heard
}

async function runUntil(isEnough, pool, name, payload) {
  while (!isEnough()) await pool.run(payload, { name })
}

function figuresOf(pool, name) {
  return pool.stats().handlers.find(figures => figures.name === name)
}

for (const [backend, waits] of [
  ['thread', 'waitsInThread'],
  ['process', 'waitsInProcess'],
]) {
  test(`a handler that waits causes one warning, and a handler that computes causes none (backend: ${backend})`, async (open, t) => {
    const heard = listen(t)
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, backend })
    await runUntil(() => heard.length > 0, pool, waits)
    const waiting = figuresOf(pool, waits)
    assert.equal(waiting.filename, fileURLToPath(filename))
    assert.ok(waiting.measured >= 20 && waiting.runMs >= 28, JSON.stringify(waiting))
    assert.ok(waiting.activeMs < waiting.runMs / 5, JSON.stringify(waiting))
    await runUntil(() => figuresOf(pool, 'computes')?.measured >= 20, pool, 'computes')
    const computing = figuresOf(pool, 'computes')
    assert.equal(computing.cpuMs === null, process.threadCpuUsage === undefined)
    assert.ok(computing.activeMs > computing.runMs / 2, JSON.stringify(computing))
    await runUntil(() => figuresOf(pool, waits).measured >= waiting.measured + 20, pool, waits)
    assert.deepEqual(heard, [`${waits} LIDO_WAITING_HANDLER`])
  })
}

test('two pools with the same handler cause one warning', async (open, t) => {
  const heard = listen(t)
  for (let count = 0; count < 2; count++) {
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
    await runUntil(() => figuresOf(pool, 'waitsAlone')?.measured >= 22, pool, 'waitsAlone')
    await pool.close()
  }
  assert.deepEqual(heard, ['waitsAlone LIDO_WAITING_HANDLER'])
})

for (const transport of ['shared-memory', 'messages']) {
  test(`every long task after the first is measured beside many short tasks (transport: ${transport})`, async open => {
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, transport })
    for (let round = 0; round < 24; round++) {
      for (let tiny = 0; tiny < 20; tiny++) await pool.run(tiny, { name: 'echoes' })
      await pool.run(null, { name: 'waitsBesideTinyTasks' })
    }
    // The first task is not measured. The worker reports the last ones together with later tasks.
    await runUntil(() => figuresOf(pool, 'waitsBesideTinyTasks')?.measured >= 23, pool, 'echoes', 0)
  })
}

test('a handler that takes less time than sending its payload causes a warning', async (open, t) => {
  const heard = listen(t)
  const payload = Array.from({ length: 200 }, (_, index) => ({ index, name: `row ${index}` }))
  // A worker that loses its CPU core during a task raises the mean for the rest of the test. Then the test tries a new pool.
  for (;;) {
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
    const figures = () => figuresOf(pool, 'glances')
    const isEnough = () => figures()?.measured >= ENOUGH
    await Promise.all(Array.from({ length: 32 }, () => runUntil(isEnough, pool, 'glances', payload)))
    await pool.close()
    const { measured, runMs } = figures()
    if (heard.length === 0) continue
    assert.deepEqual(heard, ['glances LIDO_TINY_HANDLER'])
    assert.ok(measured >= 500, String(measured))
    if (runMs < pool.stats().handOverMs) return
  }
})

test('performanceWarnings: false keeps the metrics without warnings, and recordTiming: false keeps only counts', async (open, t) => {
  const heard = listen(t)
  const quiet = open({ filename, minWorkers: 1, maxWorkers: 1, performanceWarnings: false })
  await runUntil(() => figuresOf(quiet, 'waits')?.measured >= 22, quiet, 'waits')
  const blind = open({ filename, minWorkers: 1, maxWorkers: 1, recordTiming: false })
  for (let run = 0; run < 10; run++) await blind.run(null, { name: 'computes' })
  const [{ fulfilled, measured, p50Ms, p99Ms, runMs, activeMs, cpuMs }] = blind.stats().handlers
  assert.deepEqual(
    [fulfilled, measured, p50Ms, p99Ms, runMs, activeMs, cpuMs],
    [10, 0, null, null, null, null, null],
  )
  assert.deepEqual(heard, [])
})
