// Payloads and results: they arrive in the same way on every backend.
import assert from 'node:assert/strict'
import { handler } from '../../helpers/handler.js'
import { rejection } from '../../helpers/rejection.js'

const plain = {
  nothing: [undefined, null],
  numbers: [0, -0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 10n, -(2n ** 70n)],
  texts: ['', 'abc', 'ÄÖ', '𝒳 two-byte', '\0'],
  booleans: [true, false],
  date: new Date(86_400_000),
  pattern: /a+b/giu,
  map: new Map([['a', new Set([1, 'b'])]]),
  holes: Object.assign(new Array(3), { 0: 1, 2: 3 }),
  boxed: [new Number(1), new String('s')],
  bytes: new Uint8Array([1, 2, 3]),
  floats: new Float64Array([0.5, -0]),
  view: new DataView(new ArrayBuffer(4)),
}

export const values = {
  async 'plain values arrive unchanged, as payload and as result'({ open }) {
    const pool = open()
    for (const [name, value] of Object.entries(plain)) assert.deepEqual(await pool.run(value), value, name)
    assert.equal(await pool.run(), undefined)
    for (const value of [undefined, null, 0, '', false, 10n]) assert.equal(await pool.run(value), value)
    assert.ok(Object.is(await pool.run(-0), -0))
  },

  async 'a Buffer arrives as a Uint8Array with the same bytes'({ open }) {
    const result = await open().run(Buffer.from('abc'))
    assert.equal(result.constructor, Uint8Array)
    assert.equal(Buffer.from(result).toString(), 'abc')
  },

  async 'a value with a reference to itself keeps that reference'({ open }) {
    const ring = { name: 'ring' }
    ring.self = ring
    const result = await open().run(ring)
    assert.equal(result.self, result)
    assert.notEqual(result, ring)
  },

  async 'an instance of a class arrives as a plain object with its fields'({ open }) {
    class Point {
      x = 1
    }
    const result = await open().run(new Point())
    assert.equal(Object.getPrototypeOf(result), Object.prototype)
    assert.deepEqual(result, { x: 1 })
  },

  async 'the handler gets a copy of the payload'({ open }) {
    const payload = { list: [1] }
    const result = await open().run(payload, { name: 'changeOwn' })
    assert.deepEqual(result, { list: [1], changed: true })
    assert.deepEqual(payload, { list: [1] })
  },

  async 'an error as payload and as result keeps its class and message'({ open }) {
    const result = await open().run(new RangeError('as a value'))
    assert.ok(result instanceof RangeError)
    assert.equal(result.message, 'as a value')
  },

  async 'a transferred buffer arrives whole and is detached in the host'({ open }) {
    const pool = open()
    const buffer = new Uint8Array(1000).fill(3).buffer
    const result = await pool.run({ buffer }, { transferList: [buffer] })
    assert.equal(buffer.byteLength, 0)
    assert.ok(new Uint8Array(result.buffer).every(byte => byte === 3))
  },

  async 'a result wrapped in move() arrives whole and is detached in the worker'({ open }) {
    const pool = open()
    const result = await pool.run(1000, { name: 'moved' })
    assert.equal(result.byteLength, 1000)
    assert.equal(await pool.run(undefined, { name: 'left' }), 0)
  },

  async 'an uncloneable payload rejects only its own call and names its path'({ open }) {
    const pool = open()
    const calls = [pool.run(1), pool.run({ items: [0, { call() {} }] }), pool.run(3)]
    assert.equal((await rejection(calls[1])).path, 'payload.items[1].call')
    assert.deepEqual(await Promise.all([calls[0], calls[2]]), [1, 3])
  },

  async 'an uncloneable result rejects its task and keeps the worker'({ open }) {
    const pool = open()
    const [{ id }] = pool.workers
    const problem = await rejection(pool.run(undefined, { name: 'callback' }))
    assert.equal(problem.code, 'ERR_LIDO_NOT_CLONEABLE')
    assert.equal(problem.path, 'result.items[1].call')
    assert.equal(await pool.run(2), 2)
    assert.deepEqual(
      pool.workers.map(worker => worker.id),
      [id],
    )
  },

  async 'a rejected run() call leaves its buffer intact'({ open }) {
    const pool = open()
    const buffer = new ArrayBuffer(8)
    for (const transferList of [
      [buffer, buffer],
      [buffer, {}],
    ]) {
      const problem = await rejection(pool.run({ buffer }, { transferList }))
      assert.equal(problem.code, 'ERR_LIDO_NOT_CLONEABLE')
    }
    const both = { buffer, call() {} }
    assert.equal((await rejection(pool.run(both, { transferList: [buffer] }))).code, 'ERR_LIDO_NOT_CLONEABLE')
    assert.equal(buffer.byteLength, 8)
    assert.equal(await pool.run(1), 1)
  },

  async 'a moved result that is detached or uncloneable rejects with its path'({ open }) {
    const pool = open({ filename: handler('moving.js') })
    for (const [name, path] of Object.entries({ gone: 'result', holed: 'result.list[0]' })) {
      const problem = await rejection(pool.run(undefined, { name }))
      assert.deepEqual([problem.code, problem.path], ['ERR_LIDO_NOT_CLONEABLE', path])
    }
  },

  async 'a SharedArrayBuffer stays shared as payload and as result'({ open }) {
    const words = new Int32Array(new SharedArrayBuffer(8))
    words[0] = 5
    const result = await open().run({ words })
    words[1] = 6
    assert.deepEqual([...result.words], [5, 6])
  },

  async 'a MessagePort can be transferred in a payload'({ open }) {
    const { port1, port2 } = new MessageChannel()
    const result = await open()
      .run({ port: port2 }, { transferList: [port2] })
      .catch(error => error)
    port1.close()
    // The handler cannot return the port without a transfer list. This error shows that the port had arrived.
    assert.match(String(result.message), /result/)
  },

  async 'a value of 100 MiB arrives whole, as payload and as result'({ open }) {
    const size = 100 * 2 ** 20
    const pool = open()
    const sent = new Uint8Array(size)
    sent[size - 1] = 9
    const result = await pool.run(sent)
    assert.equal(result.byteLength, size)
    assert.equal(result[size - 1], 9)
  },

  async 'a value that is nested 100,000 levels deep resolves or rejects, and the pool keeps working'({
    open,
  }) {
    const pool = open()
    let deep = {}
    for (let level = 0; level < 100_000; level++) deep = { deep }
    const [outcome] = await Promise.allSettled([pool.run(deep)])
    if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'ERR_LIDO_NOT_CLONEABLE')
    const [result] = await Promise.allSettled([pool.run(100_000, { filename: handler('deep.js') })])
    if (result.status === 'rejected') assert.equal(result.reason.code, 'ERR_LIDO_NOT_CLONEABLE')
    assert.equal(await pool.run(2), 2)
  },
}
