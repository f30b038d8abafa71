// Bytes that are damaged, or read in a program that has changed what all objects inherit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BYTES, openCodec } from '../../testing/codec-pair.js'
import { LongDecoder } from './long-decoder.js'
import { LongDraft } from './long-draft.js'
import * as tags from './tags.js'

for (const length of [17, 100, 500, 1000, 1025]) {
  test(`arrays of ${length} holes take no more memory than their bytes are worth`, () => {
    const { decoder, memory } = openCodec()
    const bytes = new DataView(memory)
    const arrays = 20_000
    bytes.setUint8(tags.HEADER_BYTES, tags.ARRAY)
    bytes.setUint32(tags.HEADER_BYTES + 1, arrays, true)
    let at = tags.HEADER_BYTES + 5
    for (let count = 0; count < arrays; count++) {
      bytes.setUint8(at, tags.SPARSE_ARRAY)
      bytes.setUint32(at + 1, length, true)
      bytes.setUint8(at + 5, tags.END)
      at += 6
    }
    bytes.setUint32(0, tags.TREE, true)
    bytes.setUint32(4, at, true)
    const before = process.memoryUsage().heapUsed
    const value = decoder.decode(0, at) as unknown[][]
    const taken = process.memoryUsage().heapUsed - before
    assert.equal(value[arrays - 1]!.length, length)
    assert.ok(taken < 600 * at, `${taken} bytes for ${at}`)
  })
}

for (const [what, length] of [
  ['no length', 1.5],
  ['another length', 4],
] as const) {
  test(`an array that is told ${what} by a key is damaged`, () => {
    const { encoder, decoder, memory } = openCodec()
    const end = encoder.encode(Object.assign([], { second: length }), 0, BYTES)
    const bytes = Buffer.from(memory)
    bytes.write('length', bytes.indexOf('second'))
    assert.throws(() => decoder.decode(0, end), /a key that no writer writes/)
  })
}

test('arrays within arrays claim no more room than the message has bytes for', () => {
  const { decoder, memory } = openCodec()
  const bytes = new DataView(memory)
  bytes.setUint32(0, tags.TREE, true)
  bytes.setUint32(4, BYTES, true)
  let at = tags.HEADER_BYTES
  for (let depth = 0; depth < 100; depth++) {
    bytes.setUint8(at, tags.ARRAY)
    bytes.setUint32(at + 1, BYTES / 2, true)
    at += 5
  }
  assert.throws(() => decoder.decode(0, BYTES), /its arrays count beyond its end/)
})

for (const used of [Number.NaN, -1, 41]) {
  test(`a long message whose chunk is said to have ${used} bytes is damaged`, () => {
    const { decoder } = openCodec()
    const chunk = { bytes: new ArrayBuffer(40), used, text: new ArrayBuffer(0), isWide: false }
    const message = { isGraph: false, buffers: [], big: new Float64Array(0), chunks: [chunk] }
    assert.throws(() => new LongDecoder(message, decoder.shapes), /a chunk is too short/)
  })
}

test('of a long message what was read is let go, and a setter that all objects get meanwhile does not run', () => {
  const value = Array.from({ length: 20 }, (_, index) => ({ [`key${index}`]: index }))
  const { encoder, decoder } = openCodec()
  const sizes = { chunkBytes: 24, bigBytes: 1, longTextBytes: 1, handedBytes: 8 }
  const message = encoder.encodeLong(value, new LongDraft(sizes))!
  const long = new LongDecoder(message, decoder.shapes, 1)
  for (let step = 0; step < 30; step++)
    assert.equal(
      long.readOn(() => false),
      false,
    )
  assert.equal(message.chunks[0]!.bytes.byteLength, 0)
  assert.ok(message.chunks.at(-1)!.bytes.byteLength > 0)
  const set = () => assert.fail('a setter ran')
  Object.defineProperty(Object.prototype, 'key19', { set, configurable: true })
  try {
    while (!long.readOn(() => false));
  } finally {
    Reflect.deleteProperty(Object.prototype, 'key19')
  }
  assert.deepEqual(long.value, value)
})

// Last: from then on the runtime looks for elements on these prototypes, and keeps arrays in other ways.
for (const [whose, prototype] of [
  ['objects', Object.prototype],
  ['arrays', Array.prototype],
] as const) {
  test(`elements and setters that all ${whose} inherit change no array`, () => {
    const values = [
      ['a', 'b', 'c'],
      [...new Array(12).keys()],
      Object.assign(new Array(100), { 1: 'x', 50: 'y' }),
    ]
    const clones = values.map(value => structuredClone(value))
    const { encoder, decoder } = openCodec()
    const sizes = { chunkBytes: 24, bigBytes: 1, longTextBytes: 1, handedBytes: 8 }
    const descriptors: PropertyDescriptor[] = [
      { set: () => assert.fail('a setter ran') },
      { value: 'inherited', writable: false },
    ]
    for (const descriptor of descriptors) {
      const messages = values.map(value => encoder.encodeLong(value, new LongDraft(sizes))!)
      for (const index of [1, 99])
        Object.defineProperty(prototype, index, { ...descriptor, configurable: true })
      try {
        for (const [index, value] of values.entries()) {
          const copy = decoder.decode(0, encoder.encode(value, 0, BYTES)) as object
          assert.deepEqual(Object.entries(copy), Object.entries(clones[index]!))
          const long = new LongDecoder(messages[index]!, decoder.shapes)
          while (!long.readOn(() => true));
          assert.deepEqual(Object.entries(long.value as object), Object.entries(clones[index]!))
        }
      } finally {
        for (const index of [1, 99]) Reflect.deleteProperty(prototype, index)
      }
    }
  })
}
