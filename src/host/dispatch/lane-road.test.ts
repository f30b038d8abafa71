// Tasks in the lane, where the test plays the workers' ends of it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pack } from '../../shared/errors/remote-error.js'
import { HostBell, WorkerBell } from '../../shared/lane/doorbell.js'
import { deskIn, laneIn } from '../../shared/lane/layout.js'
import { INT_VALUE, ResultWriter } from '../../shared/lane/result-ring.js'
import { DISMISSED, EMPTY, LaneClaims } from '../../shared/lane/task-lane.js'
import { encoderFor } from '../../shared/lane/values.js'
import { kindOf } from '../../shared/messages/kind-of.js'
import type { FakeLink } from '../../testing/fake-backend.js'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks, watch } from '../../testing/stand-ins.js'
import { PriorityQueue } from '../queue/priority-queue.js'

test('a task for one worker alone wakes that one, though another went to sleep meanwhile', () => {
  const { links, run } = readyPool({ lane: true, maxThreads: 2 })
  const [first, second] = links.map(endOf)
  run(1)
  assert.ok(first!.claims.claim(0) >= 0)
  second!.bell.park(false)
  const bytes = new ArrayBuffer(8)
  const payload = {
    bytes,
    get read() {
      // It has answered, and found nothing more.
      first!.bell.park(false)
      return true
    },
  }
  run(payload, { transferList: [bytes] })
  assert.deepEqual(links[1]!.inbox.map(kindOf), ['run', 'bell'])
})

test('a worker that sleeps is not ended while a task that was moved to it is on offer', () => {
  const { links, backend, pool, run } = readyPool({ lane: true })
  const bytes = new ArrayBuffer(8)
  run(bytes, { transferList: [bytes] })
  endOf(links[0]!).bell.park(false)
  void pool.recycle()
  backend.newest.ready()
  const kinds = links[0]!.inbox.map(kindOf)
  assert.deepEqual([kinds.includes('leave'), kinds.includes('end')], [true, false])
})

test('a worker that is ended while it runs a task that is to run again can give it no answer any more', () => {
  const { links, pool, run } = readyPool({ lane: true })
  run(1, { retry: { attempts: 2 } })
  const { claims, workerId } = endOf(links[0]!)
  const ticket = claims.claim(0)
  assert.equal(claims.tickets.begin(ticket, workerId), true)
  void pool.workers[0]!.terminate()
  assert.equal(claims.tickets.answer(ticket, workerId), false)
})

test('a worker that is replaced finishes what it began before the host knew that it was ready', async () => {
  const { backend, pool, run } = fakePool({ lane: true, maxThreads: 1 })
  const call = run(1)
  const link = backend.links[0]!
  const { claims, workerId } = endOf(link)
  const ticket = claims.claim(0)
  assert.equal(claims.tickets.begin(ticket, workerId), true)
  void pool.recycle()
  backend.newest.ready()
  assert.deepEqual([link.isStopped, link.inbox.some(message => kindOf(message) === 'leave')], [false, true])
  link.ready()
  assert.equal(claims.tickets.answer(ticket, workerId), true)
  link.say({ kind: 'done', taskId: 1, slot: ticket, result: 7, startedAt: 0, runMs: 0 })
  await new Promise(setImmediate)
  assert.deepEqual([call.state, call.value], ['fulfilled', 7])
  link.say({ kind: 'leaving' })
  assert.ok(link.inbox.some(message => kindOf(message) === 'end'))
})

test('a worker that takes no more ends when the task that it stayed for is cancelled', () => {
  const { links, backend, pool, run } = readyPool({ lane: true })
  const controller = new AbortController()
  const bytes = new ArrayBuffer(8)
  run(bytes, { transferList: [bytes], signal: controller.signal })
  const isAskedToEnd = () => links[0]!.inbox.some(message => kindOf(message) === 'end')
  void pool.recycle()
  backend.newest.ready()
  links[0]!.say({ kind: 'leaving' })
  assert.equal(isAskedToEnd(), false)
  controller.abort()
  assert.equal(isAskedToEnd(), true)
})

test('a worker with a cancelled task that is not known to be ready is ended, and not asked whether it lives', () => {
  const { backend, clock, run } = fakePool({ lane: true, concurrentTasksPerWorker: 2, cancelGrace: 0 })
  const controller = new AbortController()
  run(1, { signal: controller.signal })
  run(2)
  const link = backend.links[0]!
  const { claims, workerId } = endOf(link)
  const [, second] = [0, 1].map(held => {
    const ticket = claims.claim(held)
    claims.tickets.begin(ticket, workerId)
    return ticket
  })
  assert.equal(claims.tickets.answer(second!, workerId), true)
  controller.abort()
  assert.equal(link.isStopped, false, 'what it says of itself may be here, and not be read')
  clock.advance(0)
  clock.turn()
  assert.deepEqual([link.isStopped, link.inbox.some(message => kindOf(message) === 'ask')], [true, false])
  assert.equal(clock.pending.includes(1000), false)
})

test('how long an answer waited for the host is neither how long its task waited, nor how long it ran', () => {
  const { links, pool, clock, run } = readyPool({ lane: true, concurrentTasksPerWorker: 2 })
  const { claims, workerId, answers } = endOf(links[0]!)
  run(1)
  run(2)
  clock.advance(10)
  const [first, second] = [claims.claim(0), claims.claim(1)]
  for (const ticket of [first, second]) claims.tickets.begin(ticket, workerId)
  const startedAt = clock.now()
  clock.advance(5)
  for (const ticket of [first, second]) claims.tickets.answer(ticket, workerId)
  answers.reserve()
  answers.publish(INT_VALUE, first, claims.read(first).taskId, 7, startedAt, 5)
  clock.advance(300)
  links[0]!.say('bell')
  clock.turn()
  links[0]!.say({ kind: 'done', taskId: 2, slot: second, result: 7, startedAt, runMs: 5 })
  const { waitTime, runTime } = pool.stats()
  assert.deepEqual([waitTime!.count, waitTime!.minMs, waitTime!.maxMs], [2, 10, 10])
  assert.deepEqual([runTime!.count, runTime!.minMs, runTime!.maxMs], [2, 5, 5])
})

test('a task that is run by a getter of another is on offer behind that one', () => {
  const { links, run } = readyPool({ lane: true, maxThreads: 2 })
  const { claims } = endOf(links[0]!)
  const payload = {
    get read() {
      return run(2)
    },
  }
  run(payload)
  assert.deepEqual(
    [0, 1].map(held => claims.read(claims.claim(held)).taskId),
    [1, 2],
  )
})

test('an answer that could not be read is told by its number, behind others; a worker that leaves ends with it', async () => {
  const { links, backend, pool, run } = readyPool({ lane: true, concurrentTasksPerWorker: 2 })
  const { claims, workerId } = endOf(links[0]!)
  const calls = [run(1), run(2)]
  for (const [index, ticket] of [claims.claim(0), claims.claim(1)].entries()) {
    claims.tickets.begin(ticket, workerId)
    claims.tickets.answer(ticket, workerId)
    claims.tickets.setOrdinal(ticket, index + 1)
  }
  void pool.recycle()
  backend.newest.ready()
  await microtasks()
  links[0]!.say({ kind: 'done', taskId: 1, slot: 0, result: 7, startedAt: 0, runMs: 0 })
  const { isAskedToEnd } = links[0]!
  links[0]!.sayUnreadable()
  assert.deepEqual([isAskedToEnd, links[0]!.isAskedToEnd], [false, true])
  await microtasks()
  assert.deepEqual([calls[0]!.value, calls[1]!.error?.code], [7, 'ERR_LIDO_NOT_CLONEABLE'])
})

test('the slot of a cancelled task is free again when its handler has ended', () => {
  const { links, run } = readyPool({ lane: true, queue: new PriorityQueue() })
  const { claims, workerId } = endOf(links[0]!)
  const controller = new AbortController()
  run(1, { signal: controller.signal })
  const ticket = claims.claim(0)
  claims.tickets.begin(ticket, workerId)
  controller.abort()
  run(2)
  assert.equal(claims.claim(0), EMPTY)
  claims.tickets.end(ticket, workerId)
  links[0]!.say({ kind: 'over', taskId: 1, slot: ticket })
  assert.equal(claims.read(claims.claim(0)).taskId, 2)
})

test('so it is when its worker has died', () => {
  const { links, backend, run } = readyPool({ lane: true, queue: new PriorityQueue() })
  const { claims, workerId } = endOf(links[0]!)
  const controller = new AbortController()
  run(1, { signal: controller.signal })
  claims.tickets.begin(claims.claim(0), workerId)
  controller.abort()
  links[0]!.exit(1)
  backend.newest.ready()
  run(2)
  const heir = endOf(backend.newest).claims
  assert.equal(heir.read(heir.claim(0)).taskId, 2)
})

test('a worker that is to leave claims no more, but for what was moved to it', () => {
  for (const isMoved of [false, true]) {
    const { links, backend, pool, run } = readyPool({ lane: true })
    const bytes = new ArrayBuffer(8)
    run(bytes, { transferList: isMoved ? [bytes] : [] })
    void pool.recycle()
    backend.newest.ready()
    assert.equal(endOf(links[0]!).claims.claim(0) === DISMISSED, !isMoved)
  }
})

test('a worker has been idle since its last answer, whoever rang for that', () => {
  const { backend, clock, run } = fakePool({ lane: true, minThreads: 0, maxThreads: 2, idleTimeout: 1000 })
  run(1)
  run(2)
  const [first, second] = backend.links as [FakeLink, FakeLink]
  for (const link of [first, second]) link.ready()
  const { bell, claims, workerId, answers } = endOf(first)
  const ticket = claims.claim(0)
  claims.tickets.begin(ticket, workerId)
  clock.advance(900)
  claims.tickets.answer(ticket, workerId)
  answers.reserve()
  answers.publish(INT_VALUE, ticket, 1, 7, clock.now(), 900)
  bell.park(false)
  second.say('bell')
  clock.advance(900)
  assert.equal(first.isAskedToEnd, false)
  clock.advance(100)
  assert.equal(first.isAskedToEnd, true)
})

test('while a worker leaves, what it still has takes no slot of the others', () => {
  const { links, backend, pool, run } = readyPool({ lane: true })
  run(1)
  const { claims, workerId } = endOf(links[0]!)
  claims.tickets.begin(claims.claim(0), workerId)
  void pool.recycle()
  backend.newest.ready()
  run(2)
  assert.equal(pool.queueSize, 0)
})

test('a large result that is not to be read any more makes room at once', async () => {
  const { links, pool, run } = readyPool({ lane: true, maxQueue: 1, decodeSliceMs: 0 })
  const { claims, workerId } = endOf(links[0]!)
  const encoder = encoderFor(deskIn(orderOf(links[0]!).desk))
  const controller = new AbortController()
  for (const taskId of [1, 2]) {
    run(taskId, { signal: controller.signal })
    const slot = claims.claim(0)
    claims.tickets.begin(slot, workerId)
    claims.tickets.answer(slot, workerId)
    const result = encoder.encodeLong(Array.from({ length: 20_000 }, (_, index) => ({ index })))
    links[0]!.say({ kind: 'done', taskId, slot, result, isLong: true, startedAt: 0, runMs: 0 })
  }
  const room = watch(pool.room())
  await microtasks()
  assert.equal(room.state, 'pending')
  controller.abort()
  await microtasks()
  assert.equal(room.state, 'fulfilled')
})

test('a worker that is ended claims nothing any more, and another is started at once', () => {
  const { links, backend, pool, run } = readyPool({ lane: true })
  run(1)
  void pool.workers[0]!.terminate()
  assert.equal(backend.links.length, 2)
  assert.equal(endOf(links[0]!).claims.claim(0), DISMISSED)
})

test('what was moved to a worker stays with it when tasks before it go back', async () => {
  const { links, run } = readyPool({ lane: true, maxThreads: 2 })
  const [first, second] = links.map(endOf)
  run(1)
  assert.ok(second!.claims.claim(0) >= 0)
  const bytes = new ArrayBuffer(8)
  const moved = run(bytes, { transferList: [bytes] })
  links[1]!.exit(1)
  await microtasks()
  assert.equal(moved.state, 'pending')
  assert.equal(first!.claims.read(first!.claims.claim(0)).taskId, 2)
})

test('a task is in flight while its payload is written into the lane', () => {
  const { pool, run } = readyPool({ lane: true })
  const seen: number[] = []
  const payload = {
    get read() {
      const { waiting, inFlight } = pool.stats().tasks
      return seen.push(waiting, inFlight)
    },
  }
  run(payload)
  assert.deepEqual(seen, [0, 1])
})

test('what a worker has answered is answered, though it died before it could say so', async () => {
  const { links, run } = readyPool({ lane: true })
  const { claims, workerId, answers } = endOf(links[0]!)
  const call = run(1)
  const ticket = claims.claim(0)
  claims.tickets.begin(ticket, workerId)
  claims.tickets.answer(ticket, workerId)
  answers.reserve()
  answers.publish(INT_VALUE, ticket, 1, 7, 0, 0)
  links[0]!.exit(1)
  await microtasks()
  assert.equal(call.value, 7)
})

test('what a worker that is ended has answered over the port waits for the answer, until its end is sure', async () => {
  const { links, pool, run } = readyPool({ lane: true, concurrentTasksPerWorker: 3 })
  const { claims, workerId } = endOf(links[0]!)
  const calls = [run(1), run(2), run(3)]
  for (const [index, ticket] of [claims.claim(0), claims.claim(1), claims.claim(2)].entries()) {
    claims.tickets.begin(ticket, workerId)
    claims.tickets.answer(ticket, workerId)
    claims.tickets.setOrdinal(ticket, index + 1)
  }
  const ended = pool.workers[0]!.terminate()
  links[0]!.say({ kind: 'done', taskId: 1, slot: 0, result: 7, startedAt: 0, runMs: 0 })
  const thrown = { reason: 'thrown', error: pack(new Error('thrown')), path: '' } as const
  links[0]!.say({ kind: 'failed', taskId: 2, slot: 1, ...thrown, startedAt: 0, runMs: 0 })
  await ended
  await microtasks()
  const [value, failure, loss] = [calls[0]!.value, calls[1]!.error, calls[2]!.error]
  assert.deepEqual([value, failure?.message, loss?.code], [7, 'thrown', 'ERR_LIDO_WORKER_EXIT'])
})

test('a task whose file was still being loaded when its worker died says so', async () => {
  const { links, run } = readyPool({ lane: true, concurrentTasksPerWorker: 2 })
  const { claims, workerId } = endOf(links[0]!)
  const calls = [run(1), run(2)]
  const tickets = [claims.claim(0), claims.claim(1)]
  for (const ticket of tickets) claims.tickets.begin(ticket, workerId)
  claims.tickets.markLoading(tickets[0]!, workerId, true)
  links[0]!.exit(5)
  await microtasks()
  const codes = calls.map(({ error }) => error?.code)
  assert.deepEqual(codes, ['ERR_LIDO_WORKER_START', 'ERR_LIDO_WORKER_EXIT'])
})

test('a task that is cancelled while its file is loaded is to stop as one that runs', () => {
  const { links, run } = readyPool({ lane: true })
  const { claims, workerId } = endOf(links[0]!)
  const controller = new AbortController()
  run(1, { signal: controller.signal })
  const ticket = claims.claim(0)
  claims.tickets.begin(ticket, workerId)
  claims.tickets.markLoading(ticket, workerId, true)
  controller.abort()
  assert.equal(claims.tickets.isCondemned(ticket, workerId), true)
})

test('workers that die with what they have not begun have done nothing: others wait for a pause', () => {
  const { backend, run } = fakePool({ lane: true })
  run(1)
  for (let death = 0; death < 10; death++) {
    const link = backend.newest
    if (link.hasEnded) break
    link.ready()
    endOf(link).claims.claim(0)
    link.exit(1)
  }
  assert.deepEqual([backend.links.length, backend.alive.length], [4, 0])
})

test('a worker that died with the bell in its hand leaves the others heard', () => {
  const { links, run, clock } = readyPool({ lane: true, maxThreads: 2 })
  run(1)
  const bell = new HostBell(laneIn(orderOf(links[0]!).lane))
  assert.equal(bell.ring(), true)
  links[0]!.exit(1)
  clock.advance(1)
  clock.turn()
  assert.equal(bell.ring(), true)
})

test('a queue of priorities keeps what there is no place for yet', () => {
  const { links, run } = readyPool({ lane: true, queue: new PriorityQueue() })
  run(1)
  assert.ok(endOf(links[0]!).claims.claim(0) >= 0)
  run(2)
  assert.equal(endOf(links[0]!).claims.claim(0), EMPTY)
})

test('a getter of a moved payload may cancel its task and throw, when its turn comes', async () => {
  const { links, run } = readyPool({ lane: true, queue: new PriorityQueue() })
  const { claims, workerId } = endOf(links[0]!)
  const controller = new AbortController()
  const bytes = new ArrayBuffer(8)
  const payload = {
    bytes,
    get read() {
      controller.abort('enough')
      throw new Error('and this')
    },
  }
  run(1)
  const task = run(payload, { transferList: [bytes], signal: controller.signal })
  const slot = claims.claim(0)
  claims.tickets.begin(slot, workerId)
  claims.tickets.answer(slot, workerId)
  links[0]!.say({ kind: 'done', taskId: 1, slot, result: 7, startedAt: 0, runMs: 0 })
  await microtasks()
  assert.equal(task.error.reason, 'enough')
})

test('of a moved payload whose task a getter has cancelled nothing is kept', () => {
  const { links, run } = readyPool({ lane: true })
  const controller = new AbortController()
  const bytes = new ArrayBuffer(8)
  const payload = {
    bytes,
    get read() {
      controller.abort()
      return true
    },
  }
  run(payload, { transferList: [bytes], signal: controller.signal })
  assert.deepEqual(links[0]!.inbox.map(kindOf), ['run', 'drop'])
})

test('a moved payload is not sent to a worker that may fail to start', () => {
  const { backend, run } = fakePool({ lane: true })
  const bytes = new ArrayBuffer(8)
  run(bytes, { transferList: [bytes] })
  assert.deepEqual([backend.newest.runs.length, bytes.byteLength], [0, 8])
})

test('a worker that asks for a moved payload after its ticket was taken back does not get it', async () => {
  const { links, backend, pool, run } = readyPool({ lane: true, concurrentTasksPerWorker: 2 })
  const { claims, workerId } = endOf(links[0]!)
  run(1)
  const bytes = new ArrayBuffer(8)
  const moved = run(bytes, { transferList: [bytes] })
  claims.tickets.begin(claims.claim(0), workerId)
  const slot = claims.claim(1)
  void pool.recycle()
  backend.newest.ready()
  links[0]!.say({ kind: 'send', slot, taskId: 2 })
  await microtasks()
  assert.deepEqual([moved.state, links[0]!.runs.length], ['pending', 0])
})

describe('a task that runs alone, where each worker is half free,', () => {
  function halfFree(options: Parameters<typeof readyPool>[0]) {
    const made = fakePool({ lane: true, concurrentTasksPerWorker: 2, minThreads: 2, ...options })
    for (const link of made.backend.links) link.ready()
    const ends = made.backend.links.map(endOf)
    for (const { claims, workerId } of ends) {
      made.run(0)
      assert.ok(claims.tickets.begin(claims.claim(0), workerId))
    }
    return { ...made, ends }
  }

  test('waits, and has a worker more started', () => {
    const { pool, backend, run } = halfFree({ maxThreads: 3 })
    run(1, { exclusive: true })
    assert.equal(backend.links.length, 3)
    run(2, { exclusive: true })
    run(3)
    const { waiting, inFlight } = pool.stats().tasks
    assert.deepEqual([waiting, inFlight, pool.queueSize], [2, 3, 2])
  })

  test('is refused by a pool without a queue, and another task is not', async () => {
    const { run } = halfFree({ maxThreads: 2, maxQueue: 0 })
    const [alone, other] = [run(1, { exclusive: true }), run(2)]
    await microtasks()
    assert.deepEqual([alone.state, alone.error?.code], ['rejected', 'ERR_LIDO_QUEUE_FULL'])
    assert.equal(other.state, 'pending')
  })

  test('stays in a queue of priorities, where a better one may come before it', () => {
    const { ends, run } = halfFree({ maxThreads: 2, queue: new PriorityQueue() })
    run(1, { exclusive: true })
    assert.equal(ends[0]!.claims.claim(1), EMPTY)
  })
})

function orderOf({ spec: { road } }: FakeLink) {
  if (road.kind !== 'lane') throw new Error('this worker takes its tasks from its port')
  return road
}

function endOf(link: FakeLink) {
  const road = orderOf(link)
  const bell = new WorkerBell(road.desk)
  const { workerId } = road
  const answers = new ResultWriter(deskIn(road.desk))
  return { bell, workerId, answers, claims: new LaneClaims(laneIn(road.lane), workerId, bell) }
}
