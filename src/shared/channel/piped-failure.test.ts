// What an error holds that cannot leave its process costs that alone.
import assert from 'node:assert/strict'
import { generateKeySync } from 'node:crypto'
import { test } from 'node:test'
import { pack, unpack } from '../errors/remote-error.js'
import { HEAD_BYTES } from './frames.js'
import { pipedFailure } from './piped-failure.js'
import { packMessage, unpackMessage } from './process-values.js'

const across = (thrown: unknown): any => {
  const message = { error: pipedFailure(pack(thrown)) }
  const arrived = unpackMessage(packMessage(message).subarray(HEAD_BYTES)) as typeof message
  return unpack(arrived.error)
}

/** Not among the types of Node without those of browsers. */
const { Module } = (globalThis as never as { WebAssembly: { Module: new (code: Uint8Array) => object } })
  .WebAssembly

const strangers: [name: string, value: object][] = [
  ['a key', generateKeySync('aes', { length: 128 })],
  ['a Blob', new Blob(['a'])],
  ['shared memory', new SharedArrayBuffer(8)],
  ['a module', new Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))],
]

for (const [name, stranger] of strangers) {
  test(`${name} in an error`, () => {
    const fields = {
      code: 'E',
      status: 404,
      stranger,
      of: { list: [1] },
      hook: Symbol.for('hook'),
      when: new Date(0),
    }
    const error = across(Object.assign(new TypeError('why', { cause: new Error('root') }), fields))
    assert.equal(error.constructor, TypeError)
    assert.deepEqual([error.message, error.code, error.status], ['why', 'E', 404])
    assert.deepEqual([error.of, error.hook, error.when], [{ list: [1] }, Symbol.for('hook'), new Date(0)])
    assert.equal(error.cause.message, 'root')
    assert.match(error.stranger, /not cloneable/)
  })

  test(`${name}, thrown, or deep in what is thrown`, () => {
    assert.match(across(stranger), /not cloneable/)
    const error = across(
      Object.assign(new Error('why'), { held: { in: [stranger, Symbol.for('hook')] }, code: 'E' }),
    )
    assert.deepEqual([error.message, error.code, typeof error.held], ['why', 'E', 'string'])
  })
}

test('what crosses as it is stays as it is', () => {
  const packed = pack(Object.assign(new Error('why'), { code: 'E' }))
  assert.equal(pipedFailure(packed), packed)
})
