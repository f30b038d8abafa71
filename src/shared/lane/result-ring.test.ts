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

test('answers that the host takes in by the dozen find room, however often the ring starts over', () => {
  const desk = createDesk()
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  const size = 10 * 1024
  const batch = 64
  for (let task = 0; task < 100 * batch; task++) {
    assert.ok(writer.reserve() >= 0, `answer ${task}`)
    writer.publish(BYTES, 0, task, size, 0)
    if ((task + 1) % batch > 0) continue
    while (reader.next());
    reader.free()
  }
})

test('small answers stay in a part of the ring, and do so again after larger ones', () => {
  const desk = createDesk()
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  const give = (size: number) => {
    const from = writer.reserve()
    writer.publish(BYTES, 0, 0, size, 0)
    return from - desk.ring.from
  }
  const take = () => {
    while (reader.next());
    reader.free()
  }
  const farthest = () => {
    let most = 0
    for (let count = 0; count < 50_000; count++) {
      most = Math.max(most, give(100))
      take()
    }
    return most
  }
  const half = (desk.ring.to - desk.ring.from) / 2
  assert.ok(farthest() < half)
  while (give(valueBytes) > 0 && writer.reserve() >= 0);
  take()
  farthest()
  assert.ok(farthest() < half)
})
