import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { types } from 'node:util'
import { runInNewContext } from 'node:vm'
import type { ErrorClass } from '../../api/pool-options.js'
import { deserializeError, ErrorClasses, replaceUnsendable, serializeError } from './serialize-error.js'

/** Returns the thrown value as it arrives on the other side. */
function across(thrown: unknown, ...registered: ErrorClass[]): any {
  return deserializeError(structuredClone(serializeError(thrown)), new ErrorClasses(registered))
}

function errorAcross(thrown: unknown, ...registered: ErrorClass[]): any {
  const error = across(thrown, ...registered)
  assert.ok(error instanceof Error, `arrived as ${typeof error}: ${String(error)}`)
  return error
}

describe('the class and the fields of an error', () => {
  for (const Class of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
    test(`an error of class ${Class.name} keeps its class, name and message`, () => {
      const error = errorAcross(new Class('why'))
      assert.equal(Object.getPrototypeOf(error), Class.prototype)
      assert.equal(error.name, Class.name)
      assert.equal(error.message, 'why')
      assert.equal(String(error), `${Class.name}: why`)
      assert.deepEqual(Object.keys(error), [])
    })
  }

  test('an error keeps the stack of the worker', () => {
    const thrown = new Error('why')
    thrown.stack = 'Error: why\n    at handler (/handler.js:1:1)'
    assert.equal(errorAcross(thrown).stack, thrown.stack)
  })

  test('an error keeps its code and other own fields', () => {
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

  test('an error of Node keeps its class and code', () => {
    const thrown = Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_TYPE' })
    const error = errorAcross(thrown)
    assert.equal(error instanceof TypeError, true)
    assert.equal(error.code, 'ERR_INVALID_ARG_TYPE')
  })

  test('an error of an unregistered class gets the nearest built-in class and keeps its name', () => {
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

  test('an error keeps a name that was set on it', () => {
    const thrown = new Error('why')
    thrown.name = 'Odd'
    assert.equal(errorAcross(thrown).name, 'Odd')
  })

  test('an own field named __proto__ arrives and does not change the prototype', () => {
    const thrown = new Error('why')
    Object.defineProperty(thrown, '__proto__', { value: { isEvil: true }, enumerable: true })
    const error = errorAcross(thrown)
    assert.equal(error.isEvil, undefined)
    assert.deepEqual(Object.getOwnPropertyDescriptor(error, '__proto__')?.value, { isEvil: true })
  })

  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    test(`an error whose constructor is named ${name} arrives as an Error`, () => {
      const thrown = new Error('why')
      Object.defineProperty(thrown, 'constructor', { value: { name } })
      const error = errorAcross(thrown)
      assert.equal(Object.getPrototypeOf(error), Error.prototype)
    })
  }

  test('errors of WebAssembly keep their classes, and a class of the same name stays an Error', () => {
    const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: Record<string, ErrorConstructor> }
    for (const name of ['CompileError', 'LinkError', 'RuntimeError']) {
      const Class = wasm[name]!
      assert.equal(across(new Class('trap')).constructor, Class)
    }
    class OwnError extends Error {
      static override readonly name = 'RuntimeError'
    }
    assert.equal(across(new OwnError('mine')).constructor, Error)
  })

  test('a DOMException keeps its class, name, message and code', () => {
    const error = across(new DOMException('gone', 'AbortError'))
    assert.equal(error instanceof DOMException, true)
    assert.deepEqual([error.name, error.message, error.code], ['AbortError', 'gone', 20])
  })

  test('an error of another realm keeps its built-in class, message and code', () => {
    const error = errorAcross(runInNewContext(`Object.assign(new TypeError('far'), { code: 'E_FAR' })`))
    assert.equal(error instanceof TypeError, true)
    assert.deepEqual([error.message, error.code], ['far', 'E_FAR'])
  })

  test('an error without a message or a stack arrives', () => {
    const thrown = new Error()
    assert.equal(errorAcross(thrown).message, '')
    Object.defineProperty(thrown, 'stack', { value: undefined })
    errorAcross(thrown)
  })
})

describe('causes', () => {
  test('a chain of causes arrives in order, each with its class', () => {
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

  test('an error without a cause arrives without a cause', () => {
    assert.equal(Object.hasOwn(errorAcross(new Error('why')), 'cause'), false)
  })

  test('circular causes arrive as circular causes', () => {
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

  test('a chain of causes arrives up to 1000 errors, and the next error becomes a text', () => {
    let thrown = new Error('0')
    for (let depth = 1; depth <= 10_000; depth++) thrown = new Error(String(depth), { cause: thrown })
    const error = errorAcross(thrown)
    assert.equal(error.message, '10000')
    assert.equal(error.cause.cause.message, '9998')
    let length = 0
    let link: unknown = error
    for (; link instanceof Error; link = link.cause) length++
    assert.deepEqual([length, link], [1000, 'Error: 9000'])
  })
})

describe('AggregateError', () => {
  test('errors in an AggregateError arrive with their classes and fields', () => {
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

  test('an AggregateError may hold no errors', () => {
    assert.deepEqual(errorAcross(new AggregateError([])).errors, [])
  })

  test('the error of Promise.any() keeps its errors', async () => {
    const thrown = await Promise.any([Promise.reject(new RangeError('a'))]).catch((error: unknown) => error)
    assert.ok(errorAcross(thrown).errors[0] instanceof RangeError)
  })

  test("an error of another class may have a field 'errors' of any type", () => {
    for (const errors of [null, 'x', { field: 'missing' }, [{ field: 'missing' }], new Map([['a', 1]])]) {
      assert.deepEqual(errorAcross(Object.assign(new Error('why'), { errors })).errors, errors)
    }
  })
})

describe('fields', () => {
  test('non-enumerable fields arrive non-enumerable, and non-enumerable methods do not arrive', () => {
    const thrown = new Error('why')
    Object.defineProperty(thrown, 'quiet', { value: { a: 1 } })
    Object.defineProperty(thrown, 'method', { value() {} })
    const error = errorAcross(thrown)
    assert.deepEqual([error.quiet, Object.keys(error)], [{ a: 1 }, []])
    assert.equal('method' in error, false)
  })

  test('an object in two fields arrives as one object', () => {
    const shared = { a: 1 }
    const inner = new Error('inner')
    const error = errorAcross(
      Object.assign(new Error('why'), { one: { shared }, other: [shared], inner, again: { inner } }),
    )
    assert.equal(error.one.shared, error.other[0])
    assert.equal(error.inner, error.again.inner)
  })

  test('a circular object in a field arrives circular', () => {
    const ring: any = { list: [] }
    ring.list.push(ring)
    const error = errorAcross(Object.assign(new Error('why'), { ring }))
    assert.equal(error.ring.list[0], error.ring)
  })

  const { SuppressedError } = globalThis as any
  test('a SuppressedError keeps both errors', { skip: SuppressedError === undefined }, () => {
    const error = errorAcross(new SuppressedError(new TypeError('one'), new RangeError('two'), 'why'))
    assert.ok(error instanceof SuppressedError)
    assert.deepEqual([error.message, error.error.message, error.suppressed.message], ['why', 'one', 'two'])
  })
})

describe('registered error classes', () => {
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

  test('an error arrives as an instance of its registered class, whose constructor does not run', () => {
    const thrown = new Coded(503)
    const { made } = Coded
    const error = errorAcross(thrown, Coded)
    assert.ok(error instanceof Coded)
    assert.deepEqual([error.status, error.isServers, error.message], [503, true, 'coded'])
    assert.equal(Coded.made, made)
    assert.ok(types.isNativeError(error))
  })

  test('an error of an unregistered subclass arrives with the registered base class', () => {
    const error = errorAcross(new Special(404), Coded)
    assert.equal(Object.getPrototypeOf(error), Coded.prototype)
    assert.equal(error.name, 'Special')
    assert.equal(Object.getPrototypeOf(errorAcross(new Special(404), Special)), Special.prototype)
  })

  test('a registered class may get its name from a getter that reads a private field', () => {
    class Named extends Error {
      readonly #kind = 'Odd'
      override get name(): string {
        return `${this.#kind}Error`
      }
    }
    const error = errorAcross(new Named('why'), Named)
    assert.ok(error instanceof Named)
    assert.deepEqual([error.name, error.message], ['OddError', 'why'])
  })

  test('errors in causes, in AggregateErrors and in data arrive with their registered class', () => {
    const thrown = new AggregateError([new Coded(1)], 'all', { cause: new Coded(2) })
    const error = errorAcross(Object.assign(thrown, { data: { list: [new Coded(3)] } }), Coded)
    for (const inner of [error.errors[0], error.cause, error.data.list[0]]) assert.ok(inner instanceof Coded)
    assert.deepEqual([error.errors[0].status, error.cause.status, error.data.list[0].status], [1, 2, 3])
  })

  test('a registered class may derive from AggregateError or DOMException', () => {
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

  test('an error of an unregistered class keeps its name, message and fields', () => {
    const error = errorAcross(new Special(404))
    assert.equal(Object.getPrototypeOf(error), Error.prototype)
    assert.deepEqual([error.name, error.message, error.status], ['Special', 'coded', 404])
  })
})

describe('thrown values that are not errors', () => {
  for (const thrown of [undefined, null, true, 0, -0, Number.NaN, 1n, '', 'text']) {
    test(`the thrown ${typeof thrown} '${Object.is(thrown, -0) ? '-0' : String(thrown)}' arrives unchanged`, () => {
      assert.ok(Object.is(across(thrown), thrown))
    })
  }

  test('thrown plain data arrives unchanged', () => {
    const thrown = { code: 1, list: [new Date(0), new Map([[1, new Set([2])]])], index: [0] }
    assert.deepEqual(across(thrown), thrown)
  })

  test('data that looks like a serialized error arrives as data', () => {
    for (const thrown of [{ type: 'error', classes: ['Error'] }, serializeError(new Error('why'))])
      assert.deepEqual(across(thrown), thrown)
  })

  test('a symbol or a function arrives as its text, a registered symbol as itself', () => {
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

  test('an object that cannot be cloned arrives as its class name', () => {
    assert.equal(across(new WeakMap()), '[WeakMap, not cloneable]')
    assert.equal(across(Promise.resolve()), '[Promise, not cloneable]')
  })

  test('an object without a prototype arrives as data', () => {
    const thrown = Object.assign(Object.create(null), { a: 1, call() {} })
    assert.deepEqual(across(thrown), { a: 1, call: '[function call]' })
  })
})

describe('parts of an error that cannot be sent', () => {
  test('functions and uncloneable objects in fields become texts, and the other data stays', () => {
    class Socket {
      #fd = 3
      handler = () => this.#fd
    }
    const details = { socket: new Socket(), list: [1, { callback() {} }], port: 80 }
    const fields = { code: 'E', call() {}, weak: new WeakMap(), details }
    const error = errorAcross(Object.assign(new TypeError('why'), fields))
    assert.ok(error instanceof TypeError)
    assert.deepEqual(
      { ...error },
      {
        code: 'E',
        call: '[function call]',
        weak: '[WeakMap, not cloneable]',
        details: {
          socket: '[Socket, not cloneable]',
          list: [1, { callback: '[function callback]' }],
          port: 80,
        },
      },
    )
  })

  test('a detached buffer becomes a text', () => {
    const buffer = new ArrayBuffer(8)
    structuredClone(buffer, { transfer: [buffer] })
    assert.deepEqual(across({ buffer, kept: 1 }), { buffer: '[ArrayBuffer, not cloneable]', kept: 1 })
  })

  test('a field whose getter throws becomes a text, in an error and in its data', () => {
    const odd = {
      enumerable: true,
      get() {
        throw new Error('not for you')
      },
    }
    const data = Object.defineProperty({ kept: 1 }, 'odd', odd)
    const error = errorAcross(Object.defineProperty(Object.assign(new Error('why'), { data }), 'odd', odd))
    const text = '(could not be read: Error: not for you)'
    assert.deepEqual([error.message, error.odd, error.data], ['why', text, { kept: 1, odd: text }])
  })

  for (const key of ['name', 'message', 'stack', 'cause']) {
    test(`an error whose getter of ${key} throws keeps its other fields`, () => {
      const thrown = Object.assign(new TypeError('why'), { code: 'E' })
      Object.defineProperty(thrown, key, {
        get() {
          throw new Error('not for you')
        },
      })
      assert.equal(errorAcross(thrown).code, 'E')
    })
  }

  test('a proxy whose traps throw becomes a text', () => {
    const refuse = () => {
      throw new Error('trapped')
    }
    const proxy = new Proxy(new Error('why'), { get: refuse, getPrototypeOf: refuse, ownKeys: refuse })
    assert.equal(across(proxy), '(could not be read: Error: trapped)')
  })

  test('replaceUnsendable() replaces only the refused values', () => {
    const fields = { bad: new Map(), list: [Symbol.for('known'), new Date(0)], code: 'E' }
    const serialized = serializeError(Object.assign(new Error('why'), fields))
    const error: any = deserializeError(replaceUnsendable(serialized, clone => !(clone instanceof Map)))
    assert.deepEqual({ ...error }, { ...fields, bad: '[Map, not cloneable]' })
  })
})

describe('the data of an error', () => {
  test('members of data keep their order', () => {
    const data = { error: new RangeError('why'), call() {}, date: new Date(0), map: new WeakMap(), last: 1 }
    assert.deepEqual(Object.keys(across({ data }).data), ['error', 'call', 'date', 'map', 'last'])
  })

  test('an array keeps its length, its holes and its own fields', () => {
    const array = Object.assign(new Array(5), { 1: () => {}, index: 3 })
    const arrived = across({ array }).array
    assert.deepEqual([arrived.length, Object.keys(arrived), arrived.index], [5, ['1', 'index'], 3])
  })

  test('a circular object of a class arrives circular', () => {
    class Ring {
      self = this
    }
    const { ring } = across({ ring: new Ring() })
    assert.equal(ring.self, ring)
  })

  test('an error in a Map arrives with a cause only when it had a cause', () => {
    const held = new Map([
      ['none', new Error('inner')],
      ['one', new Error('inner', { cause: 1 })],
    ])
    const arrived = across({ held }).held
    assert.equal(Object.hasOwn(arrived.get('none'), 'cause'), false)
    assert.equal(arrived.get('one').cause, 1)
  })

  test('plain data with 10,000 levels arrives', () => {
    let nested: any = { innermost: true }
    for (let level = 0; level < 10_000; level++) nested = { next: nested }
    let arrived = errorAcross(Object.assign(new Error('why'), { nested })).nested
    while (arrived.next !== undefined) arrived = arrived.next
    assert.deepEqual(arrived, { innermost: true })
  })

  test('objects of a class and Maps with 500 levels become a text', () => {
    class Node {
      next: Node | null
      constructor(next: Node | null) {
        this.next = next
      }
    }
    let head: Node | null = null
    for (let depth = 0; depth < 500; depth++) head = new Node(head)
    assert.equal(across({ head }).head, '[Node, nested too deeply]')
    const deepMap = [...Array(500)].reduce(inner => new Map([['inner', inner]]), new Map())
    assert.equal(across({ deepMap }).deepMap, '[Map, nested too deeply]')
  })
})

describe('errors with unusual members', () => {
  test('an error of a function class without a stack gets a stack from its name and message', () => {
    function Old(this: { message: string }, message: string) {
      this.message = message
    }
    Old.prototype = Object.create(Error.prototype, { constructor: { value: Old } })
    const old = errorAcross(new (Old as never as new (message: string) => Error)('why'))
    assert.equal(old.stack, 'Error: why')
  })

  test('an undefined name, message or stack gets a default', () => {
    const bare = Object.assign(new Error(), { message: undefined, name: undefined, stack: undefined })
    const arrived = errorAcross(bare)
    assert.deepEqual([arrived.name, arrived.message, arrived.stack], ['Error', '', 'Error'])
  })

  test('a name or message that is not a string becomes a string', () => {
    for (const value of [null, 1n, {}, Symbol('odd')]) {
      const thrown = Object.assign(new Error('why'), { name: value, message: value })
      const arrived = errorAcross(thrown)
      assert.deepEqual([arrived.name, arrived.message], [String(value), String(value)])
    }
  })

  test('an error whose prototype is not an error class arrives as an Error with its message', () => {
    const odd = new Error('why')
    Object.setPrototypeOf(odd, { name: 'Odd' })
    assert.deepEqual([errorAcross(odd).name, errorAcross(odd).message], ['Odd', 'why'])
    const bare = new Error('why')
    Object.setPrototypeOf(bare, null)
    assert.equal(errorAcross(bare).message, 'why')
  })
})

test('an error arrives unchanged when a program adds properties to Object.prototype', () => {
  const polluted = Object.prototype as { value?: unknown; type?: unknown }
  Object.assign(polluted, { value: 5, type: 6 })
  try {
    const error = errorAcross(Object.assign(new Error('why'), { a: 1, s: Symbol.for('known') }))
    assert.deepEqual([error.message, error.a, error.s], ['why', 1, Symbol.for('known')])
  } finally {
    delete polluted.value
    delete polluted.type
  }
})
