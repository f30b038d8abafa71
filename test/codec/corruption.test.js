// A damaged message or shape table gives an error or another value. It never causes a crash, a hang, a read of bytes outside the
// message, or too much memory for its size.
//   LIDO_SEED=123 replays a run, LIDO_DAMAGED_MESSAGES=50 makes it smaller
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../build/unit/src/testing/stand-ins.js'
import { differenceOf } from './difference.js'
import { allocateLane, CorruptMessageError, readerOf, writerOf } from './lane.js'
import { sizeOf } from './sizes.js'
import { build, plans } from './values.js'

const seed = Number(process.env.LIDO_SEED ?? Date.now() >>> 0) | 0
const messageCount = Number(process.env.LIDO_DAMAGED_MESSAGES ?? 400)
const mutationsOfEach = 250
const tableMutations = 50 * messageCount
const FROM = 1024
const MEMORY_BYTES = 2 ** 15
/** The most memory for each byte of a message. A short array of holes needs the most. */
const MOST_BYTES_EACH = 600

/** Encodes accepted values. Many of them share the shapes of one table. */
function writeMessages() {
  const lane = allocateLane(MEMORY_BYTES, 2 ** 12)
  const writer = writerOf(lane)
  const memory = new Uint8Array(lane.memory)
  const messages = []
  for (let round = 0; messages.length < messageCount; round++) {
    for (const plan of fc.sample(plans, { seed: seed + round, numRuns: 100 })) {
      const end = writer.encode(build(plan), FROM, MEMORY_BYTES)
      if (end > 0) messages.push(memory.slice(FROM, end))
    }
  }
  return { messages, table: lane.table }
}

function mutate(bytes, random) {
  const copy = bytes.slice()
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(copy.length)
    switch (random(6)) {
      case 0:
        copy[at] ^= 1 << random(8)
        break
      case 1:
        copy[at] = random(256)
        break
      case 2:
        copy.fill([0, 255, 127, 128][random(4)], at, at + 1 + random(8))
        break
      case 3:
        copy.copyWithin(at, random(copy.length))
        break
      case 4:
        // Tags are low numbers. A wrong tag changes the meaning of the bytes behind it.
        copy[at] = random(32)
        break
      default:
        return copy.subarray(0, at)
    }
  }
  return copy
}

function outcome(reader, memory, bytes, filler) {
  memory.fill(filler)
  memory.set(bytes, FROM)
  try {
    return { value: reader.decode(FROM, FROM + bytes.length) }
  } catch (error) {
    if (!(error instanceof CorruptMessageError)) throw error
    return { error: error.message }
  }
}

test(`${messageCount * mutationsOfEach} damaged messages are decoded or refused (seed ${seed})`, t => {
  const random = seededRandom(seed)
  const { messages, table } = writeMessages()
  const lane = { memory: new SharedArrayBuffer(MEMORY_BYTES), table }
  const memory = new Uint8Array(lane.memory)
  const reader = readerOf(lane)
  const before = process.memoryUsage()
  const counts = { errors: 0, values: 0 }
  for (const message of messages) {
    for (let mutation = 0; mutation < mutationsOfEach; mutation++) {
      const bytes = mutate(message, random)
      const one = outcome(reader, memory, bytes, 0x5a)
      const other = outcome(reader, memory, bytes, 0x85)
      const where = `${Buffer.from(bytes).toString('hex')} with seed ${seed}`
      assert.equal(one.error, other.error, where)
      if (one.error !== undefined) counts.errors++
      else {
        counts.values++
        if (differenceOf(one.value, other.value) !== undefined)
          assert.fail(`the decoder read bytes outside the message: ${where}`)
        assert.ok(sizeOf(one.value) < MOST_BYTES_EACH * (bytes.length + 1), where)
      }
    }
  }
  const grown = process.memoryUsage().rss - before.rss
  t.diagnostic(`${counts.errors} errors, ${counts.values} values, ${grown >> 20} MB more`)
  assert.ok(grown < 2 ** 29, `${grown} bytes more`)
  assert.ok(counts.errors > 1000 && counts.values > 1000)
})

test(`${tableMutations} damaged shape tables are decoded or refused (seed ${seed})`, t => {
  const random = seededRandom(seed)
  const { messages, table } = writeMessages()
  const shapeTable = new Uint8Array(table)
  const used = shapeTable.findLastIndex(byte => byte !== 0) + 1
  const shaped = messages.filter(message => message.some(byte => byte >= 0x40 && byte < 0x60))
  const memory = new SharedArrayBuffer(MEMORY_BYTES)
  const counts = { errors: 0, values: 0 }
  for (let mutation = 0; mutation < tableMutations; mutation++) {
    const damaged = new SharedArrayBuffer(table.byteLength)
    new Uint8Array(damaged).set(mutate(shapeTable.subarray(0, used), random))
    const reader = readerOf({ memory, table: damaged })
    const message = shaped[mutation % shaped.length]
    // Enough times for the decoder to generate code for the shape.
    for (let times = mutation % 16 === 0 ? 12 : 1; times > 0; times--) {
      const { value, error } = outcome(reader, new Uint8Array(memory), message, 0)
      if (error !== undefined) counts.errors++
      else {
        counts.values++
        assert.ok(sizeOf(value) < MOST_BYTES_EACH * (message.length + used))
      }
    }
  }
  t.diagnostic(`${counts.errors} errors, ${counts.values} values`)
  assert.ok(counts.errors > 100 && counts.values > 100)
})

test('a short message with a huge count of elements does not allocate memory for them', () => {
  const lane = allocateLane(MEMORY_BYTES)
  const reader = readerOf(lane)
  const memory = new Uint8Array(lane.memory)
  const before = process.memoryUsage()
  for (let tag = 0; tag < 256; tag++) {
    for (const size of [0xff, 0x10, 0x01]) {
      // A header without text, the tag, and a count of up to 2 ** 32 - 1.
      memory.set([1, 0, 0, 0, 40, 0, 0, 0, tag, size, size, size, size], FROM)
      try {
        sizeOf(reader.decode(FROM, FROM + 40))
      } catch (error) {
        assert.ok(error instanceof CorruptMessageError, error.stack)
      }
    }
  }
  const after = process.memoryUsage()
  assert.ok(after.heapTotal + after.external - before.heapTotal - before.external < 2 ** 26)
})
