// Workers whose end was asked for: which count as running their teardown, which are killed and when, and what is told of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TeardownError } from '../../shared/errors/pool-errors.js'
import { ManualClock } from '../../testing/manual-clock.js'
import type { BackendKind } from '../backend/backend-kind.js'
import { Endings } from './endings.js'
import type { WorkerHandle } from './worker-handle.js'
import type { WorkerState } from './worker-life.js'

const teardownTimeout = 3000

function setUp() {
  const clock = new ManualClock()
  const troubles: unknown[] = []
  const endings = new Endings({ clock, teardownTimeout, onTrouble: error => troubles.push(error) })
  const makeWorker = (state: WorkerState, hasTeardown = false, kind: BackendKind = 'thread') => {
    const told: string[] = []
    const link = {
      kind,
      post: (message: { kind: string }) => told.push(message.kind),
      terminate: () => told.push('killed'),
    }
    return { told, worker: { id: 1, state, hasTeardown, link } as unknown as WorkerHandle }
  }
  return { clock, troubles, endings, makeWorker }
}

test('workers that were killed run no teardown: others may take their places', () => {
  const { endings, makeWorker } = setUp()
  endings.begin(makeWorker('ready').worker, false).cutOff()
  assert.equal(endings.plannedCount, 0)
  const { worker } = makeWorker('ready', true)
  const ending = endings.begin(worker, true)
  ending.letEnd()
  assert.equal(endings.plannedCount, 1)
  ending.cutOff()
  assert.equal(endings.plannedCount, 0)
})

test('what a worker that was killed ended of is no teardown’s failure', () => {
  const { troubles, endings, makeWorker } = setUp()
  for (const isPlanned of [false, true]) {
    const { worker } = makeWorker('ready')
    endings.begin(worker, isPlanned)
    endings.onExit(worker, new Error('died'))
  }
  assert.equal(troubles.length, 1)
  assert.ok(troubles[0] instanceof TeardownError)
})

test('teardowns are cut off, or not begun; who has none ends by itself, and only one that was begun is told of', () => {
  const { endings, makeWorker } = setUp()
  const plain = makeWorker('ready')
  const loading = makeWorker('spawning')
  for (const { worker } of [plain, loading]) endings.begin(worker, true).letEnd()
  assert.equal(endings.cutOffTeardowns(), false)
  assert.deepEqual([plain.told, loading.told], [['end'], ['end', 'stop']])
  const running = makeWorker('ready', true)
  endings.begin(running.worker, true).letEnd()
  assert.equal(endings.cutOffTeardowns(), true)
  assert.deepEqual([plain.told, running.told], [['end'], ['end', 'killed']])
})

test('a teardown that was cut off did not take too long, however late its worker ends', () => {
  const { clock, troubles, endings, makeWorker } = setUp()
  const { told, worker } = makeWorker('ready', true)
  const ending = endings.begin(worker, true)
  ending.letEnd()
  ending.cutOff()
  clock.advance(teardownTimeout)
  clock.turn()
  assert.deepEqual([told, troubles], [['end', 'killed'], []])
})

for (const [kind, turns] of [
  ['thread', 1],
  ['process', 2],
] as const) {
  test(`the end of a ${kind} is heard of after ${turns === 1 ? 'a turn' : 'two turns'} by a host that was busy: so long it is waited for`, () => {
    const { clock, troubles, endings, makeWorker } = setUp()
    const { told, worker } = makeWorker('ready', true, kind)
    endings.begin(worker, true).letEnd()
    clock.stall(teardownTimeout)
    for (let turn = 1; turn < turns; turn++) clock.turn()
    assert.deepEqual([told, troubles], [['end'], []])
    clock.turn()
    assert.deepEqual(told, ['end', 'killed'])
    assert.ok(troubles[0] instanceof TeardownError)
  })
}
