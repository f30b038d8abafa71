import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HandlerStats } from './handler-stats.js'
import { Worth } from './worth.js'
import { adviceOn } from './worth-advice.js'

const task = { handlerId: 3, filename: '/app/work.js', name: 'render' }

function figures(traits: Partial<HandlerStats>): HandlerStats {
  const { filename, name } = task
  return {
    filename,
    name,
    measured: 1000,
    runMs: 1,
    activeMs: 1,
    cpuMs: 1,
    transferMs: 0,
    handOverMs: 0,
    ...traits,
  }
}

test('what is told of a handler are means over the tasks that were measured', () => {
  const worth = new Worth(() => {})
  worth.onHandedOver(task, 2)
  worth.onHandedOver(task, 4)
  worth.onTakenIn(task, 1)
  worth.onMeasured([{ handlerId: 3, tasks: 3, runMs: 30, activeMs: 12, cpuMs: 6, transferMs: 3 }])
  worth.onMeasured([{ handlerId: 3, tasks: 1, runMs: 10, activeMs: 8, cpuMs: 6, transferMs: 1 }])
  assert.deepEqual(worth.handlers, [
    {
      filename: '/app/work.js',
      name: 'render',
      measured: 4,
      runMs: 10,
      activeMs: 5,
      cpuMs: 3,
      transferMs: 1,
      handOverMs: 4,
    },
  ])
})

test('a handler is in the figures when a worker has told of it', () => {
  const told: HandlerStats[] = []
  const worth = new Worth(handler => told.push(handler))
  worth.onHandedOver(task, 1)
  assert.deepEqual([worth.handlers, told], [[], []])
  worth.onMeasured([{ handlerId: 3, tasks: 1, runMs: 1, activeMs: 1, cpuMs: null, transferMs: 0 }])
  assert.deepEqual(worth.handlers, told)
})

test('what takes long is measured each time, what is short once in many times', () => {
  const worth = new Worth(() => {})
  const countDue = (ms: number) => {
    let count = 0
    for (let call = 0; call < 6300; call++) {
      if (!worth.isDue(task)) continue
      count++
      worth.onTakenIn(task, ms)
    }
    return count
  }
  countDue(1)
  assert.equal(countDue(1), 6300)
  countDue(0)
  assert.equal(countDue(0), 100)
})

test('a handler that is called seldom is measured as if the others were not there', () => {
  const worth = new Worth(() => {})
  const seldom = { ...task, handlerId: 4, name: 'seldom' }
  let count = 0
  for (let call = 0; call < 6300; call++) {
    if (worth.isDue(task)) worth.onTakenIn(task, 0)
    if (call % 63 !== 0 || !worth.isDue(seldom)) continue
    count++
    worth.onTakenIn(seldom, 1)
  }
  assert.equal(count, 99)
})

test('names that come from outside do not fill the table', () => {
  const worth = new Worth(() => {})
  for (let handlerId = 0; handlerId < 1000; handlerId++) {
    worth.onHandedOver({ handlerId, filename: '/app/work.js', name: `export${handlerId}` }, 1)
    worth.onMeasured([{ handlerId, tasks: 1, runMs: 1, activeMs: 1, cpuMs: null, transferMs: 0 }])
  }
  assert.equal(worth.handlers.length, 256)
  assert.equal(worth.isDue({ handlerId: 1000, filename: '/app/work.js', name: 'late' }), false)
})

test('nor do names whose calls were cancelled before a worker could say that they lead nowhere', () => {
  const worth = new Worth(() => {})
  for (let handlerId = 10; handlerId < 1000; handlerId++) worth.isDue({ ...task, handlerId })
  worth.isDue(task)
  worth.onMeasured([{ handlerId: 3, tasks: 1, runMs: 1, activeMs: 1, cpuMs: null, transferMs: 0 }])
  for (let handlerId = 1000; handlerId < 2000; handlerId++) worth.isDue({ ...task, handlerId })
  assert.deepEqual(
    worth.handlers.map(({ name }) => name),
    ['render'],
  )
})

test('what was not measured is told as such', () => {
  const worth = new Worth(() => {})
  worth.isDue(task)
  worth.onMeasured([{ handlerId: 3, tasks: 2, runMs: 1, activeMs: 1, cpuMs: null, transferMs: 0 }])
  const [{ cpuMs, handOverMs }] = worth.handlers as [HandlerStats]
  assert.deepEqual([cpuMs, handOverMs], [null, 0])
})

test('names that led nowhere take no room from those that lead somewhere', () => {
  const worth = new Worth(() => {})
  for (let handlerId = 10; handlerId < 1000; handlerId++) {
    const wrong = { ...task, handlerId, name: `no${handlerId}` }
    worth.isDue(wrong)
    worth.forget(wrong)
    worth.onTakenIn(wrong, 1)
  }
  worth.onHandedOver(task, 1)
  const measure = { handlerId: 3, tasks: 1, runMs: 1, activeMs: 1, cpuMs: null, transferMs: 0 }
  worth.onMeasured([measure])
  worth.forget(task)
  assert.deepEqual(
    worth.handlers.map(({ name }) => name),
    ['render'],
  )
})

test('a name that led nowhere, and leads somewhere now, is in the figures', () => {
  const worth = new Worth(() => {})
  worth.isDue(task)
  worth.forget(task)
  worth.isDue(task)
  worth.onMeasured([{ handlerId: 3, tasks: 1, runMs: 1, activeMs: 1, cpuMs: null, transferMs: 0 }])
  assert.equal(worth.handlers.length, 1)
})

test('a handler that is hardly at work is said to wait, with its name and its figures', () => {
  const advice = adviceOn(figures({ runMs: 40, activeMs: 1.2345 }), 1)
  assert.equal(advice?.code, 'LIDO_WAITING_HANDLER')
  assert.match(advice.text, /'render' of \/app\/work\.js was at work for 1\.2 ms of the 40 ms/)
  assert.match(advice.text, /concurrentTasksPerWorker.*worthWarnings: false/)
})

test('nothing is said of a handler that computes, of one that is over in a moment, or while little was measured', () => {
  assert.equal(adviceOn(figures({ runMs: 40, activeMs: 9 }), 1), null)
  assert.equal(adviceOn(figures({ runMs: 0.5, activeMs: 0 }), 1), null)
  assert.equal(adviceOn(figures({ runMs: 400, activeMs: 0, measured: 19 }), 1), null)
  assert.equal(adviceOn(figures({ runMs: 20, activeMs: 0, measured: 24 }), 1), null)
})

test('a handler may wait where tasks share their worker', () => {
  assert.equal(adviceOn(figures({ runMs: 40, activeMs: 0 }), 2), null)
})

test('a handler that is over sooner than it is handed over is said to be tiny', () => {
  const tiny = figures({ runMs: 0.002, activeMs: 0.002, handOverMs: 0.0051 })
  const advice = adviceOn(tiny, 1)
  assert.equal(advice?.code, 'LIDO_TINY_HANDLER')
  assert.match(advice.text, /'render' of \/app\/work\.js ran for 0\.002 ms a task.*0\.0051 ms/)
  assert.equal(adviceOn({ ...tiny, measured: 499 }, 1), null)
  assert.equal(adviceOn({ ...tiny, runMs: 0.006 }, 1), null)
})
