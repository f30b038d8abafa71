// Bytes that are damaged, or read in a program that has changed what all objects inherit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BYTES, openCodec } from '../../testing/codec-pair.js'
import { LongDecoder } from './long-decoder.js'
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
