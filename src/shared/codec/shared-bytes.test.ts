import assert from 'node:assert/strict'
import { test } from 'node:test'
import v8 from 'node:v8'
import { decodeShared, encodeShared } from './shared-bytes.js'

test('a shared value arrives as a copy where node:v8 has no serialiser classes', t => {
  t.mock.method(v8, 'Serializer', () => {
    throw new Error('not implemented')
  })
  const value = { map: new Map([['at', new Date(0)]]), floats: new Float64Array([0.5, 1.5]).subarray(1) }
  const memory = encodeShared(value)
  assert.ok(memory instanceof SharedArrayBuffer)
  assert.deepEqual(decodeShared({ memory, objects: [] }), value)
  assert.notEqual((decodeShared({ memory, objects: [] }) as typeof value).floats.buffer, memory)
})
