// The limits of the shared-memory lane: payloads and results that are too large for it, more tasks than it holds, cancelled
// tasks and exiting workers. Most tests run on both transports.
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { TaskCancelledError, WorkerExitError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Queued, upTo } from '../helpers/queued.js'
import { rejection } from '../helpers/rejection.js'

const KB = 1024
const MB = 1024 * KB
const transports = ['shared-memory', 'messages']

class Point {
  constructor(x) {
    this.x = x
  }
}

function values() {
  const shared = { name: 'shared' }
  const ring = new Map()
  ring.set('self', ring).set(ring, [ring])
  const buffer = Uint8Array.from({ length: 64 }, (_, index) => index).buffer
  const wide = Object.fromEntries(upTo(80).map(index => [`key ${index}`, index]))
  const named = Object.assign([1, 2], { note: 'beside the elements' })
  let deep = {}
  for (let depth = 0; depth < 200; depth++) deep = { deep }
  return {
    numbers: [0, -0, 1.5, -1, 2 ** 31, 2 ** 53, Number.NaN, Number.NEGATIVE_INFINITY],
    bigints: [0n, -1n, 2n ** 64n, -(2n ** 200n)],
    texts: [
      '',
      'latin \u00e9',
      'two bytes \u2713',
      '\ud800 alone',
      'x'.repeat(70_000),
      '\u2713'.repeat(70_000),
    ],
    'a date': new Date(12_345),
    'boxed values': [Object(1), Object('text'), Object(true), Object(7n)],
    'a regular expression': /a+(?<name>b)/giu,
    'maps and sets in each other': new Map([[new Set([1, { a: 1 }]), new Map([[null, undefined]])]]),
    'a map that holds itself': ring,
    'one object twice': [shared, { shared }, shared],
    'a sparse array': Object.assign(new Array(1000), { 5: 'five' }),
    'an array with fields': named,
    'keys like indices': { 2: 'b', 1: 'a', x: 'c' },
    'many keys': wide,
    'a long key': { ['k'.repeat(500)]: 1 },
    'deep nesting': deep,
    'no prototype': Object.assign(Object.create(null), { a: 1 }),
    'an instance of a class': new Point(3),
    errors: [new RangeError('out of range', { cause: new Error('why') }), new AggregateError([1], 'several')],
    'bytes of each kind': [
      new Int8Array([-1]),
      new Uint8ClampedArray([255]),
      new Int16Array([-2]),
      new Uint32Array([2 ** 32 - 1]),
      new Float32Array([0.5]),
      new BigInt64Array([-1n]),
      new DataView(buffer, 8, 4),
    ],
    'two views of one buffer': [new Uint8Array(buffer, 0, 8), new Uint16Array(buffer, 8, 4), buffer],
    'a buffer': Buffer.from('some bytes'),
    'a getter': {
      get now() {
        return 'read'
      },
    },
    'a symbol for a key': { [Symbol('not sent')]: 1, sent: 2 },
  }
}

for (const transport of transports) {
  test(`values arrive as structuredClone() copies them (transport: ${transport})`, async open => {
    const pool = open({ filename: handler('echo.js'), maxWorkers: 1, transport })
    for (const [title, value] of Object.entries(values())) {
      const copy = structuredClone(value)
      assert.equal(await pool.run(value, { name: 'seen' }), inspect(copy, { depth: 10 }), title)
      for (const name of ['default', 'later', 'default']) {
        assert.deepStrictEqual(await pool.run(value, { name }), copy, title)
      }
    }
  })

  test(`payloads and results of 1 byte to 5 MiB arrive unchanged (transport: ${transport})`, async open => {
    const pool = open({ filename: handler('echo.js'), maxWorkers: 2, transport })
    const sizes = [511 * KB, 512 * KB, 513 * KB, 2 * MB, 5 * MB, 1, 600 * KB, 40]
    const sent = sizes.flatMap(size => [
      'x'.repeat(size),
      new Uint8Array(size).fill(size % 251),
      { text: '\u2713'.repeat(size / 2) },
    ])
    assert.deepEqual(await Promise.all(sent.map(value => pool.run(value))), sent)
  })

  test(`tasks whose payloads exceed the size of the lane start in order (transport: ${transport})`, async open => {
    const queued = new Queued(401)
    const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1, transport })
    const gate = pool.run({ index: 0 }, { name: 'gated' })
    await queued.starts(1)
    const bytes = new Uint8Array(100_000).fill(7)
    const answers = upTo(400).map(index => pool.run({ index: index + 1, bytes }))
    queued.openGate()
    assert.deepEqual(await Promise.all([gate, ...answers]), upTo(401))
    assert.deepEqual(queued.order, upTo(401))
  })

  test(`results that exceed the size of the lane arrive whole (transport: ${transport})`, async open => {
    const queued = new Queued(120)
    const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1, transport, name: 'sized' })
    const answers = upTo(120).map(index => pool.run({ index, length: index % 10 === 0 ? 3 * MB : 100_000 }))
    await queued.starts(1)
    const results = await Promise.all(answers)
    assert.deepEqual(
      results.map(({ index, text }) => [index, text.length]),
      upTo(120).map(index => [index, index % 10 === 0 ? 3 * MB : 100_000]),
    )
  })

  test(`a getter in a payload may cancel its own task (transport: ${transport})`, async open => {
    const queued = new Queued(20)
    const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1, transport })
    assert.equal(await pool.run({ index: 0 }), 0)
    const controller = new AbortController()
    const payload = {
      get index() {
        controller.abort()
        return 1
      },
    }
    const cancelled = rejection(pool.run(payload, { signal: controller.signal }))
    const next = pool.run({ index: 2 })
    assert.ok((await cancelled) instanceof TaskCancelledError)
    assert.equal(await next, 2)
    assert.deepEqual(queued.order, [0, 2])
    const { inFlight, waiting } = pool.stats().tasks
    assert.equal(inFlight + waiting, 0)
  })

  for (const threads of [1, 2]) {
    test(`tasks with copied and transferred payloads start in order (workers: ${threads}, transport: ${transport})`, async open => {
      const queued = new Queued(300)
      const pool = open({ ...queued.options, minWorkers: threads, maxWorkers: threads, transport })
      const gates = upTo(threads).map(index => pool.run({ index }, { name: 'gated' }))
      await queued.starts(threads)
      const answers = upTo(200).map(place => {
        const index = threads + place
        if (place % 3 === 1) return pool.run(index, { name: 'number' })
        if (place % 3 === 2) return pool.run({ index, filler: 'x'.repeat(place * 100) })
        const buffer = new ArrayBuffer(16)
        return pool.run({ index, buffer }, { name: 'moved', transferList: [buffer] })
      })
      queued.openGate()
      await Promise.all([...gates, ...answers])
      // A worker records a start shortly after it takes the task. So one task of each worker may not be recorded yet.
      const seen = new Set()
      let lowest = 0
      for (const index of queued.order) {
        seen.add(index)
        while (seen.has(lowest)) lowest++
        const skipped = upTo(index).filter(earlier => earlier >= lowest && !seen.has(earlier))
        assert.ok(skipped.length < threads || index < threads, `${index} started before ${skipped}`)
      }
    })
  }

  test(`a worker exit rejects only its started task, and queued tasks start in order (transport: ${transport})`, async open => {
    const queued = new Queued(210)
    const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1, transport })
    const doomed = rejection(pool.run({ index: 0 }, { name: 'exit' }))
    const behind = upTo(200).map(place => pool.run({ index: place + 1, text: 'x'.repeat(5000) }))
    assert.ok((await doomed) instanceof WorkerExitError)
    assert.deepEqual(
      await Promise.all(behind),
      upTo(200).map(place => place + 1),
    )
    assert.deepEqual(queued.order, upTo(201))
  })
}

test('a result arrives although its worker is killed for the next task', async open => {
  for (let round = 0; round < 10; round++) {
    const queued = new Queued(20)
    const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1 })
    await pool.run({ index: 0 })
    const controller = new AbortController()
    const answered = pool.run({ index: 1, buffer: new ArrayBuffer(16) }, { name: 'moved' })
    const endless = rejection(pool.run({ index: 2 }, { name: 'endless', signal: controller.signal }))
    // This loop blocks the event loop. So the host has not read the first result when it cancels the second task.
    while (queued.started < 3);
    controller.abort()
    assert.equal((await answered).byteLength, 16)
    assert.ok((await endless) instanceof TaskCancelledError)
    await pool.destroy()
  }
})

test('a worker starts 500 queued tasks while the event loop of the host is blocked', async open => {
  const queued = new Queued(600)
  const pool = open({ ...queued.options, minWorkers: 1, maxWorkers: 1, name: 'number' })
  await pool.run(0)
  const answers = upTo(500).map(index => pool.run(index))
  // This loop blocks the event loop until all tasks have started.
  while (queued.started < 501);
  assert.deepEqual(await Promise.all(answers), upTo(500))
})

test('stats() reports the transport and the reason for it', async open => {
  const filename = handler('echo.js')
  const roadOf = options => {
    const { transport, transportReason } = open({
      filename,
      minWorkers: 0,
      maxWorkers: 1,
      ...options,
    }).stats()
    return [transport, transportReason]
  }
  assert.deepEqual(roadOf({}), ['shared-memory', null])
  assert.deepEqual(roadOf({ transport: 'shared-memory' }), ['shared-memory', null])
  assert.deepEqual(roadOf({ transport: 'messages' }), ['messages', 'transport'])
  assert.deepEqual(roadOf({ loadBalancer: (_task, workers) => workers[0] }), ['messages', 'loadBalancer'])
})
