// Damaged messages that the random damage of test/codec rarely produces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BYTES, openCodec } from '../../testing/codec-pair.js'
import { decodeLarge } from './decoder.js'
import * as format from './format.js'
import { LargeDraft } from './writer.js'

test("the decoder refuses an array with the key 'length'", () => {
  const { encoder, decoder, memory } = openCodec()
  const end = encoder.encode(Object.assign([], { second: 4 }), 0, BYTES)
  const bytes = Buffer.from(memory)
  bytes.write('length', bytes.indexOf('second'))
  assert.throws(() => decoder.decode(0, end), /a key that is never written/)
})

test('the decoder refuses nested arrays that claim more elements than the message has bytes', () => {
  const { decoder, memory } = openCodec()
  const bytes = new DataView(memory)
  bytes.setUint32(0, format.TREE, true)
  bytes.setUint32(4, BYTES, true)
  let at = format.HEADER_BYTES
  for (let depth = 0; depth < 100; depth++) {
    bytes.setUint8(at, format.ARRAY)
    bytes.setUint32(at + 1, BYTES / 2, true)
    at += 5
  }
  assert.throws(() => decoder.decode(0, BYTES), /its arrays count beyond its end/)
})

test('the decoder removes the chunks of a large message that it has read', () => {
  const value = Array.from({ length: 20 }, (_, index) => ({ [`key${index}`]: index }))
  const { encoder, decoder } = openCodec()
  const sizes = { chunkBytes: 24, largeBytes: 1, separateBytes: 8 }
  const message = encoder.encodeLarge(value, new LargeDraft(sizes))!
  const chunks = message.chunks.length
  const steps = decodeLarge(message, decoder.shapes, 1)
  for (let step = 0; step < 20; step++) assert.equal(steps.next().done, false)
  assert.ok(message.chunks.length > 0 && message.chunks.length < chunks)
})
