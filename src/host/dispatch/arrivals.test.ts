// Large results are read a slice a turn, in turns where there are several, and answered once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Dictionary } from '../../shared/codec/dictionary.js'
import { Encoder } from '../../shared/codec/encoder.js'
import { KnownShapes } from '../../shared/codec/known-shapes.js'
import { PoolClosedError } from '../../shared/errors/pool-errors.js'
import { ManualClock } from '../../testing/manual-clock.js'
import { makeTask } from '../../testing/stand-ins.js'
import { Worth } from '../metrics/worth.js'
import { Settler } from '../task/settle.js'
import { moveTask } from '../task/task-life.js'
import { Arrivals } from './arrivals.js'

/** Of it a slice without time reads one step: some thirty steps. */
const rows = (text: string) => Array.from({ length: 20_000 }, (_, index) => ({ index, text }))

/** Each look at it takes so long. */
class BusyClock extends ManualClock {
  lookMs = 0

  override now(): number {
    this.advance(this.lookMs)
    return super.now()
  }
}

function setUp(sliceMs: number) {
  const memory = new SharedArrayBuffer(2 ** 16)
  const encoder = new Encoder(memory, new Dictionary(memory, 0, 2 ** 16))
  const shapes = new KnownShapes(new Dictionary(memory, 0, 2 ** 16))
  const clock = new BusyClock()
  const told: string[] = []
  const settler = new Settler({ onSettled: (task, outcome) => told.push(`${task.id} ${outcome}`) })
  const worth = new Worth(() => {})
  const arrivals = new Arrivals({ clock, settler, worth, sliceMs, onRead: () => told.push('read') })
  const results = new Map<number, unknown>()
  function arrive(id: number, value: unknown, damage = (message: any) => message) {
    const outcome = (answer: unknown) => results.set(id, answer)
    const task = makeTask(id, { resolve: outcome, reject: outcome })
    moveTask(task, 'assigned')
    arrivals.add(task, damage(encoder.encodeLong(value)!), shapes)
    return task
  }
  function turns(): number {
    let count = 0
    for (; clock.awaitsTurn; count++) clock.turn()
    return count
  }
  return { clock, arrivals, told, results, arrive, turns, settler, worth }
}

describe('a large result', () => {
  test('that can be read in one slice is answered in the turn in which it arrives', () => {
    const { arrive, told, results, turns } = setUp(5)
    arrive(1, rows('a'))
    assert.deepEqual(told, ['1 fulfilled', 'read'])
    assert.deepEqual(results.get(1), rows('a'))
    assert.equal(turns(), 1)
  })

  test('that cannot is read over several turns, and is whole', () => {
    const { arrive, told, results, turns } = setUp(0)
    const task = arrive(1, rows('a'))
    assert.deepEqual([told, task.state], [[], 'arriving'])
    assert.ok(turns() > 10)
    assert.deepEqual(told, ['1 fulfilled', 'read'])
    assert.deepEqual(results.get(1), rows('a'))
  })

  test('takes no more of a turn than its slice, however many there are', () => {
    const { clock, arrive, turns } = setUp(5)
    clock.lookMs = 1
    for (let id = 1; id <= 3; id++) arrive(id, rows('a'))
    const before = clock.now()
    clock.turn()
    // Looks at the clock: the first, one after each step, and those of this test.
    assert.ok(clock.now() - before <= 5 + 3)
    assert.ok(turns() > 5)
  })

  test('takes turns with others: a short one does not wait for a long one that came before', () => {
    const { arrive, told, turns } = setUp(0)
    arrive(1, rows('long'))
    arrive(2, rows('short').slice(0, 1_000))
    turns()
    assert.deepEqual(told, ['2 fulfilled', 'read', '1 fulfilled', 'read'])
  })

  test('that nobody wants any more is not read on, and the others are', () => {
    const { arrive, arrivals, told, settler, turns } = setUp(0)
    const unwanted = arrive(1, rows('a'))
    arrive(2, rows('b'))
    arrivals.drop(unwanted)
    settler.cancel(unwanted, new Error('enough'))
    turns()
    assert.deepEqual(told, ['1 cancelled', '2 fulfilled', 'read'])
  })

  test('that is damaged at its end rejects when its end is met, and the others are whole', () => {
    const { arrive, told, results, turns } = setUp(0)
    arrive(1, rows('a'), message => {
      new Uint8Array(message.chunks.at(-1).bytes, message.chunks.at(-1).used - 4, 4).fill(55)
      return message
    })
    arrive(2, rows('b'))
    assert.deepEqual(told, [])
    turns()
    assert.deepEqual(told.sort(), ['1 rejected', '2 fulfilled', 'read', 'read'])
    assert.equal((results.get(1) as any).code, 'ERR_LIDO_NOT_CLONEABLE')
    assert.deepEqual(results.get(2), rows('b'))
  })

  test('costs what all of its slices took', () => {
    const { clock, arrive, turns, worth } = setUp(5)
    clock.lookMs = 1
    // The first of a handler is not measured.
    for (const id of [1, 2]) {
      arrive(id, rows('a'))
      turns()
    }
    worth.onMeasured([{ handlerId: 1, tasks: 1, runMs: 1, activeMs: 1, cpuMs: 1, transferMs: 0 }])
    const { handOverMs } = worth.handlers[0]!
    assert.ok(handOverMs > 10, `more than two slices, in ${handOverMs} ms`)
  })

  test('that cannot even begin rejects at once', () => {
    const { arrive, told } = setUp(5)
    arrive(1, rows('a'), message => ({
      ...message,
      chunks: [{ ...message.chunks[0], used: 2 ** 30 }],
    }))
    assert.deepEqual(told, ['1 rejected', 'read'])
  })

  test('of a pool that ends rejects with the reason, and no turn is asked for any more', () => {
    const { arrive, arrivals, told, results, turns } = setUp(0)
    arrive(1, rows('a'))
    arrive(2, rows('b'))
    const reason = new PoolClosedError('destroyed')
    arrivals.cutOff(reason)
    assert.deepEqual(told, ['1 rejected', '2 rejected'])
    assert.deepEqual([results.get(1), results.get(2)], [reason, reason])
    assert.ok(turns() <= 1)
  })
})
