import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainIssues } from './functions.js'

test('plainIssues() copies plain data unchanged', () => {
  const issues = [
    { message: 'too small', path: ['list', 0], minimum: 3n, received: null },
    'a text',
    [1, [true]],
  ]
  assert.deepEqual(plainIssues(issues), issues)
})

test('plainIssues() leaves out functions', () => {
  const check = () => true
  assert.deepEqual(plainIssues([{ message: 'no', check, path: [check, 0] }]), [
    { message: 'no', path: [undefined, 0] },
  ])
  assert.equal(plainIssues(check), undefined)
})

test('plainIssues() copies getters of message, path and code, and the result of toJSON()', () => {
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

test('plainIssues() copies an instance of an array subclass as an array', () => {
  class Issues extends Array {
    byPath = { check() {} }
  }
  const plain = plainIssues(Issues.from([{ message: 'no' }]))
  assert.deepEqual(plain, [{ message: 'no' }])
})

test('plainIssues() copies a repeated object once and leaves out circular references', () => {
  const input: Record<string, unknown> = { list: [1] }
  input.self = input
  const [one, other] = plainIssues([{ input }, { input }]) as { input: object }[]
  assert.deepEqual(one!.input, { list: [1] })
  assert.equal(one!.input, other!.input)
})

test('plainIssues() leaves out values below 100 levels and copies __proto__ as an ordinary key', () => {
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  let levels = 0
  for (let at = plainIssues(deep); Array.isArray(at); at = at[0]) levels++
  assert.equal(levels, 100)
  const plain = plainIssues(JSON.parse('{"__proto__":{"polluted":1}}')) as object
  assert.deepEqual([Object.keys(plain), 'polluted' in plain], [['__proto__'], false])
})
