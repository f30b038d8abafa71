// A damaged large message gives an error or another value. It never causes a crash, a hang, or too much memory for its size.
//   LIDO_SEED=123 replays a run, LIDO_DAMAGED_MESSAGES=50 makes it smaller
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../build/unit/src/testing/stand-ins.js'
import { allocateLane, CorruptMessageError, shapesOf, writerOf } from './lane.js'
import { readLarge, tiny, writeLarge } from './large.js'
import { sizeOf } from './sizes.js'
import { build, plans } from './values.js'

const seed = Number(process.env.LIDO_SEED ?? Date.now() >>> 0) | 0
const messageCount = Number(process.env.LIDO_DAMAGED_MESSAGES ?? 200)
const mutationsOfEach = 100
/** The most memory for each byte of a message. A short array of holes needs the most. */
const MOST_BYTES_EACH = 600

function copyOf(message) {
  return structuredClone(message)
}

function damageBytes(memory, random) {
  const bytes = new Uint8Array(memory)
  if (bytes.length === 0) return
  const at = random(bytes.length)
  if (random(2) === 0) bytes[at] = random(32)
  else bytes[at] ^= 1 << random(8)
}

function damage(message, random) {
  const at = random(message.chunks.length)
  const chunk = message.chunks[at]
  switch (random(8)) {
    case 0:
      message.chunks[at] = chunk.slice(0, random(chunk.byteLength + 1))
      return
    case 1:
      message.chunks[at] = new Uint8Array([...new Uint8Array(chunk), random(256)]).buffer
      return
    case 2:
      message.chunks.splice(at, 1)
      return
    case 3:
      message.chunks.push(chunk)
      return
    case 4:
      message.buffers.splice(random(message.buffers.length + 1), 1)
      return
    case 5:
      message.large.fill(random(2 ** 31), random(message.large.length + 1))
      return
    case 6:
      message.isGraph = !message.isGraph
      return
    default:
      return damageBytes(chunk, random)
  }
}

function bytesOf({ chunks, buffers }) {
  return [...chunks, ...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

test(`${messageCount * mutationsOfEach} damaged large messages are decoded or refused (seed ${seed})`, t => {
  const random = seededRandom(seed)
  const lane = allocateLane()
  const writer = writerOf(lane)
  const shapes = shapesOf(lane)
  const counts = { errors: 0, values: 0 }
  const before = process.memoryUsage().rss
  for (const plan of fc.sample(plans, { seed, numRuns: messageCount })) {
    const message = writeLarge(writer, build(plan), { ...tiny, chunkBytes: 1 + random(60) })
    if (message === null) continue
    for (let mutation = 0; mutation < mutationsOfEach; mutation++) {
      const damaged = copyOf(message)
      for (let times = 1 + random(3); times > 0 && damaged.chunks.length > 0; times--) damage(damaged, random)
      // Measured before decoding, because the decoder removes chunks from the message.
      const bytes = bytesOf(damaged)
      try {
        const { value } = readLarge(damaged, shapes)
        counts.values++
        assert.ok(sizeOf(value) <= MOST_BYTES_EACH * (bytes + 1))
      } catch (error) {
        if (!(error instanceof CorruptMessageError)) throw error
        counts.errors++
      }
    }
  }
  const grown = process.memoryUsage().rss - before
  t.diagnostic(`${counts.errors} errors, ${counts.values} values, ${grown >> 20} MB more`)
  assert.ok(grown < 2 ** 29, `${grown} bytes more`)
  assert.ok(counts.errors > 1000 && counts.values > 1000, JSON.stringify(counts))
})
