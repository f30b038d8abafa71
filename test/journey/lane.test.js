// The lane's edges: what is too large for it, more than it holds, tasks taken back out of it, and pools without one. Where
// it makes no difference by which road tasks travel, both are asked.
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { PoolClosedError, TaskCancelledError, WorkerExitError, WorkerStartError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { startProgram } from '../helpers/program.js'
import { Queued, upTo } from '../helpers/queued.js'
import { rejection, rejections } from '../helpers/rejection.js'

const KB = 1024
const MB = 1024 * KB
const roads = [
  { lane: true, road: 'lane' },
  { lane: false, road: 'port' },
]

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

for (const { lane, road } of roads) {
  for (const [title, value] of Object.entries(values())) {
    test(`${title}: what comes back over the ${road} is what structuredClone gives`, async open => {
      const pool = open({ filename: handler('echo.js'), maxThreads: 1, lane })
      const copy = structuredClone(value)
      assert.equal(await pool.run(value, { name: 'seen' }), inspect(copy, { depth: 10 }))
      for (const name of ['default', 'later', 'default']) {
        assert.deepStrictEqual(await pool.run(value, { name }), copy)
      }
    })
  }

  test(`payloads and results of any size arrive over the ${road}`, async open => {
    const pool = open({ filename: handler('echo.js'), maxThreads: 2, lane })
    const sizes = [511 * KB, 512 * KB, 513 * KB, 2 * MB, 5 * MB, 1, 600 * KB, 40]
    const sent = sizes.flatMap(size => [
      'x'.repeat(size),
      new Uint8Array(size).fill(size % 251),
      { text: '\u2713'.repeat(size / 2) },
    ])
    assert.deepEqual(await Promise.all(sent.map(value => pool.run(value))), sent)
  })

  test(`more bytes in flight than the lane has: nothing is lost and the order is kept (${road})`, async open => {
    const queued = new Queued(401)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
    const gate = pool.run({ index: 0 }, { name: 'gated' })
    await queued.starts(1)
    const bytes = new Uint8Array(100_000).fill(7)
    const answers = upTo(400).map(index => pool.run({ index: index + 1, bytes }))
    queued.openGate()
    assert.deepEqual(await Promise.all([gate, ...answers]), upTo(401))
    assert.deepEqual(queued.order, upTo(401))
  })

  test(`more bytes of results than a ring has, while the host is busy (${road})`, async open => {
    const queued = new Queued(120)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane, name: 'sized' })
    const answers = upTo(120).map(index => pool.run({ index, length: index % 10 === 0 ? 3 * MB : 100_000 }))
    await queued.starts(1)
    const results = await Promise.all(answers)
    assert.deepEqual(
      results.map(({ index, text }) => [index, text.length]),
      upTo(120).map(index => [index, index % 10 === 0 ? 3 * MB : 100_000]),
    )
  })

  test(`10,000 tasks of 64 KB submitted at once are all answered, in order (${road})`, async open => {
    const queued = new Queued(10_000)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
    const text = 'x'.repeat(64 * KB)
    const results = await Promise.all(upTo(10_000).map(index => pool.run({ index, text })))
    assert.deepEqual(results, upTo(10_000))
    assert.deepEqual(queued.order, upTo(10_000))
  })

  // What the lane cannot write goes over the port: a transfer at once, the other after the lane has declined it.
  const payloads = {
    plain: fields => ({ payload: fields }),
    declined: fields => ({
      payload: Object.defineProperty(fields, 'error', { value: new Error('x'), enumerable: true }),
    }),
    moved: fields => {
      const buffer = new ArrayBuffer(8)
      return {
        payload: Object.defineProperty(fields, 'buffer', { value: buffer, enumerable: true }),
        transferList: [buffer],
      }
    },
  }
  for (const [kind, make] of Object.entries(payloads)) {
    for (const isBusy of [false, true]) {
      const when = isBusy ? 'behind others' : 'at once'
      test(`a getter may cancel the task that it is read for (${road}, ${kind}, ${when})`, async open => {
        const queued = new Queued(20)
        const pool = open({
          ...queued.options,
          minThreads: 1,
          maxThreads: 1,
          lane,
          concurrentTasksPerWorker: 2,
        })
        assert.equal(await pool.run({ index: 0 }), 0)
        const before = isBusy ? [pool.run({ index: 1 }, { name: 'gated' }), pool.run({ index: 2 })] : []
        if (isBusy) await queued.starts(2)
        const controller = new AbortController()
        const { payload, transferList } = make({
          get index() {
            controller.abort()
            return 3
          },
        })
        const cancelled = rejection(pool.run(payload, { transferList, signal: controller.signal }))
        const next = pool.run({ index: 4 })
        queued.openGate()
        assert.ok((await cancelled) instanceof TaskCancelledError)
        assert.equal(await next, 4)
        await Promise.all(before)
        assert.equal(queued.order.includes(3), false)
        assert.equal(await pool.run({ index: 5 }), 5)
        assert.equal(pool.stats().tasks.inFlight + pool.stats().tasks.waiting, 0)
      })
    }

    test(`a getter may destroy the pool (${road}, ${kind})`, async open => {
      const queued = new Queued(20)
      const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
      await pool.run({ index: 0 })
      let destroyed
      const { payload, transferList } = make({
        get index() {
          destroyed ??= pool.destroy()
          return 1
        },
      })
      const errors = await rejections([pool.run(payload, { transferList }), pool.run({ index: 2 })])
      for (const error of errors) assert.ok(error instanceof PoolClosedError, inspect(error))
      await destroyed
      assert.equal(pool.stats().state, 'closed')
    })

    test(`a getter may run another task, and close the pool (${road}, ${kind})`, async open => {
      const queued = new Queued(20)
      const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
      await pool.run({ index: 0 })
      let inner
      let closed
      const { payload, transferList } = make({
        get index() {
          inner ??= pool.run({ index: 2 })
          closed ??= pool.close()
          return 1
        },
      })
      assert.equal(await pool.run(payload, { transferList }), 1)
      assert.equal(await inner, 2)
      assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    })
  }

  test(`a handler that is not there is told by name, among tasks that run (${road})`, async open => {
    const pool = open({ filename: handler('echo.js'), maxThreads: 2, lane })
    const names = upTo(60).map(index => (index % 3 === 0 ? `missing${index}` : 'twice'))
    const outcomes = await Promise.allSettled(names.map((name, index) => pool.run(index, { name })))
    for (const [index, { value, reason }] of outcomes.entries()) {
      if (index % 3 !== 0) assert.equal(value, 2 * index)
      else {
        assert.ok(reason instanceof WorkerStartError)
        assert.match(reason.message, new RegExp(`missing${index}\\b`))
      }
    }
  })

  test(`1,500 handlers keep their names apart (${road})`, async (open, t) => {
    const folder = openFolder(t)
    const lines = upTo(1500).map(index => `export const handler${index} = value => value * 10000 + ${index}`)
    const pool = open({ filename: folder.write('many.mjs', lines.join('\n')), maxThreads: 2, lane })
    for (const round of [1, 2, 3]) {
      const results = await Promise.all(upTo(1500).map(index => pool.run(round, { name: `handler${index}` })))
      assert.deepEqual(
        results,
        upTo(1500).map(index => round * 10_000 + index),
      )
    }
  })

  for (const threads of [1, 2]) {
    test(`copied and moved payloads start in one order, ${threads} workers (${road})`, async open => {
      const queued = new Queued(300)
      const pool = open({ ...queued.options, minThreads: threads, maxThreads: threads, lane })
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
      // A worker writes down what it starts a moment after it has taken it: one task a worker may be under way.
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

  test(`tasks cancelled while they wait never start, the others do, in order (${road})`, async open => {
    const queued = new Queued(40)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
    const gate = pool.run({ index: 0 }, { name: 'gated' })
    await queued.starts(1)
    const controllers = upTo(30).map(() => new AbortController())
    const answers = controllers.map(({ signal }, place) => pool.run({ index: place + 1 }, { signal }))
    for (const [place, controller] of controllers.entries()) if (place % 3 !== 0) controller.abort()
    queued.openGate()
    const outcomes = await Promise.allSettled(answers)
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'fulfilled'),
      upTo(30).map(place => place % 3 === 0),
    )
    await gate
    assert.deepEqual(queued.order, [
      0,
      ...upTo(30)
        .filter(place => place % 3 === 0)
        .map(place => place + 1),
    ])
    assert.equal(pool.workers[0].id, 1)
  })

  test(`a running task cancelled ends its worker; those behind it run (${road})`, async open => {
    const queued = new Queued(40)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
    const controller = new AbortController()
    const endless = pool.run({ index: 0 }, { name: 'endless', signal: controller.signal })
    await queued.starts(1)
    const behind = upTo(20).map(place => pool.run({ index: place + 1 }))
    controller.abort()
    assert.ok((await rejection(endless)) instanceof TaskCancelledError)
    assert.deepEqual(
      await Promise.all(behind),
      upTo(20).map(place => place + 1),
    )
    assert.deepEqual(queued.order, upTo(21))
  })

  for (const concurrentTasksPerWorker of [1, 4]) {
    test(`one signal for 1,000 tasks cancels all that wait; slots ${concurrentTasksPerWorker} (${road})`, async open => {
      const queued = new Queued(1100)
      const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane, concurrentTasksPerWorker })
      const gate = pool.run({ index: 0 }, { name: 'gated' })
      await queued.starts(1)
      const controller = new AbortController()
      const { signal } = controller
      const errors = rejections(upTo(1000).map(place => pool.run({ index: place + 1 }, { signal })))
      controller.abort()
      for (const error of await errors) assert.ok(error instanceof TaskCancelledError)
      queued.openGate()
      await gate
      assert.equal(await pool.run({ index: 1001 }), 1001)
      assert.deepEqual(queued.order, [0, 1001])
      assert.equal(pool.workers[0].id, 1)
    })
  }

  for (const how of ['exits', 'is terminated']) {
    test(`a worker that ${how} takes along only what it had begun; the rest starts in order (${road})`, async open => {
      const queued = new Queued(210)
      const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, lane })
      const doomed = rejection(pool.run({ index: 0 }, { name: how === 'exits' ? 'exit' : 'gated' }))
      const behind = upTo(200).map(place => pool.run({ index: place + 1, text: 'x'.repeat(5000) }))
      await queued.starts(1)
      if (how === 'is terminated') void pool.workers[0].terminate()
      assert.ok((await doomed) instanceof WorkerExitError)
      assert.deepEqual(
        await Promise.all(behind),
        upTo(200).map(place => place + 1),
      )
      assert.deepEqual(queued.order, upTo(201))
    })
  }

  test(`destroy() rejects all that wait and run, wherever they are (${road})`, async open => {
    const queued = new Queued(3000)
    const pool = open({ ...queued.options, minThreads: 2, maxThreads: 2, lane })
    const errors = rejections(upTo(2500).map(index => pool.run({ index }, { name: 'gated' })))
    await queued.starts(2)
    await pool.destroy()
    for (const error of await errors) assert.equal(error.reason, 'destroyed')
    assert.equal(queued.started, 2)
  })

  test(`close() waits for all that were accepted (${road})`, async open => {
    const queued = new Queued(3000)
    const pool = open({ ...queued.options, minThreads: 2, maxThreads: 2, lane })
    const answers = upTo(2500).map(index => pool.run({ index }))
    assert.deepEqual(await pool.close(), { cutOff: 0, timedOut: false })
    assert.deepEqual(await Promise.all(answers), upTo(2500))
  })

  test(`close({ force: true }) rejects what waits and lets finish what runs (${road})`, async open => {
    const queued = new Queued(3000)
    const pool = open({ ...queued.options, minThreads: 2, maxThreads: 2, lane })
    const running = [0, 1].map(index => pool.run({ index }, { name: 'gated' }))
    await queued.starts(2)
    const errors = rejections(upTo(2500).map(place => pool.run({ index: place + 2 })))
    const closed = pool.close({ force: true })
    for (const error of await errors) assert.equal(error.reason, 'forced')
    queued.openGate()
    assert.deepEqual(await Promise.all(running), [0, 1])
    assert.deepEqual(await closed, { cutOff: 2500, timedOut: false })
    assert.equal(queued.started, 2)
  })
}

test('a task cancelled when a worker has taken it and waits for its payload: the worker lives, the payload stays', async open => {
  for (const concurrentTasksPerWorker of [1, 4]) {
    const queued = new Queued(20)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, concurrentTasksPerWorker })
    const gate = pool.run({ index: 0 }, { name: 'gated' })
    await queued.starts(1)
    const between = pool.run({ index: 1 })
    const controller = new AbortController()
    const { signal } = controller
    const buffer = new ArrayBuffer(16)
    const cancelled = rejection(
      pool.run({ index: 2, buffer }, { name: 'moved', transferList: [buffer], signal }),
    )
    const behind = pool.run({ index: 3 })
    queued.openGate()
    // In one turn of this event loop: the worker asks for the payload, and nobody answers.
    while (!pool.workers[0].tasks.some(task => task.signal === signal));
    controller.abort()
    assert.ok((await cancelled) instanceof TaskCancelledError)
    assert.equal(buffer.byteLength, 16)
    assert.deepEqual(await Promise.all([gate, between, behind]), [0, 1, 3])
    assert.deepEqual(queued.order, [0, 1, 3])
    assert.equal(await pool.run({ index: 4 }), 4)
    assert.equal(pool.workers[0].id, 1)
  }
})

test('an answer given is an answer, also when its worker is ended for the task after it', async open => {
  for (let round = 0; round < 10; round++) {
    const queued = new Queued(20)
    const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1 })
    await pool.run({ index: 0 })
    const controller = new AbortController()
    const answered = pool.run({ index: 1, buffer: new ArrayBuffer(16) }, { name: 'moved' })
    const endless = rejection(pool.run({ index: 2 }, { name: 'endless', signal: controller.signal }))
    // In one turn of this event loop: the first answer is given, and not taken in when the second task is cancelled.
    while (queued.started < 3);
    controller.abort()
    assert.equal((await answered).byteLength, 16)
    assert.ok((await endless) instanceof TaskCancelledError)
    await pool.destroy()
  }
})

test('workers go on with what is queued while the host is busy', async open => {
  const queued = new Queued(600)
  const pool = open({ ...queued.options, minThreads: 1, maxThreads: 1, name: 'number' })
  await pool.run(0)
  const answers = upTo(500).map(index => pool.run(index))
  // Not one turn of this event loop until all have started.
  while (queued.started < 501);
  assert.deepEqual(await Promise.all(answers), upTo(500))
})

test('stats() say by which road tasks travel, and why not by the other', async open => {
  const filename = handler('echo.js')
  const roadOf = options => {
    const { transport, transportReason } = open({
      filename,
      minThreads: 0,
      maxThreads: 1,
      ...options,
    }).stats()
    return [transport, transportReason]
  }
  assert.deepEqual(roadOf({}), ['lane', null])
  assert.deepEqual(roadOf({ lane: true }), ['lane', null])
  assert.deepEqual(roadOf({ lane: false }), ['port', 'option'])
  assert.deepEqual(roadOf({ loadBalancer: (_task, workers) => workers[0] }), ['port', 'loadBalancer'])
})

for (const where of ['anywhere', 'in the host']) {
  test(`a program without SharedArrayBuffer ${where} has a pool by the port alone, that says so`, async () => {
    const source = `
      const pool = new Pool({
        filename: handler('echo.js'), minThreads: 0, maxThreads: 2, ${where === 'in the host' ? 'execArgv: [],' : ''}
      })
      const cold = await Promise.all(Array.from({ length: 50 }, (_, index) => pool.run(index, { name: 'twice' })))
      const warm = await Promise.all(Array.from({ length: 50 }, (_, index) => pool.run({ index })))
      const controller = new AbortController()
      const many = Array.from({ length: 20 }, () => pool.run(1, { signal: controller.signal }).catch(error => error.name))
      controller.abort()
      const aborted = await Promise.all(many)
      const lost = Array.from({ length: 20 }, (_, index) => pool.run(index).catch(error => error.name))
      const begun = new Promise(resolve => setImmediate(resolve))
      await begun
      void pool.workers[0]?.terminate()
      await Promise.all(lost)
      const again = await pool.run('again')
      const { transport, transportReason, tasks } = pool.stats()
      await pool.close()
      console.log(JSON.stringify({
        cold: cold.reduce((sum, value) => sum + value, 0), warm: warm.length, aborted: [...new Set(aborted)], again,
        transport, transportReason, inFlight: tasks.inFlight, none: typeof SharedArrayBuffer,
      }))
    `
    const nodeArguments = [
      '--import',
      `data:text/javascript,import 'node:worker_threads';delete globalThis.SharedArrayBuffer`,
    ]
    const { output, errors, exitCode } = await startProgram(source, { nodeArguments }).ended
    assert.equal(exitCode, 0, errors)
    assert.deepEqual(JSON.parse(output), {
      cold: 2450,
      warm: 50,
      aborted: ['AbortError'],
      again: 'again',
      transport: 'port',
      transportReason: 'noSharedMemory',
      inFlight: 0,
      none: 'undefined',
    })
  })
}
