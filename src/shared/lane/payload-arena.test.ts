import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draws } from '../../testing/draws.js'
import { LARGEST_VALUE_BYTES as LARGEST, type Span } from './layout.js'
import { PayloadArena } from './payload-arena.js'

/** Stands in for the workers. `read()` reads a payload. `release()` reads it and lets the host know. */
function someRoom(span: Span) {
  const unread = new Map<number, [from: number, end: number]>()
  const held = new Set<number>()
  let asked = 0
  const room = new PayloadArena(span, {
    isUnread(ticket, position) {
      assert.equal(position, 2 * ticket)
      asked++
      return unread.has(ticket)
    },
    isReleased: ticket => !held.has(ticket),
  })
  let ticket = 0
  /** Returns the number of the payload, or -1 when there is no room. */
  const put = (bytes: number) => {
    const from = room.reserve()
    if (from < 0) return -1
    const { reservedTo } = room
    assert.ok(from >= span.from && from + LARGEST <= reservedTo && reservedTo <= span.to, `${from}`)
    for (const [other, end] of unread.values()) assert.ok(from >= end || reservedTo <= other)
    const end = Math.min(from + bytes, reservedTo)
    room.take(ticket, 2 * ticket, end)
    unread.set(ticket, [from, end])
    held.add(ticket)
    return ticket++
  }
  const read = (number: number) => unread.delete(number)
  const release = (number: number) => {
    read(number)
    held.delete(number)
  }
  return { room, put, read, release, placeOf: (number: number) => unread.get(number)![0], asked: () => asked }
}

const span = { from: 128, to: 128 + 4 * LARGEST }

test('no payload overlaps an unread payload, with random sizes and a random order of reads', () => {
  const { put, read, release } = someRoom(span)
  const waiting: number[] = []
  const draw = draws()
  let most = 0
  for (let step = 0; step < 20_000; step++) {
    const number = put(draw(32) === 0 ? draw(4) * LARGEST - draw(64) : draw(8000))
    if (number >= 0) waiting.push(number)
    most = Math.max(most, waiting.length)
    // Not always the oldest payload.
    while (waiting.length > 0 && (number < 0 || draw(3) === 0)) {
      const [done] = waiting.splice(draw(2) * draw(waiting.length), 1)
      if (draw(2) === 0) read(done!)
      else release(done!)
      if (draw(4) === 0) break
    }
  }
  assert.ok(most > 64, `${most} at once`)
})

test('all memory is used, and used again from its start when the oldest payload was read', () => {
  const { put, read, placeOf } = someRoom(span)
  const numbers = Array.from({ length: 4 }, () => put(LARGEST))
  assert.deepEqual(numbers, [0, 1, 2, 3])
  assert.equal(put(1), -1)
  read(1)
  assert.equal(put(1), -1)
  read(0)
  assert.equal(placeOf(put(LARGEST)), span.from)
  assert.equal(placeOf(put(LARGEST)), span.from + LARGEST)
  assert.equal(put(1), -1)
})

test('released memory at the start is used before unused memory behind it', () => {
  const { put, release, placeOf } = someRoom(span)
  const first = put(LARGEST)
  const second = put(1)
  assert.equal(placeOf(second), span.from + LARGEST)
  release(first)
  const third = put(1)
  assert.equal(placeOf(third), span.from)
  release(second)
  release(third)
  assert.equal(placeOf(put(1)), span.from)
})

test('the reserved memory ends at the oldest unread payload, at the end of the memory or at the largest payload', () => {
  const { room, put, release } = someRoom({ from: 0, to: 12 * LARGEST })
  const reserved = () => [room.reserve(), room.reservedTo].map(place => place / LARGEST)
  assert.deepEqual(reserved(), [0, 8])
  put(8 * LARGEST)
  assert.deepEqual(reserved(), [8, 12])
  put(LARGEST)
  release(0)
  assert.deepEqual(reserved(), [0, 8])
  put(2 * LARGEST)
  assert.deepEqual(reserved(), [2, 8])
})

test('the host asks how far workers have read only when no released memory is left', () => {
  const { put, read, release, asked } = someRoom(span)
  for (let number = 0; number < 4; number++) put(LARGEST)
  release(0)
  assert.equal(put(LARGEST), 4)
  assert.equal(asked(), 0)
  read(1)
  assert.equal(put(LARGEST), 5)
  assert.notEqual(asked(), 0)
})
