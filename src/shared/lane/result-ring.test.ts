import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDesk } from './layout.js'
import { BYTES, ResultReader, ResultWriter } from './result-ring.js'

const valueBytes = 64 * 1024

test('a full ring has room again while the host still reads, and never that of the answer at hand', () => {
  const desk = createDesk()
  const bytes = new Uint8Array(desk.memory)
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  let written = 0
  let read = 0
  const write = () => {
    const from = writer.reserve()
    if (from < 0) return false
    bytes.fill(written % 251, from, from + valueBytes)
    writer.publish(BYTES, 0, written++, valueBytes, 0)
    return true
  }
  while (write());
  const atFirst = written
  // All that it holds, and twice as much again, is read in one go.
  while (read < 3 * atFirst && reader.next()) {
    while (write());
    assert.equal(reader.taskId, read)
    const value = bytes.subarray(reader.valueFrom, reader.valueFrom + reader.value)
    assert.ok(
      value.every(byte => byte === read % 251),
      `answer ${read}`,
    )
    read++
  }
  assert.equal(read, 3 * atFirst)
})
