import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteLargeBuffer, watchLargeBuffers } from './allocator.js'

const BLOCK_BYTES = 16 * 2 ** 20

const bufferBytes = (): number => process.memoryUsage().arrayBuffers

function bytesMadeBy(notes: number): number {
  const before = bufferBytes()
  for (let note = 0; note < notes; note++) noteLargeBuffer()
  return bufferBytes() - before
}

test('one block is dropped when enough large buffers have passed, in a thread that watches, and only once', () => {
  assert.ok(bytesMadeBy(1000) <= 0, 'nobody watches')
  watchLargeBuffers()
  assert.ok(bytesMadeBy(255) <= 0)
  watchLargeBuffers()
  assert.ok(bytesMadeBy(1) > BLOCK_BYTES / 2, 'making it may collect what others left')
  watchLargeBuffers()
  assert.ok(bytesMadeBy(1000) <= 0)
})
