import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CorruptMessageError } from './format.js'
import { MAX_KEYS, MAX_SHAPES, ShapeTable, ShapeWriter } from './shapes.js'

describe('ShapeTable', () => {
  function open(bytes: number) {
    const memory = new SharedArrayBuffer(bytes + 16)
    return {
      memory,
      writer: new ShapeTable(memory, 8, 8 + bytes),
      reader: new ShapeTable(memory, 8, 8 + bytes),
    }
  }

  test('next() returns the keys of each entry in order, while more entries are appended', () => {
    const { writer, reader } = open(1000)
    const entries = [['a', 'b'], ['é'], ['€', '\ud800', ''], ['x'.repeat(100)]]
    for (const keys of entries) {
      assert.equal(writer.append(keys), true)
      assert.deepEqual(reader.next(), keys)
    }
    assert.throws(() => reader.next(), CorruptMessageError)
    writer.append(['later'])
    assert.deepEqual(reader.next(), ['later'])
  })

  test('append() refuses an entry without room, and writes nothing beyond the end', () => {
    const { writer, reader, memory } = open(19)
    assert.equal(writer.append(['a', 'b']), true)
    assert.equal(writer.append(['too long for what is left']), false)
    assert.equal(writer.append(['cd']), true)
    assert.equal(writer.append(['e']), false)
    assert.deepEqual([reader.next(), reader.next()], [['a', 'b'], ['cd']])
    assert.throws(() => reader.next(), CorruptMessageError)
    assert.deepEqual([...new Uint8Array(memory, 27)], Array(8).fill(0))
  })

  test('next() refuses an entry with the key __proto__', () => {
    const { writer, reader } = open(1000)
    writer.append(['a', '__proto__'])
    assert.throws(() => reader.next(), CorruptMessageError)
  })
})

describe('ShapeWriter', () => {
  function open(bytes = 2 ** 16): ShapeWriter {
    return new ShapeWriter(new ShapeTable(new SharedArrayBuffer(bytes), 0, bytes))
  }

  test('find() returns a number from the second look-up of the same keys on', () => {
    const shapes = open()
    assert.equal(shapes.find(['a', 'b']), undefined)
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
    assert.equal(shapes.find(['b', 'a']), undefined)
    assert.equal(shapes.find(['b', 'a'])?.number, 1)
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
  })

  test('find() distinguishes a key with a zero character from two keys', () => {
    const shapes = open()
    for (let time = 0; time < 2; time++) shapes.find(['a\0b'])
    for (let time = 0; time < 3; time++) assert.equal(shapes.find(['a', 'b']), undefined)
    assert.equal(shapes.find(['a\0b'])?.number, 0)
  })

  const never: [title: string, keys: string[]][] = [
    ['an empty list of keys', []],
    ['keys with an index', ['a', '0']],
    ['keys with __proto__', ['a', '__proto__']],
    ['keys that every object inherits', ['constructor']],
    ['a key of 101 characters', ['a'.repeat(101)]],
    [`${MAX_KEYS + 1} keys`, Array.from({ length: MAX_KEYS + 1 }, (_, index) => `k${index}`)],
  ]
  for (const [title, keys] of never) {
    test(`find() never returns a shape for ${title}`, () => {
      const shapes = open()
      for (let time = 0; time < 5; time++) assert.equal(shapes.find(keys), undefined)
    })
  }

  test('find() returns no shapes for 100,000 keys that occur once, and still learns a new shape', () => {
    const shapes = open()
    for (let index = 0; index < 100_000; index++) assert.equal(shapes.find([`key${index}`]), undefined)
    shapes.find(['a', 'b'])
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
  })

  test('ShapeWriter creates at most MAX_SHAPES shapes', () => {
    const shapes = open(2 ** 20)
    let most = 0
    for (let index = 0; index < 10_000; index++) {
      shapes.find([`key${index}`])
      most = Math.max(most, shapes.find([`key${index}`])?.number ?? 0)
    }
    assert.equal(most, MAX_SHAPES - 1)
  })

  test('find() learns a short shape after a long shape found no room', () => {
    const shapes = open(64)
    const many = Array.from({ length: 30 }, (_, index) => `k${index}`)
    for (let time = 0; time < 3; time++) assert.equal(shapes.find(many), undefined)
    shapes.find(['a', 'b'])
    assert.equal(shapes.find(['a', 'b'])?.number, 0)
  })
})
