// What is given arrives, and what is returned comes back: the values that are easily lost, both ways.
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'

const cycle = { name: 'cycle' }
cycle.self = cycle

const values = [
  undefined,
  null,
  0,
  -0,
  '',
  false,
  true,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  -(2n ** 70n),
  '\u0000\ud800',
  'x'.repeat(1_000_000),
  [],
  {},
  // biome-ignore lint/suspicious/noSparseArray: a hole is a value too
  [1, , undefined, 3],
  new Date(0),
  /a+b/giu,
  new Map([[{ key: 1 }, new Set([1, Number.NaN])]]),
  new Uint8Array([1, 2, 3]),
  new Float64Array([-0, Number.NaN]),
  new ArrayBuffer(8),
  new DataView(new ArrayBuffer(8), 2, 4),
  cycle,
  Object.assign(Object.create(null), { a: 1 }),
  { undefined: undefined, null: null },
  { then: 'not a function' },
]

for (const value of values) {
  const shown = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 20 })
  test(`${shown} arrives unchanged as payload and as result`, async open => {
    const pool = open({ filename: handler('echo.js'), maxThreads: 1 })
    const copy = structuredClone(value)
    assert.equal(await pool.run(value, { name: 'seen' }), inspect(copy, { depth: 10 }))
    const back = await pool.run(value)
    if (value === null || typeof value !== 'object') assert.ok(Object.is(back, value), inspect(back))
    else assert.deepStrictEqual(back, copy)
  })
}

test('no payload at all is undefined', async open => {
  const pool = open({ filename: handler('echo.js'), maxThreads: 1 })
  assert.equal(await pool.run(), undefined)
  assert.equal(await pool.run(undefined, { name: 'seen' }), 'undefined')
})

test('an own __proto__ key is data on both sides and pollutes nothing', async open => {
  const pool = open({ filename: handler('echo.js'), maxThreads: 1 })
  const back = await pool.run(JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }'))
  assert.deepEqual(Object.keys(back), ['__proto__', 'constructor'])
  assert.equal(Object.getPrototypeOf(back), Object.prototype)
  assert.equal({}.polluted, undefined)
  assert.equal(await pool.run({}, { name: 'seen' }), '{}')
})

test('shared memory is shared, not copied', async open => {
  const pool = open({ filename: handler('echo.js'), maxThreads: 1 })
  const words = new Int32Array(new SharedArrayBuffer(4))
  const back = await pool.run(words)
  words[0] = 7
  assert.equal(back[0], 7)
})

test('large values arrive whole', async open => {
  const pool = open({ filename: handler('echo.js'), maxThreads: 1 })
  const bytes = new Uint8Array(32 * 1024 * 1024)
  bytes[0] = 1
  bytes[bytes.length - 1] = 2
  const back = await pool.run(bytes)
  assert.deepEqual([back.length, back[0], back[back.length - 1]], [bytes.length, 1, 2])
})
