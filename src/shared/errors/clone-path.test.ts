// Where in a value structured clone finds what it refuses.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findUncloneable } from './clone-path.js'

const call = () => {}

describe('the path to what cannot be cloned', () => {
  const cases: [string, unknown, string][] = [
    ['the value itself', call, 'payload'],
    ['a symbol', Symbol('odd'), 'payload'],
    ['a member', { call }, 'payload.call'],
    ['a member of a member', { a: { b: { call } } }, 'payload.a.b.call'],
    ['an item', [1, [2, call]], 'payload[1][1]'],
    ['an odd name', { 'a-b': { '': call } }, 'payload["a-b"][""]'],
    ['an item that is not the first', { items: [{}, {}, {}, { call }] }, 'payload.items[3].call'],
    ['a value of a map', { m: new Map([['k', call]]) }, 'payload.m.get("k")'],
    ['a value behind another kind of key', new Map([[7, call]]), 'payload.get(7)'],
    ['a key of a map', new Map([[call, 1]]), 'payload.key'],
    ['a member of a set', new Set([1, call]), 'payload.member'],
    ['a promise', { later: Promise.resolve() }, 'payload.later'],
    ['a weak map', { weak: new WeakMap() }, 'payload.weak'],
    ['a weak set', { weak: new WeakSet() }, 'payload.weak'],
    ['a proxy', { proxy: new Proxy({}, {}) }, 'payload.proxy'],
    ['an error with a function', { error: Object.assign(new Error('x'), { call }) }, 'payload.error.call'],
    ['the first of two', { a: { call }, b: { call } }, 'payload.a.call'],
  ]
  for (const [title, value, path] of cases) {
    test(title, () => assert.equal(findUncloneable(value, 'payload'), path))
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
      assert.equal(findUncloneable(value, 'result'), 'result')
    }
  })

  test('is found behind a circle', () => {
    const value: Record<string, unknown> = { deep: {} }
    value.self = value
    ;(value.deep as Record<string, unknown>).back = value
    value.last = call
    assert.equal(findUncloneable(value, 'payload'), 'payload.last')
  })

  test('is the root when a getter or a trap throws', () => {
    const hostile = {
      get odd() {
        throw new Error('not for you')
      },
    }
    assert.equal(findUncloneable({ hostile }, 'payload'), 'payload')
  })

  test('ends in what is deep or wide, without an overflow', () => {
    let deep: unknown = call
    for (let depth = 0; depth < 100_000; depth++) deep = { deep }
    assert.equal(findUncloneable(deep, 'payload'), 'payload')
    const wide = Array.from({ length: 50_000 }, () => ({}))
    assert.equal(findUncloneable(wide, 'payload'), 'payload')
  })
})
