// Progress of tasks: the latest value wins, in order, before the result, and never after it.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { InvalidTaskError, TaskCancelledError, WorkerExitError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { sharedWords } from '../helpers/shared-words.js'

const filename = handler('reporting.js')

/** Calls `run()` and records the values, and the outcome as the last entry. */
async function record(pool, payload, options) {
  const seen = []
  const onProgress = value => seen.push(value)
  try {
    seen.push(await pool.run(payload, { ...options, onProgress }))
  } catch (error) {
    seen.push(error)
  }
  await new Promise(setImmediate)
  return seen
}

function assertAscending(values) {
  for (let at = 1; at < values.length; at++) assert.ok(values[at] > values[at - 1], values.join(' '))
}

for (const [title, options] of Object.entries(backends)) {
  test(`values arrive in order, and the newest one before the result, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    for (const name of ['slowly', 'quickly']) {
      const seen = await record(pool, 100, { name })
      assert.equal(seen.pop(), 'done')
      assert.equal(seen.at(-1), 100)
      assertAscending(seen)
    }
  })

  test(`a loop that reports often sends few messages on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    let turns = 0
    let isDone = false
    const count = () => {
      turns++
      if (!isDone) setImmediate(count)
    }
    count()
    const seen = await record(pool, 200_000, { name: 'quickly' })
    isDone = true
    assert.equal(seen.pop(), 'done')
    assert.equal(seen.at(-1), 200_000)
    assert.ok(seen.length <= turns + 1, `${seen.length} values in ${turns} turns`)
  })

  test(`an error and a worker's death arrive after the progress on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const failed = await record(pool, 10, { name: 'thenFail' })
    assert.equal(failed.pop().message, 'after the progress')
    assert.equal(failed.at(-1), 10)
    if (options.backend === 'inline') return
    const died = await record(pool, 10, { name: 'thenExit' })
    assert.ok(died.pop() instanceof WorkerExitError)
    assertAscending(died)
    assert.equal(await pool.run(1, { name: 'quickly' }), 'done')
  })

  test(`a value is a copy from the time of its report on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const seen = await record(pool, undefined, { name: 'changing' })
    assert.equal(seen.pop(), 3)
    assert.deepEqual(seen.at(-1), { step: 2 })
  })

  test(`a value that cannot be copied throws in the handler on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    assert.deepEqual(await record(pool, undefined, { name: 'uncloneable' }), ['DataCloneError'])
  })

  test(`no value arrives after the result or the cancellation on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    assert.deepEqual(await record(pool, 7, { name: 'late' }), [7, 7])
    const controller = new AbortController()
    let values = 0
    let isSettled = false
    const onProgress = () => {
      assert.ok(!isSettled)
      if (++values === 3) controller.abort()
    }
    const error = await rejection(pool.run(1, { name: 'forever', signal: controller.signal, onProgress }))
    isSettled = true
    assert.ok(error instanceof TaskCancelledError)
    assert.equal(await pool.run(1, { name: 'quickly' }), 'done')
    assert.equal(values, 3)
  })
}

test('progress arrives while a handler blocks its thread', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const words = sharedWords(1)
  const onProgress = value => {
    if (value > 1) Atomics.store(words, 0, 1)
  }
  assert.equal(await pool.run(words, { name: 'untilSeen', onProgress }), 'seen')
})

test('tasks that share a worker report independently', async open => {
  const pool = open({ filename, maxWorkers: 1, concurrentTasksPerWorker: 4 })
  const all = await Promise.all([1, 2, 3, 4].map(() => record(pool, 50, { name: 'slowly' })))
  for (const seen of all) {
    assert.equal(seen.pop(), 'done')
    assert.equal(seen.at(-1), 50)
    assertAscending(seen)
  }
})

test('an onProgress that throws cancels the task with its error', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const own = new Error('the page is closed')
  const onProgress = () => {
    throw own
  }
  const error = await rejection(pool.run(1, { name: 'forever', onProgress }))
  assert.ok(error instanceof TaskCancelledError)
  assert.equal(error.cause, own)
  assert.match(error.message, /onProgress/)
})

test('onProgress works with with(), and runs in the async context of the caller', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const storage = new AsyncLocalStorage()
  const seen = []
  const call = () => pool.with({ onProgress: value => seen.push([value, storage.getStore()]) }).api.quickly(3)
  assert.equal(await storage.run('request 1', call), 'done')
  assert.deepEqual(seen.at(-1), [3, 'request 1'])
  const error = await rejection(pool.run(1, { onProgress: 'text' }))
  assert.ok(error instanceof InvalidTaskError)
  assert.equal(error.option, 'onProgress')
})

test('map() passes the progress of each item to onItemProgress, whose error ends the map', async open => {
  const pool = open({ filename, name: 'quickly', maxWorkers: 2 })
  const latest = new Map()
  const onItemProgress = (value, item, index) => latest.set(index, [value, item])
  await pool.map([3, 4, 5], { onItemProgress }).toArray()
  assert.deepEqual(
    [...latest].sort(([one], [other]) => one - other),
    [3, 4, 5].map((count, index) => [index, [count, count]]),
  )
  const own = new Error('no terminal')
  const broken = pool.map([3], {
    onItemProgress: () => {
      throw own
    },
  })
  assert.equal(await rejection(broken.toArray()), own)
})

test('values are ignored without onProgress', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  assert.equal(await pool.run(1000, { name: 'quickly' }), 'done')
})
