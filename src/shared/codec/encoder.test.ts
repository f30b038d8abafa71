// Cases that the random values of test/codec do not reach: getters, limits of memory and depth, and properties that a program
// adds to Object.prototype.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { BYTES, openCodec } from '../../testing/codec-pair.js'
import { decodeLarge } from './decoder.js'
import { DECLINED, Encoder, LARGE, NO_ROOM } from './encoder.js'
import { ShapeTable } from './shapes.js'
import { LARGE_SIZES, LargeDraft } from './writer.js'

/** Enough times for the encoder to learn a shape and to generate code for it. */
const MANY_TIMES = 20

function cross(value: unknown, times = 1): any {
  const { encoder, decoder } = openCodec()
  let copy: unknown
  for (; times > 0; times--) copy = decoder.decode(0, encoder.encode(value, 0, BYTES))
  return copy
}

function readAll(steps: ReturnType<typeof decodeLarge>): unknown {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

describe('values that the encoder accepts', () => {
  for (const count of [255, 256, 257, 1000]) {
    test(`each of ${count} objects that occur twice arrives as one object`, () => {
      const objects = Array.from({ length: count }, (_, index): object =>
        index % 3 === 0 ? [index] : { index },
      )
      const value = { objects, reverse: [...objects].reverse() }
      const copy = cross(value)
      assert.deepEqual(copy, value)
      for (const [index, object] of copy.objects.entries()) assert.equal(copy.reverse.at(-1 - index), object)
    })
  }

  for (const size of [0, 1, 7, 4095, 4097, 16_383, 16_384, 40_000]) {
    test(`a buffer of ${size} bytes keeps every byte`, () => {
      const sent = Uint8Array.from({ length: size }, (_, index) => index % 251)
      const copy = cross(sent.buffer)
      assert.equal(Object.getPrototypeOf(copy), ArrayBuffer.prototype)
      assert.deepEqual([copy.byteLength, copy.resizable], [size, false])
      assert.deepEqual(new Uint8Array(copy), sent)
      structuredClone(copy, { transfer: [copy] })
    })
  }

  test('values before, between and after large buffers arrive unchanged', () => {
    const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 7) % 253)
    const value = { head: 'x', a: bytes(16_384), mid: 'y', b: bytes(16_391).buffer, tail: [1, 'z'] }
    const { encoder, decoder } = openCodec()
    assert.deepEqual(decoder.decode(0, encoder.encode(value, 0, BYTES)), structuredClone(value))
    const sizes = { chunkBytes: 65_536, largeBytes: 4096, separateBytes: 65_536 }
    const message = encoder.encodeLarge(value, new LargeDraft(sizes))!
    assert.deepEqual(readAll(decodeLarge(message, decoder.shapes)), structuredClone(value))
  })

  test('the encoder calls each getter once, in order', () => {
    const calls: string[] = []
    const value = {
      get first() {
        calls.push('first')
        return { then: 1, toJSON: 2 }
      },
      get second() {
        calls.push('second')
        return 2
      },
    }
    const { encoder } = openCodec()
    for (let times = 0; times < MANY_TIMES; times++) {
      calls.length = 0
      assert.ok(encoder.encode(value, 0, BYTES) > 0)
      assert.deepEqual(calls, ['first', 'second'])
    }
  })

  test('a map keeps the entries that it had before a getter of an entry changed it', () => {
    const create = () => {
      const map = new Map<unknown, unknown>()
      map.set('first', {
        get a() {
          map.set('late', 1)
          map.delete('second')
          return 1
        },
      })
      return map.set('second', 2)
    }
    assert.deepStrictEqual(cross(create()), structuredClone(create()))
  })

  test('the encoder writes only between the given byte positions', () => {
    const { encoder, decoder, memory } = openCodec()
    const bytes = new Uint8Array(memory).fill(0xaa)
    const value = { a: 'text', b: [1.5, 2n ** 100n, 'é€'.repeat(100)], c: new Uint8Array(33) }
    const end = encoder.encode(value, 1000, 3000)
    assert.ok(end > 1000 && end <= 3000)
    assert.ok(bytes.subarray(0, 1000).every(byte => byte === 0xaa))
    assert.ok(bytes.subarray(end).every(byte => byte === 0xaa))
    assert.deepStrictEqual(decoder.decode(1000, end), value)
  })
})

describe('values that do not fit into the memory', () => {
  const values: [string, unknown][] = [
    ['a number', 1.5],
    ['a string', 'x'.repeat(100)],
    ['an array of strings', ['one', 'two', 'three', 'four']],
    ['an array of wide strings', ['éé', '€€', '€€€€']],
    ['an object', { a: 1, b: { c: 2, d: [3, 4] } }],
    ['a byte array', new Uint8Array(100)],
  ]
  for (const [title, value] of values) {
    test(`${title} without room is refused with no write beyond the end, and the next value arrives`, () => {
      const { encoder, decoder, memory } = openCodec()
      const bytes = new Uint8Array(memory)
      const size = encoder.encode(value, 0, BYTES)
      for (let to = 0; to < size; to++) {
        bytes.fill(0xaa)
        const end = encoder.encode(value, 0, to)
        assert.ok(end === NO_ROOM || end <= to, `${end} of ${to}`)
        assert.ok(bytes.subarray(to).every(byte => byte === 0xaa))
        assert.deepStrictEqual(decoder.decode(4096, encoder.encode(value, 4096, BYTES)), value)
      }
    })

    test(`${title} without room becomes a large message`, () => {
      const { encoder, decoder, memory } = openCodec()
      const bytes = new Uint8Array(memory)
      let size = 0
      for (let times = 0; times < MANY_TIMES; times++) size = encoder.encode(value, 0, BYTES)
      const sizes = { chunkBytes: 32, largeBytes: 16, separateBytes: 64 }
      // A message with less room than its head is refused.
      for (let to = 8; to < size; to++) {
        bytes.fill(0xaa)
        assert.equal(encoder.encode(value, 0, to, sizes), LARGE)
        assert.ok(bytes.subarray(to).every(byte => byte === 0xaa))
        assert.deepStrictEqual(readAll(decodeLarge(encoder.takeLarge(), decoder.shapes, 8)), value)
      }
    })
  }

  test('the encoder calls each getter once for a value that becomes a large message', () => {
    let calls = 0
    const value = {
      text: 'x'.repeat(1000),
      get counted() {
        calls++
        return 'y'.repeat(1000)
      },
      bytes: new Uint8Array(1000).fill(7),
    }
    const { encoder, decoder } = openCodec()
    assert.equal(encoder.encode(value, 0, 1500, { ...LARGE_SIZES, separateBytes: 500 }), LARGE)
    assert.equal(calls, 1)
    const copy = readAll(decodeLarge(encoder.takeLarge(), decoder.shapes))
    assert.deepStrictEqual(copy, { ...value })
  })

  test('an object in the lane part of a large message and again after it arrives as one object', () => {
    const { encoder, decoder } = openCodec()
    const shared = { a: 1 }
    for (const count of [10, 1000]) {
      const value = Array.from({ length: count }, (_, index) => ({ index, shared }))
      assert.equal(encoder.encode(value, 0, 5 * count, LARGE_SIZES), LARGE)
      const copy = readAll(decodeLarge(encoder.takeLarge(), decoder.shapes)) as typeof value
      assert.deepStrictEqual(copy, value)
      assert.ok(copy.every(row => row.shared === copy[0]!.shared))
    }
  })
})

describe('values that the encoder declines', () => {
  test('a value with a function is declined, and the next value is written', () => {
    const { encoder, decoder } = openCodec()
    for (let times = 0; times < MANY_TIMES; times++) {
      assert.equal(encoder.encode({ a: { b: 1, c: 2 }, d: () => {} }, 0, BYTES), DECLINED)
      const end = encoder.encode({ a: { b: 1, c: 2 }, d: 3 }, 0, BYTES)
      assert.deepEqual(decoder.decode(0, end), { a: { b: 1, c: 2 }, d: 3 })
    }
  })

  test('a value with more than 200 levels is declined', () => {
    const nest = (depth: number) => {
      let value: unknown = 1
      for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
      return value
    }
    const { encoder, decoder } = openCodec()
    for (const depth of [1, 199, 200])
      assert.deepEqual(decoder.decode(0, encoder.encode(nest(depth), 0, BYTES)), nest(depth))
    assert.equal(encoder.encode(nest(201), 0, BYTES), DECLINED)
    assert.deepEqual(readAll(decodeLarge(encoder.encodeLarge(nest(200))!, decoder.shapes)), nest(200))
  })

  test('a view is declined when a getter transferred its buffer after the buffer was written', () => {
    for (const viewOf of [
      (buffer: ArrayBuffer) => new Uint8Array(buffer),
      (buffer: ArrayBuffer) => new DataView(buffer),
    ]) {
      const buffer = new ArrayBuffer(8)
      const value = {
        buffer,
        get gone() {
          structuredClone(buffer, { transfer: [buffer] })
          return 1
        },
        view: viewOf(buffer),
      }
      assert.equal(openCodec().encoder.encode(value, 0, BYTES), DECLINED)
    }
  })

  test('a regular expression with own properties is declined', () => {
    const regExp = Object.defineProperty(/a/g, 'flags', { value: 'i' })
    assert.equal(openCodec().encoder.encode(regExp, 0, BYTES), DECLINED)
  })

  test('a value with more bytes of short strings than the header can count is declined', () => {
    const table = new ShapeTable(new SharedArrayBuffer(4096), 0, 4096)
    const encoder = new Encoder(new SharedArrayBuffer(2 ** 25), table)
    const many = new Array(2 ** 17).fill('x'.repeat(128))
    assert.equal(encoder.encode(many, 0, 2 ** 25), DECLINED)
    assert.ok(encoder.encode(many.slice(1), 0, 2 ** 25) > 0)
  })

  test('a value that a getter encodes is declined while another value is written, which arrives', () => {
    const { encoder, decoder } = openCodec()
    const inner: number[] = []
    const value = {
      a: 'before',
      get b() {
        inner.push(encoder.encode({ c: 'inside' }, 4096, BYTES))
        return 'between'
      },
      d: 'after',
    }
    const end = encoder.encode(value, 0, 4096)
    assert.deepEqual(inner, [DECLINED])
    assert.deepEqual(decoder.decode(0, end), { a: 'before', b: 'between', d: 'after' })
  })

  test('a proxy is declined, and its traps do not run', () => {
    const handler = new Proxy({}, { get: (_, trap) => assert.fail(`trap ${String(trap)}`) })
    const { encoder } = openCodec()
    for (const target of [{}, [], new Map(), () => {}]) {
      assert.equal(encoder.encode([new Proxy(target, handler)], 0, BYTES), DECLINED)
    }
  })

  test('objects of another realm are declined', () => {
    const { encoder } = openCodec()
    for (const text of ['({ a: 1 })', '[1]', 'new Date(0)', 'new Map()', 'new Uint8Array(1)']) {
      assert.equal(encoder.encode(runInNewContext(text), 0, BYTES), DECLINED, text)
    }
  })

  test('a module namespace is declined', async () => {
    assert.equal(openCodec().encoder.encode(await import('./format.js'), 0, BYTES), DECLINED)
  })
})

describe('properties of Object.prototype', () => {
  test('a property of Object.prototype is neither sent nor set', () => {
    const value = { b: 1, polluted: 2, list: [{ b: 3 }] }
    const { encoder, decoder } = openCodec()
    const clone = structuredClone(value)
    const setter: PropertyDescriptor = { set: () => assert.fail('a setter ran'), configurable: true }
    Object.defineProperty(Object.prototype, 'polluted', setter)
    Object.defineProperty(Object.prototype, 'inherited', { value: 1, enumerable: true, configurable: true })
    try {
      for (let times = 0; times < MANY_TIMES; times++) {
        const copy = decoder.decode(0, encoder.encode(value, 0, BYTES)) as object
        assert.deepEqual(Object.entries(copy), Object.entries(clone))
      }
    } finally {
      delete (Object.prototype as any).polluted
      delete (Object.prototype as any).inherited
    }
  })

  test('a property of Object.prototype does not count as a key of the expected shape', () => {
    for (const value of [{ a: 1 }, { 'a b': 1 }]) {
      const { encoder, decoder } = openCodec()
      const crossed = (sent: object) => decoder.decode(0, encoder.encode(sent, 0, BYTES)) as object
      for (let times = 0; times < MANY_TIMES; times++) crossed({ ...value, status: 1 })
      Object.defineProperty(Object.prototype, 'status', { value: 2, enumerable: true, configurable: true })
      try {
        assert.deepEqual(Object.keys(crossed(value)), Object.keys(value))
      } finally {
        delete (Object.prototype as any).status
      }
    }
  })
})
