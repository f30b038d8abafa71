import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Poisoning } from './parse-plan.js'
import { mayHavePrototypeKeys, withoutPrototypeKeys } from './prototype-keys.js'

function parse(
  text: string,
  onProtoPoisoning: Poisoning,
  onConstructorPoisoning = onProtoPoisoning,
): unknown {
  const rules = { onProtoPoisoning, onConstructorPoisoning }
  return mayHavePrototypeKeys(text, rules)
    ? withoutPrototypeKeys(JSON.parse(text), rules, null)
    : JSON.parse(text)
}

const protoText = '[{"a":{"__proto__":{"b":1}}}]'
const constructorText = '{"a":[{"constructor":{"prototype":null},"b":1}]}'

describe('withoutPrototypeKeys()', () => {
  test("the rule 'error' refuses a prototype key, also with \\u escapes and white space", () => {
    const refusal = { name: 'SyntaxError', message: 'Object contains forbidden prototype property' }
    assert.throws(() => parse(protoText, 'error'), refusal)
    assert.throws(() => parse(constructorText, 'error'), refusal)
    const escaped = '{"\\u005F\\u005f\\u0070roto_\\u005f" \n: 1}'
    assert.throws(() => parse(escaped, 'error'), refusal)
    assert.throws(() => parse('{"\\u0063onstructo\\u0072":{"prototype":1}}', 'error'), refusal)
  })

  test("the rule 'remove' removes the prototype key and nothing else", () => {
    assert.deepEqual(parse(protoText, 'remove'), [{ a: {} }])
    assert.deepEqual(parse(constructorText, 'remove'), { a: [{ b: 1 }] })
    assert.deepEqual(parse('{"constructor":{"name":"x"}}', 'remove'), { constructor: { name: 'x' } })
  })

  test("the rule 'ignore' keeps its own key and does not change the other rule", () => {
    assert.ok(Object.hasOwn(parse('{"__proto__":1}', 'ignore', 'error') as object, '__proto__'))
    assert.deepEqual(parse(constructorText, 'error', 'ignore'), JSON.parse(constructorText))
  })

  test('a string value that looks like a prototype key is accepted', () => {
    assert.deepEqual(parse('["__proto__","constructor"]', 'error'), ['__proto__', 'constructor'])
  })
})

test('withoutPrototypeKeys() visits each object of a circular value once', () => {
  const circle: { constructor: object; inner?: object } = { constructor: { prototype: 1 } }
  circle.inner = { circle }
  const cleaned = withoutPrototypeKeys(
    circle,
    { onProtoPoisoning: 'error', onConstructorPoisoning: 'remove' },
    new Set(),
  )
  assert.deepEqual(Object.keys(cleaned as object), ['inner'])
})

test('mayHavePrototypeKeys() searches a text with many key-like strings once', () => {
  // One search for each of these strings would exceed the time limit of the suite.
  const count = 500_000
  const text = `["${'\\"__proto__\\"'.repeat(count)}", "__proto__"${' '.repeat(count)}]`
  const rules = { onProtoPoisoning: 'error', onConstructorPoisoning: 'error' } as const
  assert.equal(mayHavePrototypeKeys(text, rules), false)
})
