// An error of a class that the host was told of, on the other side.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { types } from 'node:util'
import { errorAcross } from '../../testing/errors-across.js'

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

  test('may tell its name by what did not cross', () => {
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
