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
// Cloning a closed port would end the process.
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

describe('the path of a member that cannot be cloned', () => {
  const cases: [string, unknown, string][] = [
    ['the value itself', call, 'payload'],
    ['a symbol', Symbol('odd'), 'payload'],
    ['a member', { call }, 'payload.call'],
    ['a member of a member', { a: { b: { call } } }, 'payload.a.b.call'],
    ['an item', [1, [2, call]], 'payload[1][1]'],
    ['an odd name', { 'a-b': { '': call } }, 'payload["a-b"][""]'],
    ['a member of a later item', { items: [{}, {}, {}, { call }] }, 'payload.items[3].call'],
    ['a named field of an array', Object.assign([1], { call }), 'payload.call'],
    ['a value of a map', { m: new Map([['k', call]]) }, 'payload.m.get("k")'],
    ['a value under a number as key', new Map([[7, call]]), 'payload.get(7)'],
    ['a key of a map', new Map([[call, 1]]), 'payload.key'],
    ['a member of a set', new Set([1, call]), 'payload.member'],
    ['a promise', { later: Promise.resolve() }, 'payload.later'],
    ['a weak map', { weak: new WeakMap() }, 'payload.weak'],
    ['a weak set', { weak: new WeakSet() }, 'payload.weak'],
    ['a proxy', { proxy: new Proxy({}, {}) }, 'payload.proxy'],
    ['the cause of an error', { error: new Error('x', { cause: { call } }) }, 'payload.error.cause.call'],
    [
      'an item after an error that holds a function',
      [Object.assign(new Error('x'), { call }), call],
      'payload[1]',
    ],
    ['a value under an object as key', new Map([[{}, call]]), 'payload.get({…})'],
    ['a generator', { steps: (function* () {})() }, 'payload.steps'],
    ['a weak reference', { weak: new WeakRef({}) }, 'payload.weak'],
    ['a detached buffer', { a: [detached()] }, 'payload.a[0]'],
    ['a view of a detached buffer', { view: detachedView() }, 'payload.view'],
    ['a port that is not transferred', { port }, 'payload.port'],
    [
      'a class of the user',
      {
        mine: new (class Mine {
          call = call
        })(),
      },
      'payload.mine.call',
    ],
    ['an item after an object without a prototype', [Object.create(null), call], 'payload[1]'],
    ['the root for a field of a view', Object.assign(new Uint8Array(1), { call }), 'payload'],
    ['the first of two', { a: { call }, b: { call } }, 'payload.a.call'],
  ]
  for (const [title, value, path] of cases) {
    test(title, () => assert.equal(uncloneablePath(value, 'payload'), path))
  }

  test('is the root when nothing is found', () => {
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

  test('is found in a value that holds itself', () => {
    const value: Record<string, unknown> = { deep: {} }
    value.self = value
    ;(value.deep as Record<string, unknown>).back = value
    value.last = call
    assert.equal(uncloneablePath(value, 'payload'), 'payload.last')
  })

  test('is the property whose getter throws', () => {
    const hostile = {
      get odd() {
        throw new Error('not for you')
      },
    }
    assert.equal(uncloneablePath({ hostile }, 'payload'), 'payload.hostile.odd')
  })

  test('is the root where the value is nested too deeply to be searched', () => {
    let deep: unknown = call
    for (let depth = 0; depth < 100_000; depth++) deep = { deep }
    assert.equal(uncloneablePath(deep, 'payload'), 'payload')
  })
})

describe('the path of an item that cannot be transferred', () => {
  const buffer = new ArrayBuffer(8)
  const cases: [string, unknown, unknown[], string][] = [
    ['twice the same', { buffer }, [buffer, buffer], 'transferList[1]'],
    ['a detached buffer', {}, [buffer, detached()], 'transferList[1]'],
    ['a view instead of its buffer', {}, [new Uint8Array(8)], 'transferList[0]'],
    ['plain data', {}, [buffer, {}], 'transferList[1]'],
    ['no object', {}, [null], 'transferList[0]'],
    ['shared memory', {}, [new SharedArrayBuffer(8)], 'transferList[0]'],
    ['a function beside what is transferred', { buffer, call }, [buffer], 'payload.call'],
    ['the buffer of the payload, twice', new Uint8Array(buffer), [buffer, buffer], 'payload'],
    ['the payload itself, detached', detached(), [], 'payload'],
  ]
  for (const [title, payload, list, place] of cases) {
    test(title, () => assert.equal(unsendablePath(payload, list), place))
  }

  test('names a buffer that is marked as untransferable', t => {
    if (workerThreads.isMarkedAsUntransferable === undefined) return t.skip('Node 20 cannot tell')
    const marked = new ArrayBuffer(8)
    workerThreads.markAsUntransferable(marked)
    assert.equal(unsendablePath({ marked }, [buffer, marked]), 'transferList[1]')
    assert.equal(buffer.byteLength, 8)
    assert.equal(unsendablePath(1, [Buffer.from('small').buffer]), 'transferList[0]')
  })

  test('is the payload when the payload itself is transferred', () => {
    const gone = detached()
    assert.equal(unsendablePath(gone, [gone]), 'payload')
  })

  test('is a path in the payload when the whole list can be transferred', () => {
    const { port1 } = new MessageChannel()
    assert.equal(unsendablePath({ port1, call }, [port1]), 'payload.call')
    port1.close()
  })
})

test('the cause of a refusal is the size, the error of the channel, or the given failure', () => {
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

test('a buffer in several views counts once, and has the path of its first view', () => {
  const buffer = new ArrayBuffer(8)
  const views = [new Uint8Array(buffer), new DataView(buffer, 4), new Uint8Array(2)]
  assert.equal(totalBufferBytes([buffer, views]), 10)
  assert.equal(memberPath({ views: [1, views[0]] }, buffer, 'payload'), 'payload.views[1]')
})
