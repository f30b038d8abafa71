import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snapshotOf, UNFIT } from './snapshot.js'

test('plain data is copied, so that a later change does not reach the copy', () => {
  const item = { n: 1, list: [1, { deep: 'x' }], at: new Date(5), none: null, big: 1n }
  const copy = snapshotOf(item)
  assert.deepEqual(copy, item)
  item.list.push(2)
  item.at.setTime(6)
  assert.deepEqual(copy, { n: 1, list: [1, { deep: 'x' }], at: new Date(5), none: null, big: 1n })
})

test('values that a structured clone would treat in another way are unfit', () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  const shared = {}
  const getter = {
    get broken(): never {
      throw new Error('broken')
    },
  }
  const own = { ...{}, ['__proto__']: {} }
  const unfit = [
    () => {},
    Symbol('s'),
    { f() {} },
    new Map(),
    new Uint8Array(1),
    new (class A {})(),
    circular,
  ]
  const proxy = new Proxy(
    {},
    { get: () => assert.fail('a trap ran'), getPrototypeOf: () => assert.fail('a trap ran') },
  )
  const refused = [proxy, { proxy }]
  const others = [[shared, shared], 'ab'.match(/a/), new Array(1), new Array(100).fill(0), getter, own]
  for (const value of [...unfit, ...others, ...refused]) assert.equal(snapshotOf(value), UNFIT)
})
