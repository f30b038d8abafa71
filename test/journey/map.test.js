// pool.map() gives all results, stops as its consumer, its input or its pool stops, and leaves nothing behind.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  InvalidTaskError,
  move,
  PoolClosedError,
  TaskCancelledError,
  TaskTimeoutError,
  WorkerExitError,
  WorkerStartError,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { Track } from '../helpers/track.js'

const filename = handler('mapped.js')
const numbers = count => Array.from({ length: count }, (_, n) => n)

/** An endless input that remembers how many items were pulled, and whether it was closed. */
class Endless {
  pulled = 0
  isClosed = false;
  *[Symbol.iterator]() {
    try {
      for (;;) yield this.pulled++
    } finally {
      this.isClosed = true
    }
  }
}

for (const [title, options] of Object.entries(backends)) {
  test(`map() keeps the order of the input on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 2, ...options })
    assert.deepEqual(
      await pool.map(numbers(300)).toArray(),
      numbers(300).map(n => 2 * n),
    )
  })

  test(`a worker that exits ends the map, and 'skip' goes on, on ${title}`, async open => {
    if (options.backend === 'inline') return
    const pool = open({ filename, name: 'exitAt', maxWorkers: 2, ...options })
    const items = numbers(20).map(n => ({ n, at: 7 }))
    assert.ok((await rejection(pool.map(items).toArray())) instanceof WorkerExitError)
    const rest = await pool.map(items, { onError: 'skip' }).toArray()
    assert.deepEqual(
      rest,
      numbers(20).filter(n => n !== 7),
    )
  })

  test(`a failed item cancels the others and closes the input on ${title}`, async open => {
    const pool = open({ filename, name: 'positive', maxWorkers: 2, ...options })
    let isClosed = false
    function* input() {
      try {
        for (let n = 0; ; n++) yield n === 4 ? -1 : n
      } finally {
        isClosed = true
      }
    }
    const map = pool.map(input(), { concurrency: 4 })
    const error = await rejection(map.toArray())
    assert.equal(error.message, '-1 is negative')
    assert.ok(isClosed)
    assert.deepEqual(await map.next(), { value: undefined, done: true })
    const { waiting, inFlight } = pool.stats().tasks
    assert.equal(waiting + inFlight, 0)
  })
}

test('map() takes arrays, sets, generators, promises, async generators, Node streams and web streams', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const items = [1, 2, 3]
  async function* generate() {
    yield* items
  }
  const inputs = [
    items,
    new Set(items),
    items.values(),
    items.map(item => Promise.resolve(item)),
    generate(),
    Readable.from(items),
    ReadableStream.from(items),
  ]
  for (const input of inputs) assert.deepEqual(await pool.map(input).toArray(), [2, 4, 6])
  assert.deepEqual(await pool.map([]).toArray(), [])
})

test('with ordered: false results come as tasks end, and else in the order of the input', async open => {
  for (const ordered of [false, true]) {
    const track = new Track(3)
    const pool = open({
      filename: handler('tracked.js'),
      name: 'patient',
      maxWorkers: 1,
      concurrentTasksPerWorker: 3,
    })
    const map = pool.map(
      numbers(3).map(n => track.task(n)),
      { ordered },
    )
    const first = map.next()
    await track.starts(3)
    const results = []
    if (ordered) for (const n of [2, 1, 0]) track.release(n)
    else track.release(2)
    results.push((await first).value)
    for (const n of [1, 0]) {
      track.release(n)
      results.push((await map.next()).value)
    }
    assert.deepEqual(results, ordered ? [0, 1, 2] : [2, 1, 0])
    assert.equal((await map.next()).done, true)
  }
})

test('map() pulls at most `concurrency` items more than its consumer has taken', async open => {
  const pool = open({ filename, maxWorkers: 2 })
  const input = new Endless()
  const map = pool.map(input, { concurrency: 4 })
  assert.equal(input.pulled, 0)
  for (let taken = 1; taken <= 100; taken++) {
    assert.equal((await map.next()).value, 2 * (taken - 1))
    assert.ok(input.pulled <= taken + 4, `${input.pulled} pulled, ${taken} taken`)
  }
  await map.return()
  assert.ok(input.isClosed)
})

test('without `concurrency` a slow consumer bounds the input at 64 items for each slot', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const input = new Endless()
  let taken = 0
  for await (const _ of pool.map(input, { itemsPerTask: 1 })) {
    assert.ok(input.pulled <= taken + 65)
    if (++taken === 2000) break
  }
  assert.ok(input.isClosed)
})

test('packs bound the input of a slow consumer at the items of 4 tasks for each slot', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const input = new Endless()
  let taken = 0
  for await (const _ of pool.map(input, { itemsPerTask: 100 })) {
    assert.ok(input.pulled <= taken + 401)
    if (++taken === 2000) break
  }
  assert.ok(input.isClosed)
})

test('onError gives a failed item another result, or ends the map with its own error', async open => {
  const pool = open({ filename, name: 'positive', maxWorkers: 1 })
  const items = [1, -2, 3, -4]
  assert.deepEqual(await pool.map(items, { onError: 'skip' }).toArray(), [1, 3])
  assert.deepEqual(await pool.map(items, { onError: 'skip', ordered: false }).toArray(), [1, 3])
  const calls = []
  const replaced = pool.map(items, {
    onError: async (error, item, index) => {
      calls.push([error.message, item, index])
      return 0
    },
  })
  assert.deepEqual(await replaced.toArray(), [1, 0, 3, 0])
  assert.deepEqual(calls, [
    ['-2 is negative', -2, 1],
    ['-4 is negative', -4, 3],
  ])
  const own = new Error('enough')
  const onError = () => {
    throw own
  }
  assert.equal(await rejection(pool.map(items, { onError }).toArray()), own)
  assert.deepEqual(await pool.map([-1, -2], { onError: 'skip' }).toArray(), [])
})

test('results that were ready before a failed item arrive before its error', async open => {
  for (const ordered of [true, false]) {
    const pool = open({ filename, name: 'positive', minWorkers: 1, maxWorkers: 1 })
    const map = pool.map([1, 2, -3, 4, 5], { ordered, concurrency: 5 })
    assert.equal((await map.next()).value, 1)
    // The failed item and the ones before it have their answers, and nobody has asked for them.
    while (pool.stats().tasks.waiting + pool.stats().tasks.inFlight > 0) await new Promise(setImmediate)
    await new Promise(setImmediate)
    assert.equal((await map.next()).value, 2)
    assert.equal((await rejection(map.next())).message, '-3 is negative')
    assert.deepEqual(await map.next(), { value: undefined, done: true })
  }
})

test('a waiting consumer gets its result when a later item fails in the same turn', async open => {
  const pool = open({ filename, name: 'positive', minWorkers: 1, maxWorkers: 1 })
  await pool.ready()
  for (const ordered of [true, false]) {
    const map = pool.map([1, 2, -3], { ordered, concurrency: 3 })
    const first = map.next()
    // The worker answers all items while the host is blocked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    assert.equal((await first).value, 1)
    assert.equal((await map.next()).value, 2)
    assert.equal((await rejection(map.next())).message, '-3 is negative')
  }
})

test('break and return() cancel what runs and close the input', async open => {
  const track = new Track(4)
  const pool = open({ filename: handler('tracked.js'), name: 'endless', minWorkers: 2, maxWorkers: 2 })
  const map = pool.map(
    numbers(4).map(n => track.task(n)),
    { concurrency: 4 },
  )
  const waiting = map.next()
  await track.starts(2)
  await map.return()
  assert.deepEqual(await waiting, { value: undefined, done: true })
  const { waiting: queued, inFlight, cancelled } = pool.stats().tasks
  assert.deepEqual([queued, inFlight, cancelled], [0, 0, 4])
  assert.equal(track.started, 2)
})

test('an aborted signal ends the map, cancels what runs, and leaves no listener', async open => {
  const track = new Track(2)
  const pool = open({ filename: handler('tracked.js'), name: 'endless', minWorkers: 1, maxWorkers: 1 })
  const controller = new AbortController()
  const { signal } = controller
  const all = rejection(
    pool
      .map(
        numbers(2).map(n => track.task(n)),
        { signal, onError: 'skip' },
      )
      .toArray(),
  )
  await track.starts(1)
  const reason = new Error('no longer needed')
  controller.abort(reason)
  const error = await all
  assert.ok(error instanceof TaskCancelledError)
  assert.equal(error.reason, reason)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  assert.ok((await rejection(pool.map(new Endless(), { signal }).next())) instanceof TaskCancelledError)
  assert.equal(pool.stats().tasks.inFlight, 0)
})

test('the option timeout limits each item', async open => {
  const pool = open({ filename, name: 'waitFor', maxWorkers: 1 })
  const map = pool.map([0, 60_000, 1], { timeout: 100, onError: error => error.limit })
  assert.deepEqual(await map.toArray(), [0, 'timeout', 1])
  const error = await rejection(pool.map([60_000], { timeout: 10 }).toArray())
  assert.ok(error instanceof TaskTimeoutError)
})

test('close() lets accepted items finish, and the map ends with PoolClosedError', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const input = new Endless()
  const map = pool.map(input, { concurrency: 8, onError: 'skip' })
  await map.next()
  const closed = pool.close()
  const error = await rejection(map.forEach(() => {}))
  assert.ok(error instanceof PoolClosedError)
  assert.equal((await closed).cutOff, 0)
  assert.ok(input.isClosed)
  assert.ok((await rejection(pool.map([1]).toArray())) instanceof PoolClosedError)
})

test('close() after the last item was accepted lets the map finish', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const map = pool.map([1, 2, 3], { concurrency: 3 })
  const all = map.toArray()
  await Promise.all([pool.close(), all])
  assert.deepEqual(await all, [2, 4, 6])
})

test('destroy() ends the map with PoolClosedError, also with skip', async open => {
  const track = new Track(2)
  const pool = open({ filename: handler('tracked.js'), name: 'endless', maxWorkers: 1 })
  const all = rejection(pool.map([track.task(0)], { onError: 'skip' }).toArray())
  await track.starts(1)
  await pool.destroy()
  assert.ok((await all) instanceof PoolClosedError)
})

test('a missing handler file ends the map, also with skip', async open => {
  const pool = open({ filename: handler('missing.js'), maxWorkers: 1, minWorkers: 0 })
  const error = await rejection(pool.map(new Endless(), { onError: 'skip' }).toArray())
  assert.ok(error instanceof WorkerStartError)
})

test('an error of the input ends the map with that error, after the results of earlier items', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const own = new Error('the file is gone')
  function* sync() {
    yield 1
    throw own
  }
  async function* async() {
    yield 1
    throw own
  }
  for (const input of [sync(), async()]) {
    const map = pool.map(input)
    assert.equal((await map.next()).value, 2)
    assert.equal(await rejection(map.next()), own)
    assert.equal((await map.next()).done, true)
  }
  const endless = { [Symbol.iterator]: () => ({ next: () => 5 }) }
  assert.ok((await rejection(pool.map(endless).toArray())) instanceof TypeError)
  const input = new Endless()
  const promises = (function* () {
    for (const n of input) yield n === 2 ? Promise.reject(own) : n
  })()
  assert.equal(await rejection(pool.map(promises).toArray()), own)
  assert.ok(input.isClosed)
})

test('break does not wait for an input that never gives its next item', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  async function* input() {
    yield 1
    await new Promise(() => {})
  }
  for await (const result of pool.map(input())) {
    assert.equal(result, 2)
    break
  }
})

test('onProgress reports the counts at the end, and the total of inputs that have a size', async open => {
  const pool = open({ filename, name: 'positive', maxWorkers: 1 })
  const reports = []
  const onProgress = progress => reports.push(progress)
  await pool.map([1, -2, 3], { onError: 'skip', onProgress }).toArray()
  const { done, failed, total, remainingMs } = reports.at(-1)
  assert.deepEqual({ done, failed, total, remainingMs }, { done: 2, failed: 1, total: 3, remainingMs: 0 })
  await pool.map([1, 2].values(), { onProgress }).toArray()
  assert.equal(reports.at(-1).total, undefined)
  assert.equal(reports.at(-1).remainingMs, undefined)
  const own = new Error('no terminal')
  const broken = pool.map([1, 2], {
    onProgress: () => {
      throw own
    },
  })
  assert.equal(await rejection(broken.toArray()), own)
})

test('onProgress gives the final counts once, even when the last task takes longer than the report interval', async open => {
  const pool = open({ filename, name: 'waitFor', maxWorkers: 1 })
  const reports = []
  await pool.map([200], { onProgress: ({ done }) => reports.push(done) }).toArray()
  assert.deepEqual(reports, [1])
})

test('map() never fills a limited queue', async open => {
  const pool = open({ filename, maxWorkers: 1, maxQueue: 2 })
  const maps = [0, 1, 2].map(() => pool.map(numbers(200), { concurrency: 50 }).toArray())
  for (const results of await Promise.all(maps)) assert.equal(results.length, 200)
})

test('forEach() waits for each promise, and its error ends the map', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  let active = 0
  const seen = []
  await pool.map(numbers(20)).forEach(async result => {
    assert.equal(++active, 1)
    await null
    seen.push(result)
    active--
  })
  assert.equal(seen.length, 20)
  const own = new Error('disk full')
  const input = new Endless()
  const broken = pool.map(input).forEach(async () => {
    throw own
  })
  assert.equal(await rejection(broken), own)
  assert.ok(input.isClosed)
})

test('a map is the source of a pipeline, and an error destroys the pipeline', async open => {
  const pool = open({ filename, name: 'positive', maxWorkers: 1 })
  const written = []
  const sink = () =>
    new Writable({
      objectMode: true,
      write(chunk, _, done) {
        written.push(chunk)
        done()
      },
    })
  await pipeline(Readable.from(pool.map([1, 2, 3])), sink())
  assert.deepEqual(written, [1, 2, 3])
  const failure = await rejection(pipeline(Readable.from(pool.map([1, -1])), sink()))
  assert.equal(failure.message, '-1 is negative')
})

test('items marked by move() are transferred', async open => {
  const pool = open({ filename, name: 'lengthOf', maxWorkers: 1 })
  const items = [new Uint8Array(100), new Uint8Array(200)]
  assert.deepEqual(await pool.map(items.map(item => move(item))).toArray(), [100, 200])
  assert.deepEqual(
    items.map(item => item.length),
    [0, 0],
  )
})

test('a map that nobody reads starts nothing', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const input = new Endless()
  const map = pool.map(input)
  await pool.run(1)
  assert.equal(input.pulled, 0)
  await map.return()
  assert.deepEqual(await map.next(), { value: undefined, done: true })
  assert.equal(input.pulled, 0)
})

test('next() may be called again before its last promise is settled', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const map = pool.map([1, 2])
  const steps = await Promise.all([map.next(), map.next(), map.next()])
  assert.deepEqual(
    steps.map(({ value }) => value),
    [2, 4, undefined],
  )
})

test('wrong options and inputs of map() are refused by name', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  for (const [source, options, option] of [
    [5, {}, 'source'],
    [undefined, {}, 'source'],
    [[], { concurrency: 0 }, 'concurrency'],
    [[], { concurency: 4 }, 'concurency'],
    [[], { onError: 'ignore' }, 'onError'],
    [[], { transferList: [] }, 'transferList'],
    [[], { signal: 5 }, 'signal'],
    [[], 4, 'options'],
  ]) {
    assert.throws(
      () => pool.map(source, options),
      error => error instanceof InvalidTaskError && error.option === option,
    )
  }
})

test('eleven maps share one listener of their signal', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const controller = new AbortController()
  const { signal } = controller
  const maps = numbers(11).map(() => pool.map(new Endless(), { signal }))
  await Promise.all(maps.map(map => map.next()))
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await maps.pop().return()
  assert.equal(getEventListeners(signal, 'abort').length, 1, 'ten maps still listen')
  controller.abort(new Error('the program ends'))
  for (const map of maps) assert.ok((await rejection(map.next())) instanceof TaskCancelledError)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('map() with `concurrency: Infinity` reads its whole input at once', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  let pulled = 0
  const input = (function* () {
    for (; pulled < 300; pulled++) yield pulled
  })()
  const map = pool.map(input, { concurrency: Number.POSITIVE_INFINITY })
  await map.next()
  assert.equal(pulled, 300)
  assert.equal((await map.toArray()).length, 299)
})

for (const [title, options] of Object.entries(backends)) {
  test(`await gives all results of a map on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 2, ...options })
    const map = pool.map(numbers(100))
    const results = await map
    assert.deepEqual(
      results,
      numbers(100).map(n => 2 * n),
    )
    assert.equal(await map, results, 'a second await gives the same array')
    const [first, second] = await Promise.all([pool.map([1]), pool.map([])])
    assert.deepEqual([first, second], [[2], []])
    const started = pool.map([1, 2, 3])
    await started.next()
    assert.deepEqual(await started, [4, 6], 'the results that nobody took before')
    const failure = await rejection(pool.map([1, -1], { name: 'positive' }))
    assert.match(failure.message, /-1/)
  })
}

test('a map that is never read or awaited warns once', async () => {
  const output = async forgotten => {
    const program = `
      const pool = new Pool({ filename: handler('mapped.js'), maxWorkers: 1 })
      process.on('warning', ({ code }) => console.log(code))
      await pool.map([1])
      await pool.map([1]).return()
      for await (const result of pool.map([1])) console.log(result)
      ${forgotten}
      await pool.close()`
    const { output } = await runProgram(program, { nodeArguments: ['--expose-gc'] })
    return output.trim().split('\n')
  }
  assert.deepEqual(await output(''), ['2'])
  assert.deepEqual(await output('pool.map([1]); pool.map([2])'), ['2', 'LIDO_UNREAD_MAP'])
  const collected = `
    pool.map([1])
    let isWarned = false
    process.once('warning', () => { isWarned = true })
    while (!isWarned) {
      globalThis.gc()
      await new Promise(setImmediate)
    }
    pool.map([2])`
  assert.deepEqual(await output(collected), ['2', 'LIDO_UNREAD_MAP'])
})
