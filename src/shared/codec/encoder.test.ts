// Exact or declined, one promise at a time; test/codec has the random values and the other thread.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BYTES, openCodec } from '../../testing/codec-pair.js'
import { Dictionary } from './dictionary.js'
import { DECLINED, Encoder, NO_ROOM } from './encoder.js'
import { KnownShapes } from './known-shapes.js'
import { LongDecoder } from './long-decoder.js'
import { LongDraft } from './long-draft.js'

/** Often enough that the shape is learned, and then that code is made for it. */
function cross(value: any, times = 20): any {
  const { encoder, decoder } = openCodec()
  let copy: unknown
  for (; times > 0; times--) {
    const end = encoder.encode(value, 0, BYTES)
    assert.ok(end > 0, `refused: ${end}`)
    copy = decoder.decode(0, end)
  }
  return copy
}

describe('a value that is accepted', () => {
  test('keeps every part that stands at several places, and every cycle', () => {
    const shared = { a: 1 }
    const value: any = { shared, list: [shared, shared], map: new Map([[shared, shared]]) }
    value.self = value
    value.set = new Set([value])
    const copy = cross(value)
    assert.deepEqual(copy, structuredClone(value))
    assert.equal(copy.self, copy)
    assert.equal(copy.list[0], copy.shared)
    assert.equal(copy.list[1], copy.shared)
    assert.equal(copy.map.get(copy.shared), copy.shared)
    assert.ok(copy.set.has(copy))
  })

  test('keeps views on one buffer on one buffer, all of it', () => {
    const { buffer } = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8])
    const copy = cross([
      new Uint8Array(buffer, 1, 2),
      new DataView(buffer, 4),
      new Uint16Array(buffer, 2, 1),
      buffer,
    ])
    assert.equal(copy[0].buffer, copy[3])
    assert.equal(copy[1].buffer, copy[3])
    assert.equal(copy[2].buffer, copy[3])
    assert.equal(copy[3].byteLength, 8)
    assert.deepEqual([copy[0][0], copy[1].getInt8(0), copy[2].byteOffset], [2, 5, 2])
  })

  test('a Buffer of the pool arrives as a Uint8Array in a copy of the whole pool', () => {
    const value = Buffer.from('pooled')
    const copy = cross(value)
    const clone = structuredClone(value)
    assert.equal(Object.getPrototypeOf(copy), Uint8Array.prototype)
    assert.deepEqual([copy.byteOffset, copy.buffer.byteLength], [clone.byteOffset, clone.buffer.byteLength])
    assert.equal(Buffer.from(copy).toString(), 'pooled')
  })

  for (const size of [0, 1, 7, 4095, 4096, 4097, 16_383, 16_384, 40_000]) {
    test(`a buffer of ${size} bytes arrives as one of exactly that size, byte for byte`, () => {
      const sent = Uint8Array.from({ length: size }, (_, index) => index % 251)
      const copy = cross(sent.buffer)
      assert.equal(Object.getPrototypeOf(copy), ArrayBuffer.prototype)
      assert.deepEqual([copy.byteLength, copy.resizable], [size, false])
      assert.deepEqual(new Uint8Array(copy), sent)
      structuredClone(copy, { transfer: [copy] })
    })
  }

  test('keeps what stands before, between and after long buffers', () => {
    const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 7) % 253)
    const value = { head: 'x', a: bytes(16_384), mid: 'y', b: bytes(16_391).buffer, tail: [1, 'z'] }
    assert.deepEqual(cross(value), structuredClone(value))
    const dictionary = new Dictionary(new SharedArrayBuffer(4096), 0, 4096)
    const encoder = new Encoder(new SharedArrayBuffer(BYTES), dictionary)
    // In chunks of ordinary memory, none of them handed over.
    const sizes = { chunkBytes: 65_536, bigBytes: 4096, longTextBytes: 65_536, handedBytes: 65_536 }
    const message = encoder.encodeLong(value, new LongDraft(sizes))!
    const reader = new LongDecoder(message, new KnownShapes(dictionary), 1000)
    while (!reader.readOn(() => false));
    assert.deepEqual(reader.value, structuredClone(value))
  })

  test('keeps the own fields of the result of a match', () => {
    assert.deepStrictEqual(cross(/(?<b>b)c/.exec('abc')), structuredClone(/(?<b>b)c/.exec('abc')))
  })

  test('has the fields that its prototype would answer for, as own data', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"constructor":2,"toString":3}')
    const copy = cross(value)
    assert.deepEqual(Object.keys(copy), ['__proto__', 'constructor', 'toString'])
    assert.equal(Object.getPrototypeOf(copy), Object.prototype)
    assert.equal(copy.x, undefined)
  })

  test('calls each getter once, in order, and never a method', () => {
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
    for (let times = 0; times < 20; times++) {
      calls.length = 0
      assert.ok(encoder.encode(value, 0, BYTES) > 0)
      assert.deepEqual(calls, ['first', 'second'])
    }
  })

  test('lies where the caller says, and nothing around it is touched', () => {
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

describe('a value that does not fit', () => {
  const values: [string, unknown][] = [
    ['a number', 1.5],
    ['a string', 'x'.repeat(100)],
    ['many strings', ['one', 'two', 'three', 'four']],
    ['wide strings', ['éé', '€€', '€€€€']],
    ['an object', { a: 1, b: { c: 2, d: [3, 4] } }],
    ['bytes', new Uint8Array(100)],
  ]
  for (const [title, value] of values) {
    test(`${title}: there is no room, nothing is written beyond the end, and the next one crosses`, () => {
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
  }
})

describe('a value that is declined', () => {
  test('leaves the encoder and the dictionary as good as they were', () => {
    const { encoder, decoder } = openCodec()
    for (let times = 0; times < 20; times++) {
      assert.equal(encoder.encode({ a: { b: 1, c: 2 }, d: () => {} }, 0, BYTES), DECLINED)
      const end = encoder.encode({ a: { b: 1, c: 2 }, d: 3 }, 0, BYTES)
      assert.deepEqual(decoder.decode(0, end), { a: { b: 1, c: 2 }, d: 3 })
    }
  })

  test('is one that nests very deep, and the decoder takes all that is accepted', () => {
    const nest = (depth: number) => {
      let value: unknown = 1
      for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
      return value
    }
    const { encoder, decoder } = openCodec()
    let deepest = 0
    for (let depth = 1; depth < 1000; depth++) {
      const end = encoder.encode(nest(depth), 0, BYTES)
      if (end === DECLINED) break
      deepest = depth
      assert.deepEqual(decoder.decode(0, end), nest(depth))
    }
    assert.ok(deepest >= 100 && deepest < 999)
  })

  test('is one whose getter throws', () => {
    const value = {
      get a() {
        throw new Error('mine')
      },
    }
    assert.equal(openCodec().encoder.encode(value, 0, BYTES), DECLINED)
  })

  test('is one with more text in short strings than its head can tell', () => {
    const words = new SharedArrayBuffer(4096)
    const encoder = new Encoder(new SharedArrayBuffer(2 ** 25), new Dictionary(words, 0, 4096))
    const many = new Array(2 ** 17).fill('x'.repeat(128))
    assert.equal(encoder.encode(many, 0, 2 ** 25), DECLINED)
    assert.ok(encoder.encode(many.slice(1), 0, 2 ** 25) > 0)
  })

  test('is a proxy, and none of its traps runs', () => {
    const handler = new Proxy({}, { get: (_, trap) => assert.fail(`trap ${String(trap)}`) })
    const { encoder } = openCodec()
    for (const target of [{}, [], new Map(), () => {}]) {
      assert.equal(encoder.encode([new Proxy(target, handler)], 0, BYTES), DECLINED)
    }
  })

  test('is an object of another realm', async () => {
    const { runInNewContext } = await import('node:vm')
    const { encoder } = openCodec()
    for (const text of ['({ a: 1 })', '[1]', 'new Date(0)', 'new Map()', 'new Uint8Array(1)']) {
      assert.equal(encoder.encode(runInNewContext(text), 0, BYTES), DECLINED, text)
    }
  })

  test('is a module, and what else has no prototype but slots', async () => {
    const { encoder } = openCodec()
    assert.equal(encoder.encode(await import('./tags.js'), 0, BYTES), DECLINED)
  })
})

test('keys and setters on Object.prototype change nothing', () => {
  const value = { b: 1, polluted: 2, list: [{ b: 3 }] }
  const { encoder, decoder } = openCodec()
  const clone = structuredClone(value)
  const polluting: PropertyDescriptor = { set: () => assert.fail('a setter ran'), configurable: true }
  Object.defineProperty(Object.prototype, 'polluted', polluting)
  Object.defineProperty(Object.prototype, 'inherited', { value: 1, enumerable: true, configurable: true })
  try {
    for (let times = 0; times < 20; times++) {
      const copy = decoder.decode(0, encoder.encode(value, 0, BYTES)) as object
      assert.deepEqual(Object.entries(copy), Object.entries(clone))
    }
  } finally {
    delete (Object.prototype as any).polluted
    delete (Object.prototype as any).inherited
  }
})

test('a key that all objects inherit is no key of an object that is expected to have it', () => {
  for (const value of [{ a: 1 }, { 'a b': 1 }]) {
    const { encoder, decoder } = openCodec()
    const crossed = (sent: object) => decoder.decode(0, encoder.encode(sent, 0, BYTES)) as object
    for (let times = 0; times < 20; times++) crossed({ ...value, status: 1 })
    Object.defineProperty(Object.prototype, 'status', { value: 2, enumerable: true, configurable: true })
    try {
      assert.deepEqual(Object.keys(crossed(value)), Object.keys(value))
    } finally {
      delete (Object.prototype as any).status
    }
  }
})

test('an array is what its elements are, in whatever order kinds of them come', () => {
  const { encoder, decoder } = openCodec()
  const kinds: unknown[][] = [
    Array.from({ length: 12 }, (_, index) => index / 3),
    Array.from({ length: 12 }, (_, index) => index),
    [...Array.from({ length: 9 }, (_, index) => index / 3), 'text', -0, undefined, {}, 2 ** 31],
    ['a'],
    Object.assign(new Array(3), { 1: 1 }),
    [[], [[]], [1.5]],
  ]
  for (let round = 0; round < 50; round++) {
    for (const value of kinds) {
      const copy = decoder.decode(0, encoder.encode(value, 0, BYTES)) as unknown[]
      assert.deepStrictEqual(copy, structuredClone(value))
      copy.push('more')
      assert.equal(copy.length, value.length + 1)
    }
  }
})
