import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HandlerCost, HandlerMetrics } from './handler-metrics.js'
import { keyOf } from './handler-tasks.js'
import { performanceWarning } from './performance-warnings.js'

const handler = { filename: '/app/work.js', name: 'render' }
const stats: HandlerCost = { ...handler, measured: 1000, runMs: 1, activeMs: 1, cpuMs: 1 }
const measure = { ...handler, tasks: 1, runMs: 1, activeMs: 1, cpuMs: null }

function costOf(metrics: HandlerMetrics, name: string) {
  return metrics.costs.get(keyOf({ ...handler, name }))
}

test('HandlerMetrics reports means over the measured tasks of all reports', () => {
  const metrics = new HandlerMetrics(null)
  metrics.onMeasured([{ ...handler, tasks: 3, runMs: 30, activeMs: 12, cpuMs: 6 }])
  metrics.onMeasured([{ ...handler, tasks: 1, runMs: 10, activeMs: 8, cpuMs: 6 }])
  assert.deepEqual(
    [...metrics.costs.values()],
    [{ ...handler, measured: 4, runMs: 10, activeMs: 5, cpuMs: 3 }],
  )
})

test('the CPU time is null where workers cannot measure it', () => {
  const metrics = new HandlerMetrics(null)
  metrics.onMeasured([measure])
  assert.equal(costOf(metrics, 'render')!.cpuMs, null)
})

test('the hand-over time is one mean for all handlers, and null until measured', () => {
  const metrics = new HandlerMetrics(null)
  assert.equal(metrics.handOverMs, null)
  metrics.onPosted(2)
  metrics.onPosted(4)
  assert.equal(metrics.handOverMs, 3)
  metrics.onAnswered(1)
  assert.equal(metrics.handOverMs, 4)
})

test('long hand-overs are always measured, short hand-overs 1 time in 63', () => {
  const metrics = new HandlerMetrics(null)
  const countDue = (ms: number) => {
    let count = 0
    for (let event = 0; event < 6300; event++) {
      if (!metrics.isDue()) continue
      count++
      metrics.onAnswered(ms)
    }
    return count
  }
  countDue(1)
  assert.equal(countDue(1), 6300)
  countDue(0)
  assert.equal(countDue(0), 100)
})

test('HandlerMetrics keeps at most 256 handlers', () => {
  const metrics = new HandlerMetrics(null)
  for (let index = 0; index < 300; index++) metrics.onMeasured([{ ...measure, name: `export${index}` }])
  metrics.onMeasured([{ ...measure, name: 'export0' }])
  assert.equal(metrics.costs.size, 256)
  assert.equal(costOf(metrics, 'export0')!.measured, 2)
})

test('a handler whose event loop is mostly idle gets a warning with its name and figures', () => {
  const warning = performanceWarning({ ...stats, runMs: 40, activeMs: 1.2345 }, null, 1)
  assert.equal(warning?.code, 'LIDO_WAITING_HANDLER')
  assert.match(warning.text, /'render' of \/app\/work\.js .* 40 ms .* 1\.2 ms/)
  assert.match(warning.text, /concurrentTasksPerWorker.*performanceWarnings: false/)
})

test('a handler that computes, runs briefly or has few measured tasks gets no warning', () => {
  for (const traits of [
    { runMs: 40, activeMs: 9 },
    { runMs: 0.5, activeMs: 0 },
    { runMs: 400, activeMs: 0, measured: 19 },
    { runMs: 20, activeMs: 0, measured: 24 },
  ])
    assert.equal(performanceWarning({ ...stats, ...traits }, 0, 1), null)
})

test('a handler may wait without a warning when several tasks share a worker', () => {
  assert.equal(performanceWarning({ ...stats, runMs: 40, activeMs: 0 }, 0, 2), null)
})

test('a handler that is shorter than its hand-over gets a warning', () => {
  const tiny = { ...stats, runMs: 0.002, activeMs: 0.002 }
  const warning = performanceWarning(tiny, 0.0051, 1)
  assert.equal(warning?.code, 'LIDO_TINY_HANDLER')
  assert.match(warning.text, /'render' of \/app\/work\.js .* 0\.002 ms.*0\.0051 ms/)
  assert.equal(performanceWarning({ ...tiny, measured: 499 }, 0.0051, 1), null)
  assert.equal(performanceWarning({ ...tiny, runMs: 0.006 }, 0.0051, 1), null)
  assert.equal(performanceWarning(tiny, null, 1), null)
})
