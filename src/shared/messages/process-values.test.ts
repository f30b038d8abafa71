// A process accepts the same values as a thread, except values that exist only in the sending process.
import assert from 'node:assert/strict'
import { generateKeySync } from 'node:crypto'
import { test } from 'node:test'
import v8 from 'node:v8'
import { deserializeError, serializeError } from '../errors/serialize-error.js'
import { HEAD_BYTES } from './pipe-frames.js'
import { errorForProcess, packMessage } from './process-values.js'
import { unpackMessage } from './unpack-message.js'

const samples: [name: string, value: object][] = [
  ['a Map with a Date', new Map([['at', new Date(0)]])],
  ['process.env', process.env],
  ['an array with process.env twice', [process.env, process.env]],
  ['an error with a cause', new Error('why', { cause: new RangeError('because') })],
  [
    'an object of a class',
    new (class Point {
      x = 1
    })(),
  ],
]

for (const [name, value] of samples) {
  test(`${name} is sent as structuredClone() does, in a payload and as a cause`, () => {
    for (const message of [{ payload: { of: value } }, { payload: new Error('outer', { cause: value }) }]) {
      assert.deepEqual(unpackMessage(packMessage(message).subarray(HEAD_BYTES)), structuredClone(message))
    }
  })
}

test('a value that exists only in this process is refused with its class name and path', () => {
  const { Module } = (globalThis as any).WebAssembly
  // Node 20 reports a module only when the other side cannot read it.
  const isSeen = !process.version.startsWith('v20.')
  const members = [new Blob([]), ...(isSeen ? [new Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))] : [])]
  const places: [place: (member: object) => object, path: string][] = [
    [member => ({ member }), 'payload.member'],
    [member => [[member]], 'payload[0][0]'],
    [member => new Map([['at', member]]), 'payload.get("at")'],
    [member => new Map([[member, 1]]), 'payload.key'],
    [member => new Set([1, member]), 'payload.member'],
    [member => new Error('why', { cause: member }), 'payload.cause'],
  ]
  for (const member of members) {
    for (const [place, path] of places) {
      const around: unknown[] = []
      around.push(around)
      const message = { payload: place(member), around }
      const isNamed = (error: Error & { path: string }) =>
        error.path === path && error.message.includes(member.constructor.name)
      assert.throws(() => packMessage(message), isNamed, path)
    }
  }
})

test('a refused MessagePort does not cause a refusal of other subclasses of EventTarget', () => {
  class Told extends EventTarget {
    told = 1
  }
  const { port1 } = new MessageChannel()
  assert.throws(() => packMessage({ payload: port1 }), { path: 'payload' })
  port1.close()
  const message = { payload: new Told() }
  assert.deepEqual(unpackMessage(packMessage(message).subarray(HEAD_BYTES)), structuredClone(message))
})

test('an instance with a refused member does not cause a refusal of other instances of its class', () => {
  class Told extends EventTarget {
    told: unknown
    constructor(told: unknown) {
      super()
      this.told = told
    }
  }
  assert.throws(() => packMessage({ payload: new Told(() => {}) }), { path: 'payload.told' })
  const message = { payload: new Told(1) }
  assert.deepEqual(unpackMessage(packMessage(message).subarray(HEAD_BYTES)), structuredClone(message))
})

test('a Blob in a Map or Set is refused although the class overrides forEach()', () => {
  class NoMap extends Map<unknown, unknown> {
    override forEach() {}
  }
  class NoSet extends Set<unknown> {
    override forEach() {}
  }
  for (const payload of [new NoMap([[1, new Blob([])]]), new NoSet([new Blob([])])])
    assert.throws(() => packMessage({ payload }), /Blob/)
})

test('a proxy is refused with its path, and its traps do not run', () => {
  const asked: unknown[] = []
  const traps = new Proxy({}, { get: (_, name) => void asked.push(name) })
  assert.throws(() => packMessage({ payload: [new Proxy({}, traps)] }), { path: 'payload[0]' })
  assert.deepEqual(asked, [])
})

test('shared memory is refused with its path, and a value that nests too deep with the path of its root', () => {
  const words = new Int32Array(new SharedArrayBuffer(4))
  assert.throws(() => packMessage({ payload: { words } }), { path: 'payload.words', message: /only threads/ })
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  for (const path of ['payload', 'result', 'workerData'])
    assert.throws(() => packMessage({ kind: 'any', [path]: deep }), { path })
})

test('values are copied and shared memory is refused where node:v8 has no serialiser classes', async t => {
  t.mock.method(v8, 'Serializer', () => {
    throw new Error('not implemented')
  })
  const fresh: string = './process-values.js?functions'
  const { packMessage } = await import(fresh)
  const freshReader: string = './unpack-message.js?functions'
  const { unpackMessage } = await import(freshReader)
  const words = new Int32Array(new SharedArrayBuffer(4))
  for (const part of [words, words.buffer, () => {}])
    assert.throws(() => packMessage({ payload: [[part]] }), { path: 'payload[0][0]' })
  assert.throws(() => packMessage({ payload: [words] }), /SharedArrayBuffer is memory that only threads/)
  const message = { payload: new Map([['at', new Date(0)]]), result: new Float64Array([0.5]) }
  assert.deepEqual(unpackMessage(packMessage(message).subarray(HEAD_BYTES)), message)
})

test('large Sets, and Maps that override their iterator, arrive unchanged', () => {
  const odd = new (class extends Map<number, number> {
    override [Symbol.iterator]() {
      return this.values() as never
    }
  })([[1, 2]])
  const message = { payload: [new Set(Array(200_000).keys()), new Map([[1, new Set([{ a: 1 }])]]), odd] }
  assert.deepEqual(unpackMessage(packMessage(message).subarray(HEAD_BYTES)), structuredClone(message))
})

test('fields that structured clone does not send are not checked', () => {
  const field = { at: new URL('http://localhost') }
  const payload = [
    Object.assign(new Error('why'), field),
    Object.assign(new Date(0), field),
    Object.assign(/a/, field),
    Object.assign(new Uint8Array(1), field),
  ]
  assert.deepEqual(unpackMessage(packMessage({ payload }).subarray(HEAD_BYTES)), structuredClone({ payload }))
})

test('a transfer list entry that cannot be transferred is refused with its path', () => {
  const buffer = new ArrayBuffer(8)
  const message = { payload: { buffer } }
  for (const refused of [buffer, new Uint8Array(8) as never])
    assert.throws(() => packMessage(message, [buffer, refused]), { path: 'transferList[1]' })
  assert.equal(buffer.byteLength, 8)
})

const across = (thrown: unknown): any => {
  const message = { error: errorForProcess(serializeError(thrown)) }
  const arrived = unpackMessage(packMessage(message).subarray(HEAD_BYTES)) as typeof message
  return deserializeError(arrived.error)
}

/** The types of Node do not declare `WebAssembly`. */
const { Module: WasmModule } = (
  globalThis as never as { WebAssembly: { Module: new (code: Uint8Array) => object } }
).WebAssembly

const strangers: [name: string, value: object][] = [
  ['a KeyObject', generateKeySync('aes', { length: 128 })],
  ['a Blob', new Blob(['a'])],
  ['a SharedArrayBuffer', new SharedArrayBuffer(8)],
  ['a WebAssembly module', new WasmModule(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))],
]

for (const [name, stranger] of strangers) {
  test(`${name} in a field of an error becomes a text, and the other fields stay`, () => {
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

  test(`${name} becomes a text when it is thrown or nested in the data of an error`, () => {
    assert.match(across(stranger), /not cloneable/)
    const held = { in: [stranger, Symbol.for('hook')] }
    const error = across(Object.assign(new Error('why'), { held, code: 'E' }))
    assert.deepEqual([error.message, error.code, error.held.in[1]], ['why', 'E', Symbol.for('hook')])
    assert.match(error.held.in[0], /not cloneable/)
  })
}

test('errorForProcess() returns an error unchanged when a process can read it', () => {
  const packed = serializeError(Object.assign(new Error('why'), { code: 'E' }))
  assert.equal(errorForProcess(packed), packed)
})
