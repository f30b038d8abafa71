// Payloads and transfer lists that cannot be sent: one clear error, for that call only. The buffers stay intact, and the worker
// and its other tasks continue. Most tests run on both transports.
import assert from 'node:assert/strict'
import { runInNewContext } from 'node:vm'
import { MessageChannel } from 'node:worker_threads'
import { move, NotCloneableError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { Track } from '../helpers/track.js'

function detached() {
  const buffer = new ArrayBuffer(8)
  structuredClone(buffer, { transfer: [buffer] })
  return buffer
}

const throwing = {
  get bad() {
    throw new RangeError('not to be read')
  },
}
const trapped = new Proxy(
  {},
  {
    ownKeys() {
      throw new RangeError('trapped')
    },
  },
)
class Lying {
  constructor() {
    this.callback = () => {}
  }
}
Object.defineProperty(Lying.prototype, 'constructor', { value: Object })

/** For each mistake: the payload, the path of the fault, and the options of the call. */
const refused = {
  'a function in a map in an array': () => [
    { list: [new Map([['k', () => {}]])] },
    'payload.list[0].get("k")',
  ],
  'a function in a set': () => [{ set: new Set([1, () => {}]) }, 'payload.set.member'],
  'a getter that throws': () => [{ ok: 1, throwing }, 'payload.throwing.bad'],
  'a toJSON of its own': () => [{ toJSON: () => 'unused' }, 'payload.toJSON'],
  'a proxy': () => [{ inner: new Proxy({}, {}) }, 'payload.inner'],
  'a proxy whose trap throws': () => [{ trapped }, 'payload.trapped'],
  'an object whose constructor lies': () => [{ lying: new Lying() }, 'payload.lying.callback'],
  'a generator': () => [(function* () {})(), 'payload'],
  'a detached buffer': () => [{ parts: [detached()] }, 'payload.parts[0]'],
  'a view of a detached buffer': () => [{ view: structuredCloneView() }, 'payload.view'],
  'a port that is not transferred': () => {
    const { port1 } = new MessageChannel()
    port1.close()
    return [{ port1 }, 'payload.port1']
  },
  'a buffer twice in the transfer list': buffer => [
    { buffer },
    'transferList[1]',
    { transferList: [buffer, buffer] },
  ],
  'a detached buffer in the transfer list': buffer => {
    const gone = detached()
    return [{ buffer, gone }, 'transferList[1]', { transferList: [buffer, gone] }]
  },
  'plain data in the transfer list': buffer => [
    { buffer },
    'transferList[1]',
    { transferList: [buffer, {}] },
  ],
  'a view in the transfer list': buffer => [
    { buffer },
    'transferList[1]',
    { transferList: [buffer, new Uint8Array(8)] },
  ],
  'nothing in the transfer list': buffer => [{ buffer }, 'transferList[0]', { transferList: [null, buffer] }],
  'a function beside what is transferred': buffer => [
    { buffer, call() {} },
    'payload.call',
    { transferList: [buffer] },
  ],
  'a detached buffer to be moved': () => [move(detached()), 'payload'],
}

/** Their state is not in fields that a copy has. */
const hidden = {
  URLSearchParams: [new URLSearchParams('a=1'), /toString/],
  Headers: [new Headers({ a: 'b' }), /Object\.fromEntries/],
  FormData: [new FormData(), /Object\.fromEntries/],
  AbortSignal: [new AbortController().signal, /option 'signal'/],
  AbortController: [new AbortController(), /option 'signal'/],
  Request: [new Request('https://example.org'), /arrayBuffer/],
  Event: [new Event('x'), /plain object/],
  'a private field': [
    new (class Money {
      currency = 'EUR'
      #amount = 1
      get amount() {
        return this.#amount
      }
    })(),
    /plain object/,
  ],
  'a private field of its base class': [
    new (class Child extends class Base {
      #a = 1
      has(b) {
        return #a in b
      }
    } {
      own = 1
    })(),
    /plain object/,
  ],
  'a private field and a toJSON()': [
    new (class Money {
      #amount = 1
      toJSON() {
        return this.#amount
      }
    })(),
    /toJSON\(\)/,
  ],
  'a field named by a symbol': [
    Object.assign(new (class Tagged {})(), { [Symbol('state')]: 1 }),
    /plain object/,
  ],
  'a getter of a closure': [
    new (class Closed {
      get value() {
        return 1
      }
    })(),
    /plain object/,
  ],
}

/** Their own fields are all there, although their class looks alike. */
const complete = {
  'a private method': new (class Point {
    x = 1
    #norm() {
      return this.x
    }
    get length() {
      return this.#norm()
    }
  })(),
  'a private static field': new (class Point {
    static #count = 0
    x = 1
    static next() {
      return ++Point.#count
    }
  })(),
  'a hash in a string': new (class Colour {
    value = '#fff'
    other = 'a #b = 1;'
  })(),
  'a hash in a comment': new (class Note {
    x = 1 /* see #issue; */
  })(),
  'an empty object of another context': runInNewContext('({})'),
  'a class of another context': runInNewContext('new (class Point { x = 1 })()'),
  'no field at all': new (class Marker {})(),
  'a base class of Node': Object.assign(new (class Source extends EventTarget {})(), { x: 1 }),
}

for (const [title, options] of Object.entries(backends)) {
  test(`an object with hidden state is refused, and one with all of its fields arrives (${title})`, async open => {
    const pool = open({ filename: handler('echo.js'), maxWorkers: 1, ...options })
    for (const [what, [value, remedy]] of Object.entries(hidden)) {
      const error = await rejection(pool.run({ inner: { value } })).catch(() =>
        assert.fail(`${what} was accepted`),
      )
      assert.ok(error instanceof NotCloneableError, `${what}: ${error}`)
      assert.equal(error.path, 'payload.inner.value', what)
      assert.match(error.message, remedy, what)
    }
    const collections = {
      map: new (class Mine extends Map {})([[1, 2]]),
      set: new (class Mine extends Set {})([1]),
    }
    assert.deepEqual(await pool.run(collections), { map: new Map([[1, 2]]), set: new Set([1]) })
    if (options.backend !== 'process') {
      const memory = new SharedArrayBuffer(8)
      assert.equal((await pool.run({ memory, point: new (class Point {})() })).memory.byteLength, 8)
    }
    for (const [what, value] of Object.entries(complete)) {
      assert.deepEqual(await pool.run({ value }), { value: Object.fromEntries(Object.entries(value)) }, what)
    }
  })
}

function structuredCloneView() {
  const view = new Uint8Array(8)
  structuredClone(view, { transfer: [view.buffer] })
  return view
}

for (const transport of ['shared-memory', 'messages']) {
  test(`an uncloneable payload rejects with the path of its fault and detaches nothing (transport: ${transport})`, async open => {
    const track = new Track(2)
    const tracked = { filename: handler('tracked.js'), name: 'patient' }
    const options = { minWorkers: 1, maxWorkers: 1, concurrentTasksPerWorker: 4, transport }
    const pool = open({ filename: handler('echo.js'), ...options })
    const neighbours = [0, 1].map(index => pool.run(track.task(index), tracked))
    await track.starts(2)
    for (const [what, make] of Object.entries(refused)) {
      const buffer = new ArrayBuffer(8)
      const [payload, path, callOptions] = make(buffer)
      const error = await rejection(pool.run(payload, callOptions)).catch(() =>
        assert.fail(`${what} was accepted`),
      )
      assert.ok(error instanceof NotCloneableError, `${what}: ${String(error)}`)
      assert.equal(error.path, path, what)
      assert.ok(error.message.startsWith(`${path} `), what)
      assert.ok(error.cause instanceof Error, what)
      assert.equal(buffer.byteLength, 8, what)
      assert.equal(await pool.run(what), what)
    }
    track.releaseAll()
    assert.deepEqual(await Promise.all(neighbours), [0, 1])
    assert.equal(pool.workers[0].id, 1)
    assert.deepEqual(pool.stats().tasks.inFlight, 0)
  })

  test(`an unusual object arrives as structuredClone() copies it (transport: ${transport})`, async open => {
    const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, transport })
    const error = Object.assign(new TypeError('given'), { call() {} })
    const lying = { __proto__: { constructor: Map, size: 3, get: 1 }, own: 1 }
    const values = {
      bare: Object.assign(Object.create(null), { a: 1 }),
      lying,
      tagged: { [Symbol.toStringTag]: 'Map', a: 1 },
      proto: JSON.parse('{"__proto__":{"polluted":1},"a":1}'),
      error,
      frozen: Object.freeze([Object.freeze({ a: 1 })]),
      sparse: Object.assign(new Array(3), { 0: 1, 2: 3 }),
      named: Object.assign([1], { extra: 2 }),
      mine: new (class Mine {
        a = 1
      })(),
    }
    for (const [what, value] of Object.entries(values)) {
      assert.deepEqual(await pool.run(value), structuredClone(value), what)
    }
    assert.equal({}.polluted, undefined)
  })
}

test('the first of two tasks that transfer the same buffer receives it, and the second task rejects', async open => {
  const pool = open({ filename: handler('large.js'), name: 'measure', minWorkers: 1, maxWorkers: 1 })
  const buffer = new ArrayBuffer(8)
  const [first, second] = await Promise.allSettled([
    pool.run(buffer, { transferList: [buffer] }),
    pool.run({ byteLength: 1, buffer }, { transferList: [buffer] }),
  ])
  assert.deepEqual(first, { status: 'fulfilled', value: 8 })
  assert.ok(second.reason instanceof NotCloneableError)
  assert.equal(second.reason.path, 'transferList[0]')
})
