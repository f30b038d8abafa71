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

describe('a key that becomes a prototype', () => {
  test('is refused, however it is written', () => {
    const refusal = { name: 'SyntaxError', message: 'Object contains forbidden prototype property' }
    assert.throws(() => parse(protoText, 'error'), refusal)
    assert.throws(() => parse(constructorText, 'error'), refusal)
    const escaped = '{"\\u005F\\u005f\\u0070roto_\\u005f" \n: 1}'
    assert.throws(() => parse(escaped, 'error'), refusal)
    assert.throws(() => parse('{"\\u0063onstructo\\u0072":{"prototype":1}}', 'error'), refusal)
  })

  test('is removed, and nothing else', () => {
    assert.deepEqual(parse(protoText, 'remove'), [{ a: {} }])
    assert.deepEqual(parse(constructorText, 'remove'), { a: [{ b: 1 }] })
    assert.deepEqual(parse('{"constructor":{"name":"x"}}', 'remove'), { constructor: { name: 'x' } })
  })

  test('is left, and each rule speaks of its own', () => {
    assert.ok(Object.hasOwn(parse('{"__proto__":1}', 'ignore', 'error') as object, '__proto__'))
    assert.deepEqual(parse(constructorText, 'error', 'ignore'), JSON.parse(constructorText))
  })

  test('is no key where it is a value', () => {
    assert.deepEqual(parse('["__proto__","constructor"]', 'error'), ['__proto__', 'constructor'])
  })
})

test('parts that a reviver led back to those around them are looked at once', () => {
  const circle: { constructor: object; inner?: object } = { constructor: { prototype: 1 } }
  circle.inner = { circle }
  const cleaned = withoutPrototypeKeys(
    circle,
    { onProtoPoisoning: 'error', onConstructorPoisoning: 'remove' },
    new Set(),
  )
  assert.deepEqual(Object.keys(cleaned as object), ['inner'])
})

test('a text full of what looks like such keys is read once, not once for each', () => {
  // Reading it again from each of them would not be done within the limit of the suite.
  const count = 500_000
  const text = `["${'\\"__proto__\\"'.repeat(count)}", "__proto__"${' '.repeat(count)}]`
  const rules = { onProtoPoisoning: 'error', onConstructorPoisoning: 'error' } as const
  assert.equal(mayHavePrototypeKeys(text, rules), false)
})
