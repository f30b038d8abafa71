import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { nearestName } from '../platform/nearest-name.js'
import { boolean, group, integer, milliseconds, oneOf, text } from './option-rules.js'
import { OptionErrors, OptionTable } from './option-table.js'

class OptionError extends Error {
  readonly option: string

  constructor(option: string, message: string) {
    super(message)
    this.option = option
  }
}

const inner = new OptionTable({ depth: integer({ min: 1 }, { default: 2 }) })
const table = new OptionTable({
  count: integer({ min: 0, max: 5000, orInfinity: true }, { default: undefined }),
  delay: milliseconds(false, { default: 1000 }),
  mode: oneOf(['fast', 'safe', 'off'], { default: 'safe' }),
  isLoud: boolean({ default: true }),
  title: text({ default: 'none' }),
  nested: group(inner, 'depth: 3', { default: undefined }),
})
const errors = new OptionErrors('make()', OptionError, { loud: "Use 'isLoud'." })
const read = (given: object) => table.read(given, errors)
const defaults = {
  count: undefined,
  delay: 1000,
  mode: 'safe',
  isLoud: true,
  title: 'none',
  nested: undefined,
}

test('missing and undefined options have their defaults', () => {
  assert.deepEqual(read({}), defaults)
  assert.deepEqual(read({ count: undefined, title: undefined }), defaults)
  assert.deepEqual({ ...read({ nested: {} }).nested }, { depth: 2 })
})

for (const [given, message] of [
  [{ count: 5001 }, "The option 'count' of make() must be an integer from 0 to 5000, or Infinity; got 5001."],
  [
    { delay: '5' },
    "The option 'delay' of make() must be milliseconds: a number above 0, or Infinity; got '5'.",
  ],
  [{ mode: 'slow' }, "The option 'mode' of make() must be 'fast', 'safe' or 'off'; got 'slow'."],
  [{ isLoud: null }, "The option 'isLoud' of make() must be true or false; got null."],
  [{ title: '' }, "The option 'title' of make() must be a string that is not empty; got ''."],
  [{ nested: [] }, "The option 'nested' of make() must be an object, as in { depth: 3 }; got an array."],
  [
    { nested: { depth: 0n } },
    "The option 'nested.depth' of make() must be an integer of at least 1; got 0n.",
  ],
  [{ nested: { dept: new Map() } }, "Unknown option 'nested.dept' for make(). Did you mean 'nested.depth'?"],
  [{ tittle: 1 }, "Unknown option 'tittle' for make(). Did you mean 'title'?"],
  [{ loud: () => {} }, "Unknown option 'loud' for make(). Use 'isLoud'."],
  [{ x: {} }, "Unknown option 'x' for make(). Use one of count, delay, mode, isLoud, title, nested."],
] as const) {
  test(`the options ${inspect(given)} are refused with the expected message`, () => {
    assert.throws(() => read(given), { message })
  })
}

test('names of members of Object.prototype are unknown options', () => {
  for (const name of ['constructor', 'toString', '__proto__'])
    assert.throws(() => read(JSON.parse(`{ "${name}": 1 }`)), { option: name })
})

test('inherited properties are not read', () => {
  assert.deepEqual(read(Object.create({ count: 9, wrong: 1 })), defaults)
})

test('split() reads its own options and returns the others unchanged', () => {
  const { own, others } = table.split({ count: 1, elsewhere: 2, title: 'a' }, errors)
  assert.deepEqual([own.count, own.title, own.mode], [1, 'a', 'safe'])
  assert.deepEqual({ ...others }, { elsewhere: 2 })
})

test('nearestName() returns the name with the fewest edits, ignoring case', () => {
  const known = ['maxWorkers', 'minWorkers', 'maxQueue', 'filename', 'name', 'env']
  for (const [given, expected] of [
    ['maxWorker', 'maxWorkers'],
    ['MAXWORKERS', 'maxWorkers'],
    ['minWrkers', 'minWorkers'],
    ['fileName', 'filename'],
    ['nmae', 'name'],
    ['maxQueueLengthLimit', undefined],
    ['timeout', undefined],
    ['x', undefined],
    ['', undefined],
  ] as const)
    assert.equal(nearestName(given, known), expected, given)
  assert.equal(nearestName('mxWorkers', ['maxWorkers', 'moxWorkers']), 'maxWorkers')
  assert.equal(nearestName('name', []), undefined)
})
