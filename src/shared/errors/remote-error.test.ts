// An error that a handler threw, on the other side.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { across, errorAcross } from '../../testing/errors-across.js'
import { unpack } from './remote-error.js'

describe('an error arrives as what it was', () => {
  for (const Class of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
    test(Class.name, () => {
      const error = errorAcross(new Class('why'))
      assert.equal(Object.getPrototypeOf(error), Class.prototype)
      assert.equal(error.name, Class.name)
      assert.equal(error.message, 'why')
      assert.equal(String(error), `${Class.name}: why`)
      assert.deepEqual(Object.keys(error), [])
    })
  }

  test("the worker's stack is kept", () => {
    const thrown = new Error('why')
    thrown.stack = 'Error: why\n    at handler (/handler.js:1:1)'
    assert.equal(errorAcross(thrown).stack, thrown.stack)
  })

  test('a code and other own fields', () => {
    const fields = {
      code: 'E_WHY',
      status: 404,
      retry: true,
      list: [1, { a: 2 }],
      when: new Date(0),
      big: 1n,
      none: null,
    }
    const error = errorAcross(Object.assign(new Error('why'), fields))
    assert.deepEqual({ ...error }, fields)
  })

  test("an error of Node's own", () => {
    const thrown = Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_TYPE' })
    const error = errorAcross(thrown)
    assert.equal(error instanceof TypeError, true)
    assert.equal(error.code, 'ERR_INVALID_ARG_TYPE')
  })

  test('a class of the user keeps its name and falls back to the nearest builtin', () => {
    class Mine extends TypeError {
      override name = 'Mine'
    }
    const named = errorAcross(new Mine('why'))
    assert.equal(named.name, 'Mine')
    class Unnamed extends RangeError {}
    const unnamed = errorAcross(new Unnamed('why'))
    assert.equal(unnamed instanceof RangeError, true)
    assert.equal(unnamed.name, 'RangeError')
  })

  test('a name given afterwards', () => {
    const thrown = new Error('why')
    thrown.name = 'Odd'
    assert.equal(errorAcross(thrown).name, 'Odd')
  })

  test('a field called like a method of every object', () => {
    const thrown = new Error('why')
    Object.defineProperty(thrown, '__proto__', { value: { isEvil: true }, enumerable: true })
    const error = errorAcross(thrown)
    assert.equal(error.isEvil, undefined)
    assert.deepEqual(Object.getOwnPropertyDescriptor(error, '__proto__')?.value, { isEvil: true })
  })

  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    test(`a class called ${name} is no way to other objects`, () => {
      const thrown = new Error('why')
      Object.defineProperty(thrown, 'constructor', { value: { name } })
      const error = errorAcross(thrown)
      assert.equal(Object.getPrototypeOf(error), Error.prototype)
    })
  }

  test('a DOMException', () => {
    const error = across(new DOMException('gone', 'AbortError'))
    assert.equal(error instanceof DOMException, true)
    assert.deepEqual([error.name, error.message, error.code], ['AbortError', 'gone', 20])
  })

  test('an error of another realm', () => {
    const error = errorAcross(runInNewContext(`Object.assign(new TypeError('far'), { code: 'E_FAR' })`))
    assert.equal(error instanceof TypeError, true)
    assert.deepEqual([error.message, error.code], ['far', 'E_FAR'])
  })

  test('an error without message or stack', () => {
    const thrown = new Error()
    assert.equal(errorAcross(thrown).message, '')
    Object.defineProperty(thrown, 'stack', { value: undefined })
    errorAcross(thrown)
  })
})

describe('causes', () => {
  test('a chain arrives in order, each link as what it was', () => {
    const root = Object.assign(new RangeError('root'), { code: 'E_ROOT' })
    const error = errorAcross(new Error('top', { cause: new TypeError('middle', { cause: root }) }))
    assert.equal(error.cause instanceof TypeError, true)
    assert.equal(error.cause.cause instanceof RangeError, true)
    assert.equal(error.cause.cause.code, 'E_ROOT')
    assert.equal(Object.keys(error).includes('cause'), false)
  })

  for (const cause of [undefined, null, 0, '', 'text', { a: 1 }, [1]]) {
    test(`a cause may be ${JSON.stringify(cause)}`, () => {
      const error = errorAcross(new Error('why', { cause }))
      assert.equal(Object.hasOwn(error, 'cause'), true)
      assert.deepEqual(error.cause, cause)
    })
  }

  test('no cause stays no cause', () => {
    assert.equal(Object.hasOwn(errorAcross(new Error('why')), 'cause'), false)
  })

  test('a chain that leads back to itself arrives as one', () => {
    const one: Error = new Error('one')
    const other = new Error('other', { cause: one })
    one.cause = other
    const error = errorAcross(one)
    assert.equal(error.message, 'one')
    assert.equal(error.cause.message, 'other')
    assert.equal(error.cause.cause, error)
    const self: Error = new Error('self')
    self.cause = self
    const arrived = errorAcross(self)
    assert.equal(arrived.cause, arrived)
  })

  test('a chain of ten thousand is cut, not fatal', () => {
    let thrown = new Error('0')
    for (let depth = 1; depth <= 10_000; depth++) thrown = new Error(String(depth), { cause: thrown })
    const error = errorAcross(thrown)
    assert.equal(error.message, '10000')
    assert.equal(error.cause.cause.message, '9998')
    let length = 0
    let link: unknown = error
    for (; link instanceof Error; link = link.cause) length++
    assert.ok(length > 100 && length < 10_000)
    assert.equal(link, `Error: ${10_000 - length}`)
  })

  test('errors that all point to each other are read a bounded number of times', () => {
    let reads = 0
    class Counting extends Error {
      override get message(): string {
        reads++
        if (reads > 50_000) throw new Error('read without end')
        return 'counted'
      }
    }
    const aggregate = new AggregateError([])
    aggregate.errors = Array.from({ length: 40 }, () => Object.assign(new Counting(), { parent: aggregate }))
    const error = errorAcross(aggregate)
    assert.equal(error.errors.length, 40)
    assert.equal(error.errors[39].message, 'counted')
    assert.equal(error.errors[39].parent, error)
    assert.ok(reads <= 50_000, 'read without end')
  })
})

describe('an AggregateError', () => {
  test('brings its errors, each as what it was', () => {
    const thrown = new AggregateError(
      [new TypeError('one'), 'two', Object.assign(new Error('three'), { code: 3 })],
      'all',
    )
    const error = errorAcross(thrown)
    assert.equal(error instanceof AggregateError, true)
    assert.equal(error.message, 'all')
    assert.equal(error.errors[0] instanceof TypeError, true)
    assert.equal(error.errors[1], 'two')
    assert.equal(error.errors[2].code, 3)
    assert.equal(Object.keys(error).includes('errors'), false)
  })

  test('may be empty', () => {
    assert.deepEqual(errorAcross(new AggregateError([])).errors, [])
  })

  test('what Promise.any rejects with arrives', async () => {
    const thrown = await Promise.any([Promise.reject(new RangeError('a'))]).catch((error: unknown) => error)
    assert.ok(errorAcross(thrown).errors[0] instanceof RangeError)
  })

  test('a field `errors` of another error may be anything', () => {
    for (const errors of [null, 'x', { field: 'missing' }, [{ field: 'missing' }], new Map([['a', 1]])]) {
      assert.deepEqual(errorAcross(Object.assign(new Error('why'), { errors })).errors, errors)
    }
  })
})

describe('fields', () => {
  test('those that were hidden stay hidden, and hidden methods stay behind', () => {
    const thrown = new Error('why')
    Object.defineProperty(thrown, 'quiet', { value: { a: 1 } })
    Object.defineProperty(thrown, 'method', { value() {} })
    const error = errorAcross(thrown)
    assert.deepEqual([error.quiet, Object.keys(error)], [{ a: 1 }, []])
    assert.equal('method' in error, false)
  })

  test('one thing in two fields arrives as one thing', () => {
    const shared = { a: 1 }
    const inner = new Error('inner')
    const error = errorAcross(
      Object.assign(new Error('why'), { one: { shared }, other: [shared], inner, again: { inner } }),
    )
    assert.equal(error.one.shared, error.other[0])
    assert.equal(error.inner, error.again.inner)
  })

  test('what holds itself arrives so', () => {
    const ring: any = { list: [] }
    ring.list.push(ring)
    const error = errorAcross(Object.assign(new Error('why'), { ring }))
    assert.equal(error.ring.list[0], error.ring)
  })

  const { SuppressedError } = globalThis as any
  test('a SuppressedError brings both errors', { skip: SuppressedError === undefined }, () => {
    const error = errorAcross(new SuppressedError(new TypeError('one'), new RangeError('two'), 'why'))
    assert.ok(error instanceof SuppressedError)
    assert.deepEqual([error.message, error.error.message, error.suppressed.message], ['why', 'one', 'two'])
  })
})

test('what arrives damaged is an error that says so', () => {
  const { cause, message } = unpack({
    thrown: { error: 0 },
    errors: [],
    holes: [[null, 'x', { error: 1 }]],
  } as never) as Error
  assert.match(message, /arrived damaged/)
  assert.ok(cause instanceof TypeError)
})
