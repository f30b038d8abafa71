import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { move } from './move.js'
import { isMoved, transferableSymbol, transferOf, valueSymbol } from './moved.js'

/** The value that is sent, and its transfer list. */
function crossing(value: unknown): { value: unknown; transfer: unknown[] } {
  assert.ok(isMoved(value))
  return { value: value[valueSymbol], transfer: transferOf(value) }
}

describe('move()', () => {
  test('move() marks a buffer, which is sent and transferred', () => {
    const buffer = new ArrayBuffer(8)
    assert.deepEqual(crossing(move(buffer)), { value: buffer, transfer: [buffer] })
  })

  test('move() marks a view, which is sent, and its buffer is transferred', () => {
    for (const view of [new Uint8Array(8), new DataView(new ArrayBuffer(8)), Buffer.alloc(100_000)]) {
      const { value, transfer } = crossing(move(view))
      assert.equal(value, view)
      assert.deepEqual(transfer, [view.buffer])
    }
  })

  test('move() marks a MessagePort, which is transferred', () => {
    const { port1 } = new MessageChannel()
    assert.equal(crossing(move(port1)).transfer[0], port1)
    port1.close()
  })

  test('move() uses the value and the transfer list that an object declares with symbols', () => {
    const items = [new ArrayBuffer(1), new ArrayBuffer(2)]
    const movable = { [transferableSymbol]: items, [valueSymbol]: { a: 1 } }
    assert.deepEqual(crossing(move(movable)), { value: { a: 1 }, transfer: items })
  })

  test('move() of an object transfers each buffer and port in it once, or the items of its list', () => {
    const { port1 } = new MessageChannel()
    const [first, second] = [new ArrayBuffer(8), new ArrayBuffer(16)]
    const value = { a: [new Uint8Array(first, 4), first], b: new Map([[second, port1]]), c: 1 }
    assert.deepEqual(new Set(crossing(move(value)).transfer), new Set([first, second, port1]))
    assert.deepEqual(crossing(move(value, [second])).transfer, [second])
    port1.close()
  })

  test('move() leaves memory that cannot be transferred to the copy', () => {
    const { buffer } = new (globalThis as any).WebAssembly.Memory({ initial: 1 })
    const shared = new SharedArrayBuffer(8)
    // Node 20 copies such memory itself.
    const { value, transfer } = crossing(
      move({ small: Buffer.from('x'), wasm: new Uint8Array(buffer), shared }),
    )
    const clone: any = structuredClone(value, { transfer: transfer as never })
    assert.deepEqual([clone.small.length, clone.wasm.length, clone.shared.byteLength], [1, 65_536, 8])
    assert.equal(buffer.byteLength, 65_536)
  })

  test('move() returns primitives unchanged', () => {
    for (const value of [undefined, null, 0, 'x', 1n, true]) {
      assert.equal(move(value), value)
      assert.equal(isMoved(move(value)), false)
    }
  })
})

describe('isMoved()', () => {
  test('isMoved() is false for a buffer or a transferable object that was not marked', () => {
    assert.equal(isMoved(new ArrayBuffer(8)), false)
    assert.equal(isMoved({ [transferableSymbol]: new ArrayBuffer(8), [valueSymbol]: 1 }), false)
  })

  test('isMoved() is false for an object that contains a marked value', () => {
    assert.equal(isMoved({ inner: move(new ArrayBuffer(8)) }), false)
  })

  test('a marked value cannot be cloned by accident', () => {
    assert.throws(() => structuredClone({ inner: move(new ArrayBuffer(8)) }), /only be sent by lido/)
  })
})
