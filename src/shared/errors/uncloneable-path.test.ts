import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import * as workerThreads from 'node:worker_threads'
import {
  memberPath,
  refusalCause,
  tooLarge,
  totalBufferBytes,
  UnsendableError,
  uncloneablePath,
  unsendablePath,
} from './uncloneable-path.js'

const call = () => {}

const { port1: port } = new MessageChannel()
// Cloning a closed port would crash the process.
after(() => port.close())

function detached(): ArrayBuffer {
  const buffer = new ArrayBuffer(8)
  structuredClone(buffer, { transfer: [buffer] })
  return buffer
}

function detachedView(): Uint8Array {
  const view = new Uint8Array(8)
  structuredClone(view, { transfer: [view.buffer] })
  return view
}

describe('uncloneablePath()', () => {
  const cases: [string, unknown, string][] = [
    ['a function as the whole value', call, 'payload'],
    ['a symbol as the whole value', Symbol('odd'), 'payload'],
    ['a function in a member', { call }, 'payload.call'],
    ['a function in a nested member', { a: { b: { call } } }, 'payload.a.b.call'],
    ['a function in a nested array', [1, [2, call]], 'payload[1][1]'],
    ['a function under unusual names', { 'a-b': { '': call } }, 'payload["a-b"][""]'],
    ['a function in a later item', { items: [{}, {}, {}, { call }] }, 'payload.items[3].call'],
    ['a function in a named field of an array', Object.assign([1], { call }), 'payload.call'],
    ['a function as a Map value', { m: new Map([['k', call]]) }, 'payload.m.get("k")'],
    ['a function under a number as Map key', new Map([[7, call]]), 'payload.get(7)'],
    ['a function as a Map key', new Map([[call, 1]]), 'payload.key'],
    ['a function in a Set', new Set([1, call]), 'payload.member'],
    ['a promise', { later: Promise.resolve() }, 'payload.later'],
    ['a WeakMap', { weak: new WeakMap() }, 'payload.weak'],
    ['a WeakSet', { weak: new WeakSet() }, 'payload.weak'],
    ['a proxy', { proxy: new Proxy({}, {}) }, 'payload.proxy'],
    [
      'a function in the cause of an error',
      { error: new Error('x', { cause: { call } }) },
      'payload.error.cause.call',
    ],
    [
      'a function after an error that also holds a function',
      [Object.assign(new Error('x'), { call }), call],
      'payload[1]',
    ],
    ['a function under an object as Map key', new Map([[{}, call]]), 'payload.get({…})'],
    ['a generator', { steps: (function* () {})() }, 'payload.steps'],
    ['a WeakRef', { weak: new WeakRef({}) }, 'payload.weak'],
    ['a detached buffer', { a: [detached()] }, 'payload.a[0]'],
    ['a view of a detached buffer', { view: detachedView() }, 'payload.view'],
    ['a port that is not transferred', { port }, 'payload.port'],
    [
      'a function in an object of a class',
      {
        mine: new (class Mine {
          call = call
        })(),
      },
      'payload.mine.call',
    ],
    ['a function after an object without a prototype', [Object.create(null), call], 'payload[1]'],
    ['a function in an own field of a view', Object.assign(new Uint8Array(1), { call }), 'payload'],
    ['the first of two functions', { a: { call }, b: { call } }, 'payload.a.call'],
  ]
  for (const [title, value, path] of cases) {
    test(`the path of ${title} is ${path}`, () => assert.equal(uncloneablePath(value, 'payload'), path))
  }

  test('the path is the root when the value can be cloned', () => {
    for (const value of [
      undefined,
      null,
      1,
      'x',
      {},
      [],
      new Date(),
      new ArrayBuffer(8),
      new Uint8Array(4),
    ]) {
      assert.equal(uncloneablePath(value, 'result'), 'result')
    }
  })

  test('the path of a function is found in a circular value', () => {
    const value: Record<string, unknown> = { deep: {} }
    value.self = value
    ;(value.deep as Record<string, unknown>).back = value
    value.last = call
    assert.equal(uncloneablePath(value, 'payload'), 'payload.last')
  })

  test('the path is that of the property whose getter throws', () => {
    const hostile = {
      get odd() {
        throw new Error('not for you')
      },
    }
    assert.equal(uncloneablePath({ hostile }, 'payload'), 'payload.hostile.odd')
  })

  test('the path is the root when the value nests too deep for a search', () => {
    let deep: unknown = call
    for (let depth = 0; depth < 100_000; depth++) deep = { deep }
    assert.equal(uncloneablePath(deep, 'payload'), 'payload')
  })
})

describe('unsendablePath()', () => {
  const buffer = new ArrayBuffer(8)
  const cases: [string, unknown, unknown[], string][] = [
    ['a buffer that is listed twice', { buffer }, [buffer, buffer], 'transferList[1]'],
    ['a detached buffer in the list', {}, [buffer, detached()], 'transferList[1]'],
    ['a view in the list', {}, [new Uint8Array(8)], 'transferList[0]'],
    ['a plain object in the list', {}, [buffer, {}], 'transferList[1]'],
    ['null in the list', {}, [null], 'transferList[0]'],
    ['a SharedArrayBuffer in the list', {}, [new SharedArrayBuffer(8)], 'transferList[0]'],
    ['a function beside a transferred buffer', { buffer, call }, [buffer], 'payload.call'],
    ["the payload's buffer that is listed twice", new Uint8Array(buffer), [buffer, buffer], 'payload'],
    ['a detached payload', detached(), [], 'payload'],
  ]
  for (const [title, payload, list, place] of cases) {
    test(`the path of ${title} is ${place}`, () => assert.equal(unsendablePath(payload, list), place))
  }

  test('the path is that of a listed buffer that is marked as untransferable', t => {
    if (workerThreads.isMarkedAsUntransferable === undefined)
      return t.skip('Node 20 has no isMarkedAsUntransferable()')
    const marked = new ArrayBuffer(8)
    workerThreads.markAsUntransferable(marked)
    assert.equal(unsendablePath({ marked }, [buffer, marked]), 'transferList[1]')
    assert.equal(buffer.byteLength, 8)
    assert.equal(unsendablePath(1, [Buffer.from('small').buffer]), 'transferList[0]')
  })

  test('the path is the payload when the payload is a detached buffer in the list', () => {
    const gone = detached()
    assert.equal(unsendablePath(gone, [gone]), 'payload')
  })

  test('the path is in the payload when the whole list can be transferred', () => {
    const { port1 } = new MessageChannel()
    assert.equal(unsendablePath({ port1, call }, [port1]), 'payload.call')
    port1.close()
  })
})

test('refusalCause() returns the size error, the UnsendableError or the given failure', () => {
  const large = tooLarge(5, 4)
  assert.equal(refusalCause(new UnsendableError('payload', large), 1), large)
  const refused = new UnsendableError('payload', new Error('why'))
  assert.equal(refusalCause(refused, 1), refused)
  const asked: unknown[] = []
  const traps = new Proxy({}, { get: (_, name) => void asked.push(name) })
  const failure = new Error('why')
  assert.equal(refusalCause(failure, [new Proxy({}, traps)]), failure)
  assert.deepEqual(asked, [])
})

test('totalBufferBytes() counts a buffer of several views once, and memberPath() finds its first view', () => {
  const buffer = new ArrayBuffer(8)
  const views = [new Uint8Array(buffer), new DataView(buffer, 4), new Uint8Array(2)]
  assert.equal(totalBufferBytes([buffer, views]), 10)
  assert.equal(memberPath({ views: [1, views[0]] }, buffer, 'payload'), 'payload.views[1]')
})
