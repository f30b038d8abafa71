import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTextDeeper, isValueDeeper } from './depth.js'

const cases: [text: string, depth: number][] = [
  ['1', 0],
  ['"[[["', 0],
  ['{}', 1],
  ['[[]]', 2],
  ['[[],[],{"a":[1]}]', 3],
  ['{"[{":"\\"[[","]":"\\\\"}', 1],
  ['[[[1],2],{"a":{"b":{"c":{}}}}]', 5],
]

for (const [text, depth] of cases) {
  test(`${text} nests ${depth} deep, as text and as value`, () => {
    // A short text is too short to be deep, whatever is in it.
    const padded = text.padEnd(20)
    for (let most = 0; most < 7; most++) {
      assert.equal(isTextDeeper(most, padded), depth > most, `text, ${most}`)
      assert.equal(isValueDeeper(most, JSON.parse(text)), depth > most, `value, ${most}`)
    }
  })
}

test('a text that ends inside a string or behind a backslash has an end', () => {
  for (const text of ['["', '["\\', '["\\"', '{{{{'])
    assert.equal(isTextDeeper(3, text.padEnd(8)), text === '{{{{')
})

test('a value with a circle in it is deep', () => {
  const circle: unknown[] = []
  circle.push(circle)
  assert.equal(isValueDeeper(500, circle), true)
})
