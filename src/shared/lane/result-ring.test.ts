import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draws } from '../../testing/draws.js'
import {
  CHECK,
  createWorkerState,
  KIND,
  LARGEST_VALUE_BYTES,
  RECORD_BYTES,
  RECORD_VALUE,
  TASK,
  TICKET,
  WRITTEN,
  wordsOf,
} from './layout.js'
import { BYTES_VALUE, FAILURE, INT_VALUE, ResultReader, ResultWriter } from './result-ring.js'

const valueBytes = 64 * 1024

test('a full ring gets room while the host reads, and the answer being read is not overwritten', () => {
  const desk = createWorkerState()
  const bytes = new Uint8Array(desk.memory)
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  let written = 0
  let read = 0
  const write = () => {
    const from = writer.reserve()
    if (from < 0) return false
    bytes.fill(written % 251, from, from + valueBytes)
    writer.publish(BYTES_VALUE, 0, written++, valueBytes, 0, 0)
    return true
  }
  while (write());
  const atFirst = written
  // One loop reads three times the content of a full ring.
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

const K = 1024
const loads: [what: string, batches: [answers: number, bytes: number][]][] = [
  ['batches of the same size', [[64, 10 * K]]],
  [
    'a batch after large answers',
    [
      [1, 511 * K],
      [1, 300 * K],
      [1, 300 * K],
      [128, 10 * K],
    ],
  ],
  [
    'single large answers and batches',
    [
      [1, 511 * K],
      [1, 10 * K],
      [64, 4 * K],
      [1, 511 * K],
    ],
  ],
  [
    'batches after the ring wrapped around',
    [
      [1, 10 * K],
      [1, 511 * K],
      [64, 16 * K],
    ],
  ],
]
for (const [what, batches] of loads) {
  test(`the ring has room for ${what} in 1000 cycles, after it adapted in 10 cycles`, () => {
    const desk = createWorkerState()
    const writer = new ResultWriter(desk)
    const reader = new ResultReader(desk)
    let refused = 0
    for (let cycle = 0; cycle < 1000; cycle++) {
      for (const [answers, bytes] of batches) {
        for (let answer = 0; answer < answers; answer++) {
          if (writer.reserve() >= 0) writer.publish(BYTES_VALUE, 0, 0, bytes, 0, 0)
          // The writer adapts in the first 10 cycles.
          else if (cycle >= 10) refused++
        }
        while (reader.next());
        reader.free()
      }
    }
    assert.equal(refused, 0)
  })
}

test('small answers use less than half of the ring, also some time after large answers', () => {
  const desk = createWorkerState()
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  const give = (size: number) => {
    const from = writer.reserve()
    writer.publish(BYTES_VALUE, 0, 0, size, 0, 0)
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
  for (let rounds = 0; farthest() >= half; rounds++) assert.ok(rounds < 50)
})

test('a burst of answers finds the room of an earlier burst after 200 single answers', () => {
  const desk = createWorkerState()
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  let refused = 0
  for (let cycle = 0; cycle < 300; cycle++) {
    // The size varies, so that bursts begin anywhere in the ring.
    const single = (cycle * 7919) % 100_000
    for (let count = 0; count < 200; count++) {
      writer.reserve()
      writer.publish(BYTES_VALUE, 0, 0, single, 0, 0)
      reader.next()
      reader.free()
    }
    for (let count = 0; count < 64; count++) {
      if (writer.reserve() >= 0) writer.publish(BYTES_VALUE, 0, 0, 10 * K, 0, 0)
      else if (cycle > 0) refused++
    }
    while (reader.next());
    reader.free()
  }
  assert.equal(refused, 0)
})

test('answers of random sizes are read unchanged, once each and in order', () => {
  const desk = createWorkerState()
  const bytes = new Uint8Array(desk.memory)
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  const sizes: number[] = []
  const draw = draws()
  let read = 0
  const write = () => {
    const from = writer.reserve()
    if (from < 0) return false
    assert.ok(from + LARGEST_VALUE_BYTES <= desk.ring.to)
    const size = 1 + draw(draw(2) === 0 ? 1000 : LARGEST_VALUE_BYTES)
    // The writer may change all reserved bytes: they hold no unread answer.
    for (let at = from; at < from + LARGEST_VALUE_BYTES; at += 8 * K) bytes[at] = 255
    bytes[from] = sizes.length % 251
    bytes[from + size - 1] = size % 251
    writer.publish(BYTES_VALUE, 0, sizes.push(size), size, 0, 0)
    return true
  }
  while (read < 20_000) {
    for (let count = draw(20); count > 0 && write(); count--);
    for (let count = draw(20); count > 0 && reader.next(); count--) {
      const size = sizes[read]!
      assert.deepEqual([reader.kind, reader.taskId, reader.value], [BYTES_VALUE, read + 1, size])
      const last = bytes[reader.valueFrom + size - 1]
      assert.equal(last, size % 251)
      if (size > 1) assert.equal(bytes[reader.valueFrom], read % 251)
      read++
    }
    if (draw(3) === 0) reader.free()
  }
})

const WORD_BYTES = 4
const wrongWords = [0, 1, 2, 3, 4, 5, 31, 32, 64, 96, 2 ** 20, 2 ** 22, 2 ** 31 - 1, -1, -32, -(2 ** 31)]
const kinds = [BYTES_VALUE, INT_VALUE, FAILURE] as const

/** A ring with three records, of which the host has read the first. */
function ringOf(kind: (typeof kinds)[number]) {
  const desk = createWorkerState()
  const writer = new ResultWriter(desk)
  const reader = new ResultReader(desk)
  for (const record of [1, 2, 3]) {
    writer.reserve()
    writer.publish(kind, record, 10 * record, 40, 0, 0)
  }
  assert.ok(reader.next())
  const size = kind === INT_VALUE ? RECORD_BYTES : 3 * RECORD_BYTES
  return { words: wordsOf(desk.memory), reader, second: (desk.ring.from + size) / WORD_BYTES, size }
}

test('the reader refuses a record when any word of its head has changed', () => {
  for (const kind of kinds) {
    for (const word of [CHECK, KIND, TICKET, TASK, RECORD_VALUE]) {
      for (const wrong of wrongWords) {
        const { words, reader, second } = ringOf(kind)
        if (words[second + word] === wrong) continue
        words[second + word] = wrong
        assert.equal(reader.next(), false, `kind ${kind}, word ${word}, ${wrong}`)
        assert.notEqual(reader.damage, null)
        assert.ok(reader.isEmpty && !reader.next(), 'the reader reads nothing more')
      }
    }
  }
})

test('the reader refuses a copy of another record, and a wrong counter', () => {
  for (const kind of kinds) {
    const copied = ringOf(kind)
    const from = copied.second - copied.size / WORD_BYTES
    copied.words.copyWithin(copied.second, from, copied.second)
    assert.equal(copied.reader.next(), false)
    for (const steps of [...wrongWords, -2 * RECORD_BYTES - copied.size].filter(steps => steps !== 0)) {
      const { words, reader } = ringOf(kind)
      while (reader.next());
      words[WRITTEN]! += steps
      assert.equal(reader.next(), false, `kind ${kind}, ${steps} bytes`)
      assert.notEqual(reader.damage, null)
    }
  }
})
