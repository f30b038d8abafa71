// Sends random values through shared memory to a real thread and back, and compares each with its structured clone.
//   LIDO_SEED=123    replays a run
//   LIDO_VALUES=1e6  sets the number of values
import assert from 'node:assert/strict'
import { on } from 'node:events'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { differenceOf } from './difference.js'
import { alignUp, allocateLane, DECLINED, NO_ROOM, readerOf, writerOf } from './lane.js'
import { build, cloneOf, describeStranger, makeStranger, plans, strangerCount } from './values.js'

const seed = Number(process.env.LIDO_SEED ?? Date.now() >>> 0) | 0
const valueCount = Number(process.env.LIDO_VALUES ?? 200_000)
const BATCH = 1000

test(`${valueCount} random values arrive in a thread and return equal to their structured clones (seed ${seed})`, async t => {
  const toThread = allocateLane()
  const toHost = allocateLane()
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: { toThread, toHost } })
  t.after(() => thread.terminate())
  const answers = on(thread, 'message')
  const writer = writerOf(toThread)
  const reader = readerOf(toHost)
  const counts = { accepted: 0, declined: 0 }

  /** Writes a batch into one half of the memory. Meanwhile the thread reads the previous batch in the other half. */
  function send(batchSeed, half) {
    const room = toThread.memory.byteLength / 2
    const sent = []
    let at = half * room
    fc.sample(plans, { seed: batchSeed, numRuns: BATCH }).forEach((plan, index) => {
      const where = () =>
        `value ${index} of the batch with seed ${batchSeed}: ${inspect(plan, { depth: 20 })}`
      const { clone, refusal } = cloneOf(build(plan))
      const from = alignUp(at)
      const end = writer.encode(build(plan), from, (half + 1) * room)
      if (end === NO_ROOM) assert.fail(where())
      if (end === DECLINED) {
        counts.declined++
        return
      }
      if (refusal !== undefined)
        assert.fail(`structuredClone() throws, but the codec accepts the value: ${where()}`)
      at = end
      counts.accepted++
      sent.push({ from, end, clone, where })
    })
    const ranges = sent.map(({ from, end }) => [from, end])
    thread.postMessage({ ranges, clones: sent.map(({ clone }) => clone), half })
    return sent
  }

  function check(sent, answers) {
    answers.forEach(({ difference, start, end }, index) => {
      const { clone, where } = sent[index]
      if (difference !== undefined) assert.fail(`in the thread: ${difference}: ${where()}`)
      if (end < 0) assert.fail(`the thread cannot encode the decoded value: ${where()}`)
      const back = differenceOf(reader.decode(start, end), clone)
      if (back !== undefined) assert.fail(`on the host: ${back}: ${where()}`)
    })
  }

  let before
  for (let batch = 0; batch * BATCH < valueCount; batch++) {
    const sent = send(seed + batch, batch % 2)
    if (before !== undefined) check(before, (await answers.next()).value[0])
    before = sent
  }
  check(before, (await answers.next()).value[0])
  t.diagnostic(`${counts.accepted} accepted, ${counts.declined} declined`)
  assert.ok(counts.accepted > valueCount * 0.75, `only ${counts.accepted} accepted`)
  assert.ok(counts.declined > valueCount * 0.01, `only ${counts.declined} declined`)
})

test('the encoder declines each unsupported value at every place of a message', () => {
  const lane = allocateLane()
  const writer = writerOf(lane)
  const room = lane.memory.byteLength
  const places = [
    stranger => stranger,
    stranger => [stranger],
    stranger => ({ a: stranger, b: 2 }),
    stranger => ({ key: { 0: stranger } }),
    stranger => new Map([[stranger, 1]]),
    stranger => new Set([stranger]),
  ]
  for (let index = 0; index < strangerCount; index++) {
    for (const place of places) {
      // The encoder learns the shape that many of these values imitate.
      for (let times = 0; times < 12; times++)
        writer.encode(
          [
            { a: 1, b: 2 },
            { a: 1, b: 2 },
          ],
          0,
          room,
        )
      writer.encode(place({ a: 1, b: 2 }), 0, room)
      const end = writer.encode(place(makeStranger(index)), 0, room)
      assert.equal(end, DECLINED, `stranger ${index}: ${describeStranger(index)} in ${place}`)
    }
  }
})
