// What a handler threw, on the other side: packed, cloned as a port would, and revived.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { types } from 'node:util'
import { runInNewContext } from 'node:vm'
import { type ErrorClass, ErrorClasses } from './error-classes.js'
import { pack, unpack, withoutData } from './remote-error.js'

const across = (thrown: unknown, ...own: ErrorClass[]): any =>
  unpack(structuredClone(pack(thrown)), new ErrorClasses(own))

/** Crosses, and must arrive as an error. */
function errorAcross(thrown: unknown, ...own: ErrorClass[]): any {
  const error = across(thrown, ...own)
  assert.ok(error instanceof Error, `arrived as ${typeof error}: ${String(error)}`)
  return error
}

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
    for (let link = error; link instanceof Error; link = link.cause as Error) length++
    assert.ok(length > 100 && length < 10_000)
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

describe('a class of the user that is known here', () => {
  class Coded extends Error {
    #secret = 1
    static made = 0
    readonly status: number
    constructor(status: number) {
      super('coded')
      this.status = status
      Coded.made++
    }
    get isServers(): boolean {
      return this.status >= 500
    }
    get secret(): number {
      return this.#secret
    }
  }
  class Special extends Coded {
    override name = 'Special'
  }

  test('is what it arrives as, without running its constructor', () => {
    const thrown = new Coded(503)
    const { made } = Coded
    const error = errorAcross(thrown, Coded)
    assert.ok(error instanceof Coded)
    assert.deepEqual([error.status, error.isServers, error.message], [503, true, 'coded'])
    assert.equal(Coded.made, made)
    assert.ok(types.isNativeError(error))
  })

  test('stands in for those derived from it that are not', () => {
    const error = errorAcross(new Special(404), Coded)
    assert.equal(Object.getPrototypeOf(error), Coded.prototype)
    assert.equal(error.name, 'Special')
    assert.equal(Object.getPrototypeOf(errorAcross(new Special(404), Special)), Special.prototype)
  })

  test('is found in causes, in aggregates and inside data', () => {
    const thrown = new AggregateError([new Coded(1)], 'all', { cause: new Coded(2) })
    const error = errorAcross(Object.assign(thrown, { data: { list: [new Coded(3)] } }), Coded)
    for (const inner of [error.errors[0], error.cause, error.data.list[0]]) assert.ok(inner instanceof Coded)
    assert.deepEqual([error.errors[0].status, error.cause.status, error.data.list[0].status], [1, 2, 3])
  })

  test('may derive from any builtin', () => {
    class Many extends AggregateError {}
    class Gone extends DOMException {}
    const many = errorAcross(new Many([new Error('one')], 'many'), Many)
    assert.deepEqual([many instanceof Many, many.message, many.errors[0].message], [true, 'many', 'one'])
    const gone = errorAcross(new Gone('left', 'NotFoundError'), Gone)
    assert.deepEqual(
      [gone instanceof Gone, gone.message, gone.name, gone.code],
      [true, 'left', 'NotFoundError', 8],
    )
  })

  test('is unknown where it is not known: name, message and fields stay', () => {
    const error = errorAcross(new Special(404))
    assert.equal(Object.getPrototypeOf(error), Error.prototype)
    assert.deepEqual([error.name, error.message, error.status], ['Special', 'coded', 404])
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

describe('what is no error arrives too', () => {
  for (const thrown of [undefined, null, true, 0, -0, Number.NaN, 1n, '', 'text']) {
    test(`${typeof thrown} ${Object.is(thrown, -0) ? '-0' : String(thrown)}`, () => {
      assert.ok(Object.is(across(thrown), thrown))
    })
  }

  test('plain data', () => {
    const thrown = { code: 1, list: [new Date(0), new Map([[1, new Set([2])]])] }
    assert.deepEqual(across(thrown), thrown)
  })

  test('a thing that looks like packed', () => {
    for (const thrown of [{ kind: 'error' }, { kind: 'text', text: 'x' }, { kind: 'value', value: 1 }]) {
      assert.deepEqual(across(thrown), thrown)
    }
  })

  test('a symbol or a function arrives as its text, a symbol of the registry as itself', () => {
    assert.equal(across(Symbol('odd')), 'Symbol(odd)')
    assert.equal(across(Symbol.for('shared')), Symbol.for('shared'))
    assert.equal(
      across(function odd() {}),
      '[function odd]',
    )
    assert.equal(
      across(() => {}),
      '[function (anonymous)]',
    )
  })

  test('an object arrives with what of it cannot be cloned named', () => {
    assert.deepEqual(across({ code: 1, call() {} }), { code: 1, call: '[function call]' })
    assert.equal(across(new WeakMap()), '[WeakMap, not cloneable]')
    assert.equal(across(Promise.resolve()), '[Promise, not cloneable]')
    assert.deepEqual(across(Object.assign(Object.create(null), { a: 1, call() {} })), {
      a: 1,
      call: '[function call]',
    })
  })
})

describe('what is hostile arrives as well as it can', () => {
  test('a field that cannot be cloned becomes text, the others stay', () => {
    const error = errorAcross(
      Object.assign(new TypeError('why'), { code: 'E', call() {}, weak: new WeakMap() }),
    )
    assert.equal(error instanceof TypeError, true)
    assert.equal(error.code, 'E')
    assert.equal(error.call, '[function call]')
    assert.match(error.weak, /WeakMap/)
  })

  test('a field whose getter throws costs that field only', () => {
    const thrown = Object.assign(new TypeError('why'), { code: 'E' })
    Object.defineProperty(thrown, 'odd', {
      enumerable: true,
      get() {
        throw new Error('not for you')
      },
    })
    const error = errorAcross(thrown)
    assert.equal(error instanceof TypeError, true)
    assert.equal(error.message, 'why')
    assert.equal(error.code, 'E')
    assert.match(String(error.odd), /not for you/)
  })

  for (const key of ['name', 'message', 'stack', 'constructor', 'cause']) {
    test(`${key} throws when it is read: the rest arrives, as an error`, () => {
      const thrown = Object.assign(new TypeError('why'), { code: 'E' })
      Object.defineProperty(thrown, key, {
        get() {
          throw new Error('not for you')
        },
      })
      assert.equal(errorAcross(thrown).code, 'E')
    })

    for (const value of [
      Symbol('odd'),
      null,
      undefined,
      {},
      Object.create(null),
      1n,
      () => {},
    ] as unknown[]) {
      test(`${key} is ${value === null || typeof value !== 'object' ? String(value) : 'an object'}: something arrives`, () => {
        const thrown = new Error('why')
        Object.defineProperty(thrown, key, { value })
        assert.doesNotThrow(() => across(thrown))
      })
    }
  }

  test('a class of the user inside the data, and a function deep in it, are named where they were', () => {
    class Socket {
      #fd = 3
      handler = () => this.#fd
    }
    const details = { socket: new Socket(), list: [1, { callback() {} }], port: 80 }
    const error = errorAcross(Object.assign(new Error('why'), { details }))
    assert.deepEqual(error.details, {
      socket: '[Socket, not cloneable]',
      list: [1, { callback: '[function callback]' }],
      port: 80,
    })
  })

  test('data that answers differently each time it is read arrives as it was read once', () => {
    let reads = 0
    const thrown = Object.assign(new Error('why'), {
      details: {
        get count() {
          if (++reads > 1) throw new Error('read again')
          return reads
        },
      },
    })
    const packed = pack(thrown)
    assert.deepEqual((unpack(structuredClone(packed)) as typeof thrown).details, { count: 1 })
  })

  test('a buffer that is detached, a getter that throws and nesting without end cost what they are', () => {
    const buffer = new ArrayBuffer(8)
    structuredClone(buffer, { transfer: [buffer] })
    const nested: any = {}
    let inner = nested
    for (let level = 0; level < 100_000; level++) inner = inner.next = {}
    const fields = {
      data: {
        buffer,
        get odd() {
          throw new Error('not for you')
        },
        kept: 1,
      },
      nested,
      code: 'E',
    }
    const error = errorAcross(Object.assign(new Error('why'), fields))
    assert.deepEqual(error.data, {
      buffer: '[ArrayBuffer, not cloneable]',
      odd: '(could not be read: Error: not for you)',
      kept: 1,
    })
    assert.equal(error.code, 'E')
    assert.ok(error.nested.next.next)
  })

  test('a class whose constructor lies, or a prototype that is no error, is taken for what it says safely', () => {
    const lying = new Error('why')
    Object.setPrototypeOf(lying, { constructor: { name: 'TypeError' }, name: 'Liar', message: 'unused' })
    const arrived = errorAcross(lying)
    assert.deepEqual([arrived.name, arrived.message], ['Liar', 'why'])
    assert.deepEqual(across({ [Symbol.toStringTag]: 'Error', a: 1 }), { a: 1 })
    const bare = new Error('why')
    Object.setPrototypeOf(bare, null)
    assert.equal(errorAcross(bare).message, 'why')
  })

  test('what is left without its data still says what happened, and why', () => {
    const thrown = Object.assign(new TypeError('why', { cause: new Error('root') }), { code: 'E' })
    const error: any = unpack(withoutData(pack(thrown)))
    assert.deepEqual([error.constructor, error.message, error.stack], [TypeError, 'why', thrown.stack])
    assert.equal(typeof unpack(withoutData(pack({ a: 1 }))), 'string')
  })

  test('a proxy whose every trap throws', () => {
    const handler = new Proxy(
      {},
      {
        get() {
          return () => {
            throw new Error('trapped')
          }
        },
      },
    )
    assert.equal(typeof across(new Proxy(new Error('why'), handler)), 'string')
  })

  test('a proxy of an error that lets everything through', () => {
    assert.equal(errorAcross(new Proxy(new TypeError('why'), {})).message, 'why')
  })

  test('what throws when it is made to text', () => {
    const thrown = {
      call() {},
      toString() {
        throw new Error('no text')
      },
    }
    assert.deepEqual(across(thrown), { call: '[function call]', toString: '[function toString]' })
  })

  test('an error that throws another when it is read, and that one too', () => {
    const worse = {
      toString() {
        throw this
      },
    }
    const thrown = new Error('why')
    Object.defineProperty(thrown, 'message', {
      get() {
        throw worse
      },
    })
    assert.doesNotThrow(() => across(thrown))
  })
})
