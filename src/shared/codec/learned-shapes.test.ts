// Shapes are learned when they come again, and a flood of others changes nothing.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Dictionary, MOST_KEYS, MOST_SHAPES } from './dictionary.js'
import { LearnedShapes } from './learned-shapes.js'

function open(bytes = 2 ** 16): LearnedShapes {
  return new LearnedShapes(new Dictionary(new SharedArrayBuffer(bytes), 0, bytes))
}

describe('a shape', () => {
  test('is learned at the second look, and has its number from then on', () => {
    const shapes = open()
    assert.equal(shapes.find(['a', 'b']), undefined)
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
    assert.equal(shapes.find(['b', 'a']), undefined)
    assert.equal(shapes.find(['b', 'a'])?.number, 1)
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
  })

  const never: [title: string, keys: string[]][] = [
    ['no keys', []],
    ['an index', ['a', '0']],
    ['__proto__', ['a', '__proto__']],
    ['a key that every object inherits', ['constructor']],
    ['a very long key', ['a'.repeat(101)]],
    ['very many keys', Array.from({ length: MOST_KEYS + 1 }, (_, index) => `k${index}`)],
  ]
  for (const [title, keys] of never) {
    test(`with ${title} is never learned`, () => {
      const shapes = open()
      for (let look = 0; look < 5; look++) assert.equal(shapes.find(keys), undefined)
    })
  }
})

describe('a flood of shapes', () => {
  test('that come once each is not learned, and leaves room for those that come again', () => {
    const shapes = open()
    for (let index = 0; index < 100_000; index++) assert.equal(shapes.find([`key${index}`]), undefined)
    shapes.find(['a', 'b'])
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
  })

  test('that come twice each is learned up to a bound', () => {
    const shapes = open(2 ** 20)
    let most = 0
    for (let index = 0; index < 10_000; index++) {
      shapes.find([`key${index}`])
      const shape = shapes.find([`key${index}`])
      if (shape !== undefined) assert.deepEqual(shape.keys, [`key${index}`])
      most = Math.max(most, shape?.number ?? 0)
    }
    assert.equal(most, MOST_SHAPES - 1)
  })

  test('does not overfill the dictionary', () => {
    const shapes = open(64)
    for (let index = 0; index < 100; index++)
      for (let look = 0; look < 3; look++) shapes.find([`key${index}`])
    assert.equal(shapes.find(['key0'])?.number, 0)
    assert.equal(shapes.find(['key99']), undefined)
  })

  test('does not end the learning of others where long ones find no room', () => {
    const shapes = open(64)
    const many = Array.from({ length: 30 }, (_, index) => `k${index}`)
    for (let look = 0; look < 3; look++) assert.equal(shapes.find(many), undefined)
    shapes.find(['a', 'b'])
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
  })
})
