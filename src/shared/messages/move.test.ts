// What is marked to be transferred instead of copied.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { isMoved, move, transferableSymbol, transferOf, valueSymbol } from './move.js'

/** What crosses for a value, and what is transferred. */
function crossing(value: unknown): { value: unknown; transfer: unknown[] } {
  assert.ok(isMoved(value))
  return { value: value[valueSymbol], transfer: transferOf(value) }
}

describe('move()', () => {
  test('marks a buffer: it crosses itself and is transferred', () => {
    const buffer = new ArrayBuffer(8)
    assert.deepEqual(crossing(move(buffer)), { value: buffer, transfer: [buffer] })
  })

  test('marks a view: it crosses itself, its buffer is transferred', () => {
    for (const view of [new Uint8Array(8), new DataView(new ArrayBuffer(8)), Buffer.alloc(100_000)]) {
      const { value, transfer } = crossing(move(view))
      assert.equal(value, view)
      assert.deepEqual(transfer, [view.buffer])
    }
  })

  test('marks a port', () => {
    const { port1 } = new MessageChannel()
    assert.equal(crossing(move(port1)).transfer[0], port1)
    port1.close()
  })

  test('asks an object that says what of it is transferred', () => {
    const items = [new ArrayBuffer(1), new ArrayBuffer(2)]
    const movable = { [transferableSymbol]: items, [valueSymbol]: { a: 1 } }
    const moved = move(movable)
    assert.equal(moved, movable)
    assert.deepEqual(crossing(moved), { value: { a: 1 }, transfer: items })
    assert.notEqual(transferOf(movable), items)
  })

  test('gives primitives back as they are', () => {
    for (const value of [undefined, null, 0, 'x', 1n, true]) {
      assert.equal(move(value), value)
      assert.equal(isMoved(move(value)), false)
    }
  })
})

describe('what was not marked is not moved', () => {
  test('a buffer, or an object that only could be', () => {
    assert.equal(isMoved(new ArrayBuffer(8)), false)
    assert.equal(isMoved({ [transferableSymbol]: new ArrayBuffer(8), [valueSymbol]: 1 }), false)
  })

  test('a marked value inside another', () => {
    assert.equal(isMoved({ inner: move(new ArrayBuffer(8)) }), false)
  })

  test('a copy of what was marked, made by the other side', () => {
    assert.equal(isMoved(structuredClone({ ...move(new ArrayBuffer(8)) })), false)
  })
})
