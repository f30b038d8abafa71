// What other programs may write into a queue: changed and invented values, and the limits of the work that reading them takes.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { serialize } from 'node:v8'
import { isPoolError, PoolError } from '../../index.js'
import { serializeError } from '../../kit.js'
import { seededRandom } from '../../testing/stand-ins.js'
import {
  argumentsOf,
  decodeError,
  decodeValue,
  encodeError,
  encodeValue,
  isItemAnswer,
  isItemFailure,
  itemsOf,
  JobFormatError,
  storableError,
  storedError,
  termsOfJob,
} from './job-values.js'
import { remoteClasses } from './remote-errors.js'

const MAX_BYTES = 1_000_000
const classes = remoteClasses([])
const named = ['ERR_LIDO_JOB_FORMAT', 'ERR_LIDO_VALUE_TOO_LARGE']

let random: (below: number) => number
beforeEach(() => {
  random = seededRandom(42)
})

/** The types of ES2022 lack the second parameter. */
const resizable = (length: number, maxByteLength: number): ArrayBuffer =>
  Reflect.construct(ArrayBuffer, [length, { maxByteLength }])

/** Values of all kinds that the serialiser writes. */
function richValue(): unknown {
  const shared = { at: new Date(5) }
  return {
    map: new Map<unknown, unknown>([
      [1, 'one'],
      ['two', shared],
      [shared, new Set([1n, -(2n ** 70n)])],
    ]),
    error: new TypeError('wrong', { cause: new Uint8Array([1, 2]) }),
    bytes: [new Float64Array([0.5]), new DataView(resizable(8, 16)), new Uint8Array(3).subarray(1)],
    pattern: [/a+/giu, Object(1n), Object(true), Object('text'), Object(7), NaN, -0, undefined, null],
    holes: Object.assign(new Array(5), { 2: 'x', name: 'y' }),
    texts: ['é', '漢字', '\ud800', 'plain'],
    self: [shared, shared],
    deep: JSON.parse('[[[[{"a":{"b":[1,2.5,-3,4000000000]}}]]]]'),
  }
}

function richError(): Error {
  const cause = Object.assign(new RangeError('inner'), { when: new Date(5), list: [1, { two: 2 }] })
  return Object.assign(new AggregateError([cause, new Error('other')], 'outer', { cause }), {
    code: 'E_X',
    map: new Map([[1, 2]]),
  })
}

const samples = () => [
  encodeValue(richValue(), 'payload', MAX_BYTES),
  encodeValue({ plain: [1, 'two', { three: null }] }, 'payload', MAX_BYTES),
  encodeValue(null, 'payload', MAX_BYTES),
  encodeValue([new Map(), 1], 'payload', MAX_BYTES),
]
const errorSamples = () => [
  encodeError(richError()),
  encodeError('text'),
  JSON.parse(JSON.stringify(serializeError(richError()))),
]
const termSamples = [
  { lido: { format: 1 } },
  { lido: { format: 1, args: true, timeout: 5 } },
  { lido: { format: 1, items: true, deadline: 5e12 } },
]

const oddValues = [
  null,
  true,
  0,
  -1,
  1.5,
  1e9,
  -1e9,
  2 ** 32,
  2 ** 53,
  1e308,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  '1',
  '__proto__',
  'AAAA',
  [],
  {},
  { length: 1e9 },
  [1e9],
  { $lido: 1, bytes: { length: 1e9 } },
  JSON.parse('{"__proto__":{"polluted":true}}'),
]
const oddNames = [
  '__proto__',
  'constructor',
  'length',
  'then',
  'toJSON',
  'value',
  'error',
  'isFinal',
  'bytes',
  '$lido',
]

const pick = <T>(list: readonly T[]): T => list[random(list.length)]!

function define(target: object, key: string, value: unknown): void {
  if (Array.isArray(target) && key === 'length') return
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Changes one part of JSON. Bytes in base64 are changed as bytes. */
function mutated(value: unknown): unknown {
  if (typeof value === 'string' && random(3) > 0) return mutatedText(value)
  if (value === null || typeof value !== 'object') return oddValue()
  const copy: Record<string, unknown> = (Array.isArray(value) ? [...value] : { ...value }) as never
  const keys = Object.keys(copy)
  switch (keys.length === 0 ? 4 : random(8)) {
    case 0:
      return oddValue()
    case 1:
      delete copy[pick(keys)]
      return copy
    case 2:
      define(copy, pick(keys), copy[pick(keys)])
      return copy
    case 3:
      return Array.isArray(value) ? { ...value, length: pick([1e9, value.length]) } : Object.values(copy)
    case 4:
      define(copy, pick(oddNames), oddValue())
      return copy
    default: {
      const key = pick(keys)
      define(copy, key, mutated(copy[key]))
      return copy
    }
  }
}

function oddValue(): unknown {
  return random(20) === 0 ? JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) : pick(oddValues)
}

function mutatedText(text: string): string {
  if (random(10) === 0) return text.slice(0, random(text.length + 1))
  if (random(10) === 0) return text.repeat(2)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0) return `${text}x`
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(bytes.length)
    // Small and huge lengths, the tags of the format, or another bit.
    bytes[at] = pick([
      0,
      1,
      0xff,
      0x7f,
      pick([...Buffer.from('oAa;\'RB~V^ZrSc"')]),
      bytes[at]! ^ (1 << random(8)),
    ])
  }
  return bytes.toString('base64')
}

/** Returns what `read` returns; `undefined` when it refuses. Fails when the refusal is another error than the documented ones. */
function tryToRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    assert.ok(isPoolError(error) && named.includes(error.code), error as Error)
    return undefined
  }
}

function assertNothingPolluted(): void {
  for (const prototype of [
    Object.prototype,
    Array.prototype,
    Error.prototype,
    PoolError.prototype,
    Map.prototype,
  ]) {
    assert.ok(!('polluted' in prototype))
    assert.deepEqual(Object.keys(prototype), [])
  }
}

/** Changes a sample one to three times, so that most results are close to a valid value. */
function* mutations(most: number, makeSamples: () => unknown[]): Generator<unknown> {
  const list = makeSamples()
  for (let count = 0; count < most; count++) {
    let value = pick(list)
    for (let times = 1 + random(3); times > 0; times--) value = mutated(value)
    yield value
  }
}

test('a host reads or refuses each of 20,000 changed payloads', () => {
  let refused = 0
  for (const value of mutations(20_000, samples)) {
    const decoded = tryToRead(() => ({ payload: decodeValue(value, 'payload', MAX_BYTES) }))
    if (decoded === undefined) refused++
    else tryToRead(() => argumentsOf(decoded.payload))
    tryToRead(() => itemsOf(value))
  }
  assert.ok(refused > 2000 && refused < 20_000, `${refused} refused`)
  assertNothingPolluted()
})

test('a host reads or refuses each of 5,000 changed terms', () => {
  for (const opts of mutations(5000, () => termSamples)) {
    const terms = tryToRead(() => termsOfJob({ opts: Object(opts) }))
    if (terms === undefined) continue
    const { format, args, items, timeout = 1, deadline = 0, ...others } = terms
    assert.deepEqual([format, args ?? true, items ?? true, others], [1, true, true, {}])
    assert.ok(timeout > 0 && Number.isFinite(timeout) && Number.isFinite(new Date(deadline).getTime()))
  }
  assertNothingPolluted()
})

test('a caller reads or refuses each of 10,000 changed errors', () => {
  let read = 0
  for (const value of mutations(10_000, errorSamples)) {
    if (tryToRead(() => ({ error: decodeError(value, classes, MAX_BYTES) })) !== undefined) read++
  }
  assert.ok(read > 500 && read < 10_000, `${read} read`)
  assertNothingPolluted()
})

test('a caller reads or refuses each of 2,000 changed stacks', () => {
  const stack = storableError(richError()).stack!
  const start = stack.indexOf('[lido:error] ') + '[lido:error] '.length
  const encoded = JSON.parse(stack.slice(start))
  for (const value of mutations(2000, () => [encoded])) {
    const text = stack.slice(0, start) + JSON.stringify(value)
    for (const trace of [[text], [text.slice(0, random(text.length))], [value], value]) {
      tryToRead(() => storedError(trace as string[], classes))
    }
  }
  assertNothingPolluted()
})

test('a caller reads or refuses each of 10,000 changed answers of items', () => {
  const answers = () => [
    { value: encodeValue(new Map([[1, 2]]), 'result', MAX_BYTES) },
    { value: 1 },
    { error: encodeError(richError()), isFinal: true },
  ]
  for (const answer of mutations(10_000, answers)) {
    if (!isItemAnswer(answer)) continue
    if (!isItemFailure(answer)) tryToRead(() => decodeValue(answer.value, 'result', MAX_BYTES))
    else {
      assert.equal(typeof answer.isFinal, 'boolean')
      tryToRead(() => decodeError(answer.error, classes, MAX_BYTES))
    }
  }
  assertNothingPolluted()
})

test('values of all kinds come back as they were', () => {
  const values = [
    richValue(),
    null,
    -0,
    [undefined],
    'a\0b',
    ['\ud800'],
    Object.fromEntries([['\0', 1]]),
    '\\u0000',
    new Array(3),
    [[new Date(1)]],
  ]
  for (const value of values) {
    const stored = JSON.parse(JSON.stringify(encodeValue(value, 'payload', MAX_BYTES)))
    assert.deepStrictEqual(decodeValue(stored, 'payload', MAX_BYTES), value)
  }
})

test('values that JSON keeps stay readable for other programs', () => {
  for (const value of [1, 'two', '\\u0000 and \\\\ud800', '\u0001', 'é漢🎉', [1, [2]], { a: { b: null } }]) {
    assert.deepEqual(encodeValue(value, 'payload', MAX_BYTES), value)
  }
  for (const value of [
    '\0',
    '\\\0',
    '\ud800',
    ['x\udfff'],
    Object.fromEntries([['\0', 1]]),
    -0,
    new Uint8Array(2),
    new Array(2),
  ]) {
    assert.ok(Object.hasOwn(encodeValue(value, 'payload', MAX_BYTES) as object, '$lido'))
  }
})

test('a payload is a copy, and its size counts as JSON', () => {
  const value = { list: [1] }
  const encoded = encodeValue(value, 'payload', MAX_BYTES)
  value.list.push(2)
  assert.deepEqual(encoded, { list: [1] })
  for (const sized of [new Uint8Array(100), 'x'.repeat(100), new Uint8Array(101), new Uint8Array(102)]) {
    const bytes = JSON.stringify(encodeValue(sized, 'payload', MAX_BYTES)).length
    encodeValue(sized, 'payload', bytes)
    assert.throws(() => encodeValue(sized, 'payload', bytes - 1), { code: 'ERR_LIDO_VALUE_TOO_LARGE', bytes })
  }
})

/** The bytes of `{ value: … }`, written by hand. */
function envelope(...parts: (string | number | Uint8Array)[]) {
  const bytes = parts.map(part => {
    if (typeof part === 'string') return Buffer.from(part, 'latin1')
    return typeof part === 'number' ? varint(part) : part
  })
  const message = Buffer.concat([
    Buffer.from([0xff, 15]),
    Buffer.from('o"\x05value'),
    ...bytes,
    Buffer.from('{\x01'),
  ])
  return { $lido: 1, bytes: message.toString('base64') }
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return Buffer.from([...bytes, value])
}

function refuses(encoded: unknown, message: RegExp): void {
  const expected = { code: 'ERR_LIDO_JOB_FORMAT', isOtherVersion: false, message }
  assert.throws(() => decodeValue(encoded, 'payload', MAX_BYTES), expected)
}

const notWritten = /payload that lido did not write/
const tooMuch = /payload that would take too long to read/

test('bytes with wrong lengths are refused before V8 makes arrays and buffers of these lengths', () => {
  assert.equal(decodeValue(envelope('I', 2), 'payload', MAX_BYTES), 1)
  // V8 would make 200 arrays of 800 KB.
  const nested = Buffer.concat(new Array(200).fill(Buffer.concat([Buffer.from('A'), varint(100_000)])))
  refuses(envelope(nested, '_'.repeat(100_000)), notWritten)
  for (const parts of [
    ['A', 100, '$', 0, 100],
    ['B', 2 ** 31],
    ['"', 2 ** 31],
    ['Z', 2 ** 30],
    ['~', 10, 20],
    ['A', Buffer.from([255, 255, 255, 255, 255, 255, 1])],
    ['I', 2, 'I', 2],
    ['t', 0],
    ['R', 1, 0],
    ['r', 'q.'],
  ]) {
    refuses(envelope(...parts), notWritten)
  }
})

test('bytes with more objects than the limit are refused, and a higher maxValueBytes raises the limit', () => {
  const many = (count: number, unit: string) => envelope('A', count, unit.repeat(count), '$', 0, count)
  for (const [count, unit] of [
    [60_000, 'o{\0'],
    [60_000, ';:\0'],
    [60_000, 'B\0'],
    [60_000, 'r.'],
    [300, '~\0\0'],
    [300_000, '0'],
  ] as const) {
    refuses(many(count, unit), tooMuch)
    const few = decodeValue(many(100, unit), 'payload', MAX_BYTES)
    assert.equal((few as unknown[]).length, 100)
  }
  const nulls = decodeValue(many(300_000, '0'), 'payload', 10 * MAX_BYTES)
  assert.equal((nulls as unknown[]).length, 300_000)
  const pattern = '\\p{L}'.repeat(10_000)
  refuses(envelope('R"', pattern.length, pattern, 16), tooMuch)
  refuses(envelope('~', 0, 2 ** 31), tooMuch)
  refuses(envelope('o"\x01v'.repeat(1001), '0', '{\x01'.repeat(1001)), tooMuch)
})

test('a value that hosts would refuse is refused where it is sent', () => {
  const dates = Array.from({ length: 60_000 }, () => new Set())
  assert.throws(() => encodeValue(dates, 'payload', MAX_BYTES), {
    code: 'ERR_LIDO_JOB_FORMAT',
    message: tooMuch,
  })
})

test('an error with fields that no program would read loses only its fields', () => {
  const error = Object.assign(new Error('inner'), { buffer: resizable(1, 2 ** 31) })
  const { message } = decodeError(encodeError(error), classes, MAX_BYTES) as Error
  assert.equal(message, 'inner')
})

test('an error says whether the job has another format or is malformed', () => {
  for (const format of [2, 99]) {
    const other = { code: 'ERR_LIDO_JOB_FORMAT', isOtherVersion: true }
    assert.throws(() => termsOfJob({ opts: { lido: { format } } }), other)
    assert.throws(() => decodeValue({ $lido: format, bytes: '' }, 'payload', MAX_BYTES), other)
  }
  for (const format of [0, -1, 1.5, '1', null, undefined, Number.NaN, { valueOf: 2 }]) {
    assert.throws(() => termsOfJob({ opts: { lido: { format } } }), { isOtherVersion: false })
  }
  const copy = decodeError(
    encodeError(new JobFormatError('is new', { isOtherVersion: true })),
    classes,
    MAX_BYTES,
  )
  assert.ok(copy instanceof JobFormatError && copy.isOtherVersion)
})

test('wrong terms, and too many items or arguments, are refused', () => {
  for (const lido of [
    null,
    1,
    'x',
    [],
    { format: 1, args: false },
    { format: 1, items: 1 },
    { format: 1, args: true, items: true },
    { format: 1, timeout: 0 },
    { format: 1, timeout: '5' },
    { format: 1, timeout: null },
    { format: 1, deadline: 1e300 },
    { format: 1, deadline: '2030-01-01' },
  ]) {
    assert.throws(() => termsOfJob({ opts: { lido } }), { code: 'ERR_LIDO_JOB_FORMAT' })
  }
  assert.equal(termsOfJob({ opts: {} }), undefined)
  const tooMany: unknown[] = new Array(10_001)
  for (const read of [itemsOf, argumentsOf]) {
    assert.equal(read(new Array(10_000)).length, 10_000)
    for (const wrong of [tooMany, { length: 1 }, 'text', null]) {
      assert.throws(() => read(wrong), { code: 'ERR_LIDO_JOB_FORMAT' })
    }
  }
  const sparse = decodeValue(envelope('a', 2 ** 32 - 1, '@', 0, 2 ** 32 - 1), 'payload', MAX_BYTES)
  assert.throws(() => argumentsOf(sparse), /4294967295 arguments/)
})

test('records of errors that share parts, or have lists without an end, are refused', () => {
  const record = (more: object) => ({
    index: 1,
    classes: ['Error'],
    name: 'E',
    message: '',
    stack: '',
    hidden: [],
    ...more,
  })
  const packed = (more: object) => ({
    copies: [{ thrown: undefined }, { x: 1 }],
    links: [[0, 'thrown', 1]],
    errors: [record({})],
    ...more,
  })
  const long: string[] = new Array(100_000).fill('x')
  const shared = { x: 1 }
  const sparse: unknown[] = []
  sparse.length = 2 ** 32 - 1
  const stored = (value: unknown) => ({ $lido: 1, bytes: serialize({ value }).toString('base64') })
  const read = (value: object) => decodeError(stored(value), classes, MAX_BYTES)
  assert.ok(read(packed({})) instanceof Error)
  for (const wrong of [
    packed({ errors: [record({ hidden: long })] }),
    packed({ errors: [record({ classes: long })] }),
    packed({ errors: [record({}), record({})] }),
    packed({ copies: [{ thrown: undefined }, shared, shared] }),
    packed({
      copies: Object.assign(sparse.slice(0, 0), { length: 2 ** 32 - 1 }, { 0: { thrown: undefined } }),
    }),
    packed({ links: sparse }),
    packed({ errors: sparse }),
    packed({ errors: new Array(1001).fill(record({})) }),
    packed({ links: [[0, 'thrown', 1, 2]] }),
    packed({ links: [[1, 'toString', 1]] }),
    packed({ copies: [{ thrown: undefined }, []], links: [[1, 'length', 0]], errors: [] }),
    packed({ copies: [{ thrown: undefined }, new Map()] }),
    packed({ copies: [{ thrown: undefined }, new Uint8Array(3)] }),
    packed({ copies: [new Error('x'), {}] }),
  ]) {
    assert.throws(() => read(wrong), { code: 'ERR_LIDO_JOB_FORMAT' })
  }
})
