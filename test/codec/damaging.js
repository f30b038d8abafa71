// Handlers for damaged-rings.test.js. `damage` writes into the result ring of its own worker.
import { workerData } from 'node:worker_threads'
import * as layout from '../../build/unit/src/shared/lane/layout.js'

const INT_VALUE = 2
const PASS = 4
const odd = [0, 1, 31, 32, -32, 33, 2 ** 22, 2 ** 22 - 32, 2 ** 30, 2 ** 31 - 1, -1, -(2 ** 31)]

export const echo = value => value

export function fail(number) {
  throw new TypeError(`failure ${number}`)
}

/** @param call.draws random numbers below 1 */
export async function damage({ seed, kind, ending, draws }) {
  let next = 0
  damages[kind](below => Math.floor(draws[next++ % draws.length] * below))
  Atomics.store(workerData, 0, seed)
  Atomics.notify(workerData, 0)
  if (ending === 'exit') process.exit(3)
  if (ending === 'wait') await new Promise(resolve => setTimeout(resolve, 2))
  return seed
}

const { memory, ring } = stateOf(globalThis.sharedMemories)
const words = new Int32Array(memory)
const mask = ring.to - ring.from - 1
const heads = [
  layout.CHECK,
  layout.KIND,
  layout.TICKET,
  layout.TASK,
  layout.RECORD_VALUE,
  layout.RUN_MS,
  6,
  7,
]

const damages = {
  /** Random words in the heads of unread records, and behind the last record. */
  words(random) {
    const places = [...unreadHeads(), ringAt(words[layout.WRITTEN])]
    for (let times = 1 + random(8); times > 0; times--)
      words[places[random(places.length)] + heads[random(heads.length)]] = anyWord(random)
  },
  /** A head in place of another one, or a head that starts too early. */
  cuts(random) {
    const places = unreadHeads()
    if (places.length === 0) return damages.counters(random)
    const at = places[random(places.length)]
    const from = random(2) === 0 ? places[random(places.length)] : at + 8 * (random(5) - 2)
    words.copyWithin(at, from, from + 1 + random(8))
    // Copying a head onto itself is no damage.
    words[at + layout.RECORD_VALUE] += random(3)
  },
  /** A counter that is turned back or moved on. */
  counters(random) {
    const counter = random(4) === 0 ? layout.READ : layout.WRITTEN
    const steps = [-32, 32, -1, 1, 64, -4096, 4096, 2 ** 22, 2 ** 22 + 32, -(2 ** 22), anyWord(random)]
    Atomics.add(words, counter, steps[random(steps.length)])
  },
  /** The table of shapes, which values name. */
  shapes(random) {
    const { from, to } = layout.workerStateIn(memory).dictionary
    for (let times = 1 + random(8); times > 0; times--)
      words[(from + 4 * random(Math.min(64, (to - from) / 4))) / 4] = anyWord(random)
  },
}

function anyWord(random) {
  return random(2) === 0 ? odd[random(odd.length)] : random(2 ** 31) - random(2 ** 31)
}

function ringAt(position) {
  return (ring.from + (position & mask & -32)) / 4
}

function unreadHeads() {
  const found = []
  const written = Atomics.load(words, layout.WRITTEN)
  for (let position = Atomics.load(words, layout.READ); ((written - position) | 0) > 0; ) {
    const at = ringAt(position)
    found.push(at)
    if (words[at + layout.KIND] === PASS) position += mask + 1 - (position & mask)
    else {
      const bytes = words[at + layout.KIND] === INT_VALUE ? 0 : words[at + layout.RECORD_VALUE]
      position += layout.RECORD_BYTES * (1 + Math.ceil(bytes / layout.RECORD_BYTES))
    }
    position |= 0
  }
  return found
}

function stateOf(memories) {
  const { byteLength } = layout.createWorkerState().memory
  return layout.workerStateIn([...memories].find(memory => memory.byteLength === byteLength))
}
