// What one side appends the other reads, in order, and not more than there is.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CorruptMessageError } from './corrupt-message-error.js'
import { Dictionary } from './dictionary.js'

function open(bytes: number): { writer: Dictionary; reader: Dictionary; memory: SharedArrayBuffer } {
  const memory = new SharedArrayBuffer(bytes + 16)
  return {
    memory,
    writer: new Dictionary(memory, 8, 8 + bytes),
    reader: new Dictionary(memory, 8, 8 + bytes),
  }
}

describe('a dictionary', () => {
  test('gives the keys of each entry in the order of appending, while more are appended', () => {
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

  test('takes nothing that does not fit, and writes nothing beyond its end', () => {
    const { writer, reader, memory } = open(19)
    assert.equal(writer.append(['a', 'b']), true)
    assert.equal(writer.append(['too long for what is left']), false)
    assert.equal(writer.append(['cd']), true)
    assert.equal(writer.append(['e']), false)
    assert.deepEqual([reader.next(), reader.next()], [['a', 'b'], ['cd']])
    assert.throws(() => reader.next(), CorruptMessageError)
    assert.deepEqual([...new Uint8Array(memory, 27)], Array(8).fill(0))
  })
})
