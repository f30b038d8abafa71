// Random values as large messages, decoded in small steps and compared with their structured clones.
//   LIDO_SEED=123    replays a run
//   LIDO_VALUES=1e6  sets the number of values
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { differenceOf } from './difference.js'
import { allocateLane, readerOf, shapesOf, writerOf } from './lane.js'
import { decodeLarge, readLarge, send, tiny, writeLarge } from './large.js'
import { build, cloneOf, describeStranger, makeStranger, plans, strangerCount } from './values.js'

const seed = Number(process.env.LIDO_SEED ?? Date.now() >>> 0) | 0
const valueCount = Number(process.env.LIDO_VALUES ?? 20_000)
const BATCH = 1000

test(`${valueCount} random values decoded in steps equal their structured clones (seed ${seed})`, t => {
  const lane = allocateLane()
  const writer = writerOf(lane)
  const shapes = shapesOf(lane)
  const counts = { accepted: 0, declined: 0, steps: 0 }
  for (let batch = 0; batch * BATCH < valueCount; batch++) {
    const batchSeed = seed + batch
    const batchPlans = fc.sample(plans, { seed: batchSeed, numRuns: BATCH })
    for (const [index, plan] of batchPlans.entries()) {
      const where = () =>
        `value ${index} of the batch with seed ${batchSeed}: ${inspect(plan, { depth: 20 })}`
      const { clone, refusal } = cloneOf(build(plan))
      const sizes = { ...tiny, chunkBytes: 1 + (index % 40), largeBytes: 1 + (index % 7) }
      const message = writeLarge(writer, build(plan), sizes)
      if (message === null) {
        counts.declined++
        continue
      }
      if (refusal !== undefined)
        assert.fail(`structuredClone() throws, but the codec accepts the value: ${where()}`)
      counts.accepted++
      const { value, steps } = readLarge(send(message), shapes, 1 + (index % 3))
      counts.steps += steps
      const difference = differenceOf(value, clone)
      if (difference !== undefined) assert.fail(`${difference}: ${where()}`)
    }
  }
  t.diagnostic(`${counts.accepted} accepted, ${counts.declined} declined, ${counts.steps} steps`)
  assert.ok(counts.accepted > valueCount * 0.75, `only ${counts.accepted} accepted`)
  assert.ok(counts.steps > 3 * counts.accepted, `only ${counts.steps} steps`)
})

test('encodeLarge() declines each value that encode() declines, and the next value arrives unchanged', () => {
  const lane = allocateLane()
  const writer = writerOf(lane)
  const shapes = shapesOf(lane)
  for (let index = 0; index < strangerCount; index++) {
    const what = describeStranger(index)
    assert.equal(writeLarge(writer, ['x'.repeat(100), { inside: makeStranger(index) }]), null, what)
    assert.deepEqual(readLarge(send(writeLarge(writer, [what, { index }])), shapes).value, [what, { index }])
  }
})

const many = 70_000
const rows = {
  '70,000 integers and doubles': Array.from({ length: many }, (_, index) =>
    index % 100 < 50 ? index : index / 2,
  ),
  'one hole': Object.assign(new Array(many).fill(1), { length: many + 1 }),
  'a named field': Object.assign(new Array(many).fill('x'), { note: 'beside' }),
  'a non-enumerable element': Object.defineProperty(new Array(many).fill(2), 7, {
    enumerable: false,
  }),
  'a symbol key': Object.assign(new Array(many).fill(3), { [Symbol('not sent')]: 1 }),
  'two elements far apart': Object.assign([], { 3: 'a', [2 ** 31]: 'b' }),
  'frozen elements': Object.freeze(new Array(many).fill(null)),
  'holes and a named field': Object.assign(new Array(many), { 5: 1, note: 2 }),
}
for (const [title, array] of Object.entries(rows)) {
  test(`a large array with ${title} equals its structured clone`, () => {
    const lane = allocateLane()
    const message = send(writeLarge(writerOf(lane), array, undefined))
    assert.equal(
      differenceOf(readLarge(message, shapesOf(lane), 4096).value, structuredClone(array)),
      undefined,
    )
  })
}

for (const [title, beside] of Object.entries({
  'an array': rows => [rows],
  'an object': rows => ({ rows }),
})) {
  test(`${title} of 20,000 rows is decoded in steps, also after a string larger than a chunk`, () => {
    const lane = allocateLane()
    const rows = Array.from({ length: 20_000 }, (_, index) => [index, `row ${index}`])
    const text = 'x'.repeat(300_000)
    const stepsOf = value => {
      const message = send(writeLarge(writerOf(lane), value, undefined))
      return readLarge(message, shapesOf(lane), 4096).steps
    }
    const alone = stepsOf(beside(rows))
    assert.ok(alone > 20)
    assert.ok(stepsOf([text, beside(rows)]) >= alone)
    assert.ok(stepsOf({ text, ...beside(rows) }) >= alone)
    assert.ok(stepsOf([text, ...Object.values(beside(rows))]) >= alone)
  })
}

test('a large message and small messages between its decoding steps arrive unchanged', () => {
  const lane = allocateLane()
  const writer = writerOf(lane)
  const reader = readerOf(lane)
  const large = { rows: Array.from({ length: 50 }, (_, index) => ({ index, text: `row ${index}` })) }
  const small = { index: 1, text: 'two' }
  const steps = decodeLarge(send(writeLarge(writer, large)), reader.shapes, 1)
  for (let count = 0; ; count++) {
    const { done, value } = steps.next()
    if (done) {
      assert.deepEqual(value, large)
      assert.ok(count > 50)
      return
    }
    assert.deepEqual(reader.decode(0, writer.encode(small, 0, 4096)), small)
  }
})
