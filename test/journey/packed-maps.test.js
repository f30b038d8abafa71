// A map packs small items into tasks. Each item keeps its own result, error, signal and place, and stops by itself.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  InvalidTaskError,
  move,
  NotCloneableError,
  PoolClosedError,
  PriorityQueue,
  TaskTimeoutError,
  WorkerExitError,
} from 'lido'
import { HttpError } from '../fixtures/error-classes.js'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'

const filename = handler('packed.js')
const numbers = count => Array.from({ length: count }, (_, n) => n)
const PER_TASK = 10

for (const [title, options] of Object.entries(backends)) {
  const openPacked = (open, name, more) =>
    open({ filename, name, maxWorkers: 2, errorClasses: [HttpError], ...options, ...more })
  const isInline = options.backend === 'inline'
  const sharesMemory = options.backend !== 'process'

  test(`packs give the results in order, and count as one task each, on ${title}`, async open => {
    const pool = openPacked(open, 'double')
    const items = numbers(95)
    const doubled = items.map(n => 2 * n)
    assert.deepEqual(await pool.map(items, { itemsPerTask: PER_TASK }), doubled)
    assert.equal(pool.stats().tasks.accepted, 10)
    const unordered = await pool.map(items, { itemsPerTask: PER_TASK, ordered: false })
    assert.deepEqual(
      unordered.sort((a, b) => a - b),
      doubled,
    )
    assert.deepEqual(
      await pool.map(numbers(5000)),
      numbers(5000).map(n => 2 * n),
    )
  })

  test(`a failed item of a pack has its own error and onError, on ${title}`, async open => {
    const pool = openPacked(open, 'failAt')
    const items = numbers(40).map(n => ({ n, at: [3, 4, 19, 39] }))
    const most = { itemsPerTask: PER_TASK }
    const seen = []
    const results = await pool.map(items, {
      ...most,
      onError(error, item, index) {
        assert.ok(error instanceof HttpError)
        seen.push([error.status, item.n, index])
        return -1
      },
    })
    assert.deepEqual(
      results,
      numbers(40).map(n => (items[0].at.includes(n) ? -1 : n)),
    )
    assert.deepEqual(
      seen.sort((a, b) => a[2] - b[2]),
      [3, 4, 19, 39].map(n => [400 + n, n, n]),
    )
    const skipped = await pool.map(items, { ...most, onError: 'skip' })
    assert.equal(skipped.length, 36)
    assert.ok((await rejection(pool.map(items, most).toArray())) instanceof HttpError)
  })

  test(`results and items that cannot be cloned fail alone, on ${title}`, async open => {
    const pool = openPacked(open, 'uncloneable')
    const errors = []
    const onError = error => void errors.push(error)
    const results = await pool.map(numbers(9), { itemsPerTask: PER_TASK, onError })
    assert.deepEqual(
      results.map(result => result?.n),
      [0, undefined, 2, 3, undefined, 5, 6, undefined, 8],
    )
    const items = [1, { call() {} }, 2, { a: [() => {}] }, 3]
    const others = await pool.map(items, { name: 'same', itemsPerTask: PER_TASK, onError })
    assert.deepEqual(others, [1, undefined, 2, undefined, 3])
    assert.deepEqual(errors.map(error => error instanceof NotCloneableError && error.path).sort(), [
      'payload.a[0]',
      'payload.call',
      'result.call',
      'result.call',
      'result.call',
    ])
  })

  test(`large results of a pack keep the order, on ${title}`, async open => {
    const pool = openPacked(open, 'large')
    const results = await pool.map(numbers(8), { itemsPerTask: 4 })
    assert.deepEqual(
      results.map(result => result.length ?? result),
      [0, 700_000, 2, 700_000, 4, 700_000, 6, 700_000],
    )
  })

  if (sharesMemory) {
    test(`async items of a pack run one after another, on ${title}`, async open => {
      const pool = openPacked(open, 'inTurn', { maxWorkers: 1 })
      const words = sharedWords(2)
      const items = numbers(30).map(n => ({ n, words }))
      assert.deepEqual(await pool.map(items, { itemsPerTask: PER_TASK }), numbers(30))
    })

    test(`a cancelled map starts no further item of a pack, and aborts the running one, on ${title}`, async open => {
      for (const end of ['signal', 'return', 'destroy']) {
        const pool = openPacked(open, 'wait', { maxWorkers: 1 })
        const words = sharedWords(3)
        const controller = new AbortController()
        const items = numbers(10).map(n => ({ n, words }))
        const map = pool.map(items, { itemsPerTask: PER_TASK, signal: controller.signal })
        const first = map.next().catch(error => error)
        await reached(words, 0)
        if (end === 'signal') controller.abort()
        else if (end === 'return') await map.return()
        else void pool.destroy()
        await first
        if (end !== 'destroy' || isInline) await reached(words, 2)
        set(words, 1)
        if (end !== 'destroy') await pool.run({ n: 0, words })
        assert.equal(Atomics.load(words, 0), end === 'destroy' ? 1 : 2, end)
      }
    })
  }

  if (isInline) continue

  test(`a worker that exits fails the running item of a pack, and no item runs twice, on ${title}`, async open => {
    const pool = openPacked(open, 'exitAt')
    const words = sharesMemory ? sharedWords(40) : new Int32Array(40)
    const items = numbers(40).map(n => ({ n, at: 17, words }))
    const errors = []
    const results = await pool.map(items, {
      itemsPerTask: PER_TASK,
      onError(error, _, index) {
        errors.push([error instanceof WorkerExitError, index])
        return -1
      },
    })
    assert.deepEqual(
      results,
      numbers(40).map(n => (n === 17 ? -1 : n)),
    )
    assert.deepEqual(errors, [[true, 17]])
    if (sharesMemory)
      assert.deepEqual(
        [...words],
        numbers(40).map(() => 1),
      )
  })
}

test('an item is what it was when the map pulled it, in every pack', async open => {
  const pool = open({ filename, name: 'same', maxWorkers: 1 })
  function* reuse() {
    const item = { n: 0, inner: { list: [0] }, date: new Date(0) }
    for (let n = 0; n < 50; n++) {
      item.n = item.inner.list[0] = n
      item.date.setTime(n)
      yield item
    }
  }
  for (const itemsPerTask of ['auto', PER_TASK]) {
    assert.deepEqual(
      await pool.map(reuse(), { itemsPerTask }),
      numbers(50).map(n => ({ n, inner: { list: [n] }, date: new Date(n) })),
    )
  }
})

test('moved items and items that are no plain data get their own task', async open => {
  const pool = open({ filename, name: 'same', maxWorkers: 1 })
  const shared = { n: 1 }
  const sparse = new Array(1)
  const items = [1, move(new ArrayBuffer(8)), 2, new Map([[1, 2]]), { a: shared, b: shared }, sparse, 3]
  const results = await pool.map(items, { itemsPerTask: PER_TASK })
  assert.deepEqual(results, [
    1,
    new ArrayBuffer(8),
    2,
    new Map([[1, 2]]),
    { a: { n: 1 }, b: { n: 1 } },
    sparse,
    3,
  ])
  assert.equal(results[4].a, results[4].b)
  assert.ok(!(0 in results[5]))
})

test('items that the map has pulled run before the pool closes, also in a pack that is not full', async open => {
  for (const maxQueue of [8, Infinity]) {
    const pool = open({ filename, name: 'double', maxWorkers: 1, maxQueue })
    const results = pool.map([1, 2], { itemsPerTask: PER_TASK }).toArray()
    // With a limit, the map waits for room in the queue.
    for (let turn = 0; turn < 20; turn++) await null
    await Promise.all([pool.close(), results])
    assert.deepEqual(await results, [2, 4])
  }
})

test('each item of a pack has a signal of its own', async open => {
  const pool = open({ filename, name: 'listen', maxWorkers: 1 })
  const warnings = []
  const note = warning => warnings.push(warning.name)
  process.on('warning', note)
  await pool.map(numbers(100), { itemsPerTask: 50 })
  await pool.close()
  process.off('warning', note)
  assert.deepEqual(warnings, [])
})

test('options that need a task for each item refuse a number above 1, and turn packs off', async open => {
  const tasksOf = async (options, mapOptions) => {
    const pool = open({ filename, name: 'double', maxWorkers: 1, ...options })
    const refused = () => pool.map([1], { itemsPerTask: 2, ...mapOptions })
    const [name] = Object.keys(mapOptions)
      .concat(Object.keys(options))
      .filter(key => key !== 'groups')
    assert.throws(
      refused,
      error =>
        error instanceof InvalidTaskError &&
        error.option === 'itemsPerTask' &&
        new RegExp(`'itemsPerTask' \\(2\\).*${name === 'timeout' ? 'time' : name}`).test(error.message),
      name,
    )
    await pool.map(numbers(300), mapOptions)
    await pool.close()
    return pool.stats().tasks.fulfilled
  }
  const cases = [
    [{}, { key: 'k' }],
    [{}, { key: n => `k${n}` }],
    [{ groups: {} }, { group: n => `g${n}` }],
    [{}, { functions: {} }],
    [{}, { onItemProgress() {} }],
    [{}, { exclusive: true }],
    [{}, { retry: { attempts: 2 } }],
    [{}, { timeout: 10_000 }],
    [{}, { concurrency: 1 }],
    [{ timeout: 10_000 }, {}],
    [{ retry: { attempts: 2 } }, {}],
    [{ loadBalancer: (_, workers) => workers[0] ?? null }, {}],
  ]
  for (const [options, mapOptions] of cases) assert.equal(await tasksOf(options, mapOptions), 300)
  const pool = open({ filename, name: 'double', maxWorkers: 1, queue: new PriorityQueue() })
  await pool.map(numbers(300), { itemsPerTask: 100 })
  assert.equal(pool.stats().tasks.accepted, 3)
})

test('the functions key and group must return a string that is not empty', async open => {
  const pool = open({ filename, name: 'double', maxWorkers: 1, groups: {} })
  for (const option of ['key', 'group']) {
    const error = await rejection(pool.map([1, 2], { [option]: n => (n === 1 ? 'a' : 7) }).toArray())
    assert.ok(error instanceof InvalidTaskError)
    assert.equal(error.option, option)
    assert.match(error.message, /index 1 it returned 7/)
    const failure = new Error('no key')
    const thrown = () => {
      throw failure
    }
    assert.equal(await rejection(pool.map([1], { [option]: thrown }).toArray()), failure)
  }
})

test('items keep their time limit, and have their own task then', async open => {
  const pool = open({ filename, name: 'wait', maxWorkers: 1 })
  const words = sharedWords(3)
  const error = await rejection(pool.map([{ n: 0, words }], { timeout: 20 }).toArray())
  assert.ok(error instanceof TaskTimeoutError)
})

test('while somebody follows lido.task each item is a task', async open => {
  const pool = open({ filename, name: 'double', maxWorkers: 1 })
  let starts = 0
  const count = () => starts++
  subscribe('tracing:lido.task:start', count)
  await pool.map(numbers(50), { itemsPerTask: PER_TASK })
  unsubscribe('tracing:lido.task:start', count)
  assert.equal(starts, 50)
})

test('a full queue delays packs, and a closed pool ends the map', async open => {
  const pool = open({ filename, name: 'double', maxWorkers: 1, maxQueue: 1 })
  assert.deepEqual(
    await pool.map(numbers(500), { itemsPerTask: 7 }),
    numbers(500).map(n => 2 * n),
  )
  assert.deepEqual(
    await pool.map(numbers(500)),
    numbers(500).map(n => 2 * n),
  )
  const map = pool.map(numbers(500), { itemsPerTask: 7 })
  await map.next()
  await pool.destroy()
  assert.ok((await rejection(map.toArray())) instanceof PoolClosedError)
})
