import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isGraphDeeper, isTextDeeper, isValueDeeper } from './depth.js'

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
  test(`isTextDeeper() and isValueDeeper() find depth ${depth} in ${text}`, () => {
    // isTextDeeper() does not read a text of at most two characters for each level of the limit.
    const padded = text.padEnd(20)
    for (let most = 0; most < 7; most++) {
      assert.equal(isTextDeeper(most, padded), depth > most, `text, ${most}`)
      assert.equal(isValueDeeper(most, JSON.parse(text)), depth > most, `value, ${most}`)
    }
  })
}

test('isTextDeeper() stops at the end of a text that ends in an open string or after a backslash', () => {
  for (const text of ['["', '["\\', '["\\"', '{{{{'])
    assert.equal(isTextDeeper(3, text.padEnd(8)), text === '{{{{')
})

test('isGraphDeeper() visits a shared object once, at the depth where it occurs first', () => {
  let braid: unknown[] = []
  for (let strand = 0; strand < 100; strand++) braid = [braid, braid]
  assert.equal(isGraphDeeper(101, braid), false)
  assert.equal(isGraphDeeper(100, braid), true)
  const circle: unknown[] = []
  circle.push(circle)
  assert.equal(isGraphDeeper(1, circle), false)
  const nested = new Map([[{ a: [] }, new Set([[1]])]])
  assert.equal(isGraphDeeper(3, nested), false)
  assert.equal(isGraphDeeper(2, nested), true)
})

test('isValueDeeper() is true for a value that contains itself', () => {
  const circle: unknown[] = []
  circle.push(circle)
  assert.equal(isValueDeeper(500, circle), true)
})
