import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainIssues } from './functions.js'

test('plain data is copied as it is', () => {
  const issues = [
    { message: 'too small', path: ['list', 0], minimum: 3n, received: null },
    'a text',
    [1, [true]],
  ]
  assert.deepEqual(plainIssues(issues), issues)
})

test('functions are left out', () => {
  const check = () => true
  assert.deepEqual(plainIssues([{ message: 'no', check, path: [check, 0] }]), [
    { message: 'no', path: [undefined, 0] },
  ])
  assert.equal(plainIssues(check), undefined)
})

test('an object of a class tells what it has getters for, or what it tells to JSON', () => {
  class Issue {
    ctx = { check() {} }
    at = 1
    get message() {
      return 'list must be a list'
    }
    get path() {
      return ['list']
    }
  }
  class Json extends Issue {
    readonly code = 'domain'
    toJSON() {
      return { expected: 'a list' }
    }
  }
  const told = { message: 'list must be a list', path: ['list'] }
  assert.deepEqual(plainIssues(new Issue()), { ctx: {}, at: 1, ...told })
  assert.deepEqual(plainIssues(new Json()), { expected: 'a list', code: 'domain', ...told })
  assert.deepEqual(plainIssues(new RangeError('too many')), { message: 'too many' })
  assert.equal(plainIssues(new Date(0)), '1970-01-01T00:00:00.000Z')
})

test('a list of a class is a list', () => {
  class Issues extends Array {
    byPath = { check() {} }
  }
  const plain = plainIssues(Issues.from([{ message: 'no' }]))
  assert.deepEqual(plain, [{ message: 'no' }])
})

test('an object that is met twice stays one object, and a circle is left out', () => {
  const input: Record<string, unknown> = { list: [1] }
  input.self = input
  const [one, other] = plainIssues([{ input }, { input }]) as { input: object }[]
  assert.deepEqual(one!.input, { list: [1] })
  assert.equal(one!.input, other!.input)
})

test('values that nest too deep are left out, and __proto__ is an ordinary key', () => {
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  let levels = 0
  for (let at = plainIssues(deep); Array.isArray(at); at = at[0]) levels++
  assert.equal(levels, 100)
  const plain = plainIssues(JSON.parse('{"__proto__":{"polluted":1}}')) as object
  assert.deepEqual([Object.keys(plain), 'polluted' in plain], [['__proto__'], false])
})
