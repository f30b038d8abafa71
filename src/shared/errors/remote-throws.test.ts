// What a handler threw that is no error, or that resists being read, on the other side.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { across, errorAcross } from '../../testing/errors-across.js'
import { pack, unpack, withoutData, withoutUnsendable } from './remote-error.js'

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
    let depth = 0
    let at = error.nested
    for (; typeof at === 'object'; depth++) at = at.next
    assert.equal(at, '[Object, nested too deeply]')
    assert.ok(depth > 50 && depth < 200, `${depth}`)
  })

  test('members arrive in the order in which they stood, whatever became of them', () => {
    const data = { error: new RangeError('why'), call() {}, date: new Date(0), map: new WeakMap(), last: 1 }
    assert.deepEqual(Object.keys(across({ data }).data), ['error', 'call', 'date', 'map', 'last'])
  })

  test('data too large to be looked through is sent as it is, or named, also where it is many', () => {
    const part = () => [...new Array(15_000).fill(1), () => {}]
    const { first, second, third } = across({
      first: part(),
      second: part(),
      third: new Array(15_000).fill(1),
    })
    assert.equal(first.at(-1), '[function (anonymous)]')
    assert.deepEqual([second, third.length], ['[Array, not cloneable]', 15_000])
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

  test('objects of classes are nested no deeper than a reader with less stack can follow', () => {
    class Node {
      next: Node | null
      constructor(next: Node | null) {
        this.next = next
      }
    }
    let head: Node | null = null
    for (let depth = 0; depth < 500; depth++) head = new Node(head)
    const deepMap = [...Array(500)].reduce(inner => new Map([['inner', inner]]), new Map())
    const deepKey = [...Array(500)].reduce(inner => new Map([[inner, 1]]), new Map())
    const deepSet = [...Array(500)].reduce(inner => new Set([inner]), new Set())
    class Holder {
      deepCause = [...Array(500)].reduce(cause => new Error('inner', { cause }), new Error('innermost'))
    }
    const fields = { code: 'E', deepMap, deepKey, deepSet, holder: new Holder() }
    const error = errorAcross(Object.assign(new Error('why', { cause: head }), fields))
    assert.deepEqual([error.message, error.code], ['why', 'E'])
    for (const outermost of [
      error.cause,
      error.deepMap,
      error.deepKey,
      error.deepSet,
      error.holder.deepCause,
    ]) {
      let depth = 0
      let at: any = outermost
      for (; typeof at === 'object'; depth++) {
        if (at instanceof Map || at instanceof Set) {
          assert.equal(at.size, 1)
          at = (at as Map<unknown, unknown>).get?.('inner') ?? [...at.keys()][0]
        } else at = at instanceof Error ? at.cause : at.next
      }
      assert.match(at, /^\[(Object|Map|Set|Error), nested too deeply\]$/)
      assert.ok(depth < 200, `${depth}`)
    }
  })

  test('an error within other data has a cause only where it had one', () => {
    const errors = { none: new Error('inner'), one: new Error('inner', { cause: 1 }) }
    const { held } = across({ held: new Map(Object.entries(errors)) })
    assert.equal(Object.hasOwn(held.get('none'), 'cause'), false)
    assert.equal(held.get('one').cause, 1)
  })

  test('an array arrives as long as it was, with its holes', () => {
    const { holes } = across({ holes: Object.assign(new Array(5), { 1: () => {} }) })
    assert.deepEqual([holes.length, Object.keys(holes)], [5, ['1']])
  })

  test('an object of a class that holds itself arrives so', () => {
    class Ring {
      self = this
    }
    const { ring } = across({ ring: new Ring() })
    assert.equal(ring.self, ring)
  })

  test('what objects of classes share is sent once, and is one where it arrives', () => {
    const body = new ArrayBuffer(1_000_000)
    class Line {
      of = body
      before: Line | undefined
    }
    const lines = Array.from({ length: 50 }, () => new Line())
    lines[1]!.before = lines[0]
    const error = errorAcross(
      Object.assign(new Error('why'), { lines, views: [new Uint8Array(body, 10, 5)] }),
    )
    assert.equal(error.lines[1].before, error.lines[0])
    const buffers = error.lines.map(({ of }: Line) => of)
    assert.equal(new Set([...buffers, error.views[0].buffer]).size, 1)
    assert.equal(error.views[0].byteOffset, 10)
  })

  test('of many objects of classes those that cannot be cloned cost themselves alone', () => {
    class Row {
      index: number
      held: unknown
      constructor(index: number) {
        this.index = index
        this.held = index % 40 === 7 ? () => index : index
      }
    }
    const rows = Array.from({ length: 100 }, (_, index) => new Row(index))
    const error = errorAcross(Object.assign(new Error('why'), { rows }))
    for (const [index, row] of error.rows.entries()) {
      if (index % 40 === 7) assert.equal(row, '[Row, not cloneable]')
      else assert.deepEqual(row, { index, held: index })
    }
  })

  test('a list that is too long to be looked through costs nothing that stands beside it', () => {
    class HttpError extends Error {
      readonly status = 404
    }
    const cause = new AggregateError([new HttpError('why')])
    const rows = new Array(20_001).fill(1)
    const error = errorAcross(
      Object.assign(new Error('outer', { cause }), { rows, request: { retry() {} } }),
      HttpError,
    )
    assert.deepEqual(error.rows, rows)
    assert.deepEqual(error.request, { retry: '[function retry]' })
    const [inner] = error.cause.errors
    assert.ok(inner instanceof HttpError)
    assert.equal(inner.status, 404)
  })

  test('an error without a stack, a message or a name says what it has', () => {
    function Old(this: { message: string }, message: string) {
      this.message = message
    }
    Old.prototype = Object.create(Error.prototype, { constructor: { value: Old } })
    const old = errorAcross(new (Old as never as new (message: string) => Error)('why'))
    assert.equal(old.stack, 'Error: why')
    const bare = Object.assign(new Error(), { message: undefined, name: undefined, stack: undefined })
    const arrived = errorAcross(bare)
    assert.deepEqual([arrived.name, arrived.message, arrived.stack], ['Error', '', 'Error'])
  })

  test('fields that a program has given to all objects are none of an error', () => {
    const polluted = Object.prototype as { value?: unknown; error?: unknown }
    Object.assign(polluted, { value: 5, error: 6 })
    try {
      const error = errorAcross(Object.assign(new Error('why'), { a: 1, s: Symbol.for('known') }))
      assert.deepEqual([error.message, error.a, error.s], ['why', 1, Symbol.for('known')])
    } finally {
      delete polluted.value
      delete polluted.error
    }
  })

  test('which data may not be sent is asked a few times, however much there is', () => {
    const list = Array.from({ length: 2000 }, (_, index) => Symbol.for(`known ${index}`))
    const packed = pack(Object.assign(new Error('why'), { list, bad: new Map(), code: 'E' }))
    let asked = 0
    const sent = withoutUnsendable(packed, data => {
      asked++
      return !data.some(value => value instanceof Map)
    })
    assert.ok(asked < 10, `${asked}`)
    const error: any = unpack(sent)
    assert.deepEqual([error.code, error.list, error.bad], ['E', list, '[Map, not cloneable]'])
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

  test('what has ancestors without end', () => {
    const endless: object = new Proxy(Object.create(null), { getPrototypeOf: () => endless })
    const thrown = {
      get member() {
        throw endless
      },
    }
    assert.deepEqual(across(thrown), { member: '(could not be read: [Object])' })
    assert.equal(errorAcross(Object.setPrototypeOf(new Error('why'), endless)).message, 'why')
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
