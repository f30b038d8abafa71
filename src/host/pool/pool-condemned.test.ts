// A handler that runs on after its task was cancelled: it is told, it has a moment, and nobody beside it suffers.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isCancelled } from '../../shared/channel/claims.js'
import { kindOf } from '../../shared/messages/kind-of.js'
import type { FakeLink, RunMessage } from '../../testing/fake-backend.js'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks, watch } from '../../testing/stand-ins.js'
import type { PoolOptions } from './options.js'

/** A pool with one worker that has begun a task which is cancelled then. */
function setUp(options: PoolOptions = {}, begins = 1) {
  const made = readyPool({ cancelGrace: 100, ...options })
  const controller = new AbortController()
  const { signal } = controller
  const task = made.run('cancelled', { signal })
  const others = Array.from({ length: begins - 1 }, (_, index) => made.run(index))
  const link = made.links[0]!
  const begun = Array.from({ length: begins }, () => link.begin()!)
  const pass = (milliseconds: number) => {
    made.clock.advance(milliseconds)
    made.clock.turn()
    return microtasks()
  }
  const cancel = async (reason: unknown = 'enough') => {
    controller.abort(reason)
    await microtasks()
  }
  return { ...made, link, task, others, begun, message: begun[0]!, cancel, pass }
}

const told = (link: FakeLink, kind: string) => link.inbox.filter(message => kindOf(message) === kind)
const over = (link: FakeLink, { taskId, slot }: RunMessage) => link.say({ kind: 'over', taskId, slot })

describe('a cancelled task that runs', () => {
  test('rejects at once; its worker is told, in a message and in the shared words', async () => {
    const { link, task, message, cancel } = setUp()
    assert.equal(isCancelled(link.claims, message.slot, message.taskId), false)
    await cancel()
    assert.equal(task.error.reason, 'enough')
    assert.equal(isCancelled(link.claims, message.slot, message.taskId), true)
    assert.equal(told(link, 'cancel').length, 1)
    assert.equal(link.isKilled, false)
  })

  test('keeps its slot until its handler has ended, then the worker takes the next', async () => {
    const { link, run, pool, message, cancel, clock } = setUp()
    await cancel()
    const next = run('next')
    assert.deepEqual([link.payloads, pool.workers[0]!.usage, pool.queueSize], [['cancelled'], 1, 1])
    assert.equal(pool.stats().tasks.inFlight, 0)
    over(link, message)
    assert.equal(link.work(), 'next')
    await microtasks()
    assert.equal(next.value, 'next')
    clock.advance(10_000)
    clock.turn()
    assert.equal(link.isKilled, false)
  })

  test('that has ended in time leaves its grace to itself: the next one has its own', async () => {
    const { link, run, message, cancel, pass } = setUp()
    await cancel()
    await pass(50)
    over(link, message)
    const next = new AbortController()
    run('next', { signal: next.signal })
    link.begin()
    next.abort()
    await pass(60)
    assert.equal(link.isKilled, false)
    await pass(50)
    assert.equal(link.isKilled, true)
  })

  test('holds up no close when its worker has died of itself', async () => {
    const { link, pool, cancel } = setUp({ cancelGrace: Number.POSITIVE_INFINITY })
    await cancel()
    link.exit(1)
    const closing = watch(pool.close())
    await microtasks()
    assert.equal(closing.state, 'fulfilled')
  })

  test('holds up no close when it had not begun in a process that was ended', async () => {
    const { links, pool, run } = readyPool({
      backend: 'process',
      concurrentTasksPerWorker: 2,
      cancelGrace: Number.POSITIVE_INFINITY,
    })
    run('begun')
    const controller = new AbortController()
    run('waits', { signal: controller.signal })
    links[0]!.begin()
    void pool.workers[0]!.terminate()
    controller.abort()
    await microtasks()
    const closing = watch(pool.close())
    await microtasks()
    assert.equal(closing.state, 'fulfilled')
  })

  for (const kind of ['done', 'failed'] as const) {
    test(`that was being answered all the same (${kind}) frees its slot and disturbs nobody`, async () => {
      const { link, run, message, cancel, pool, errors, task } = setUp()
      await cancel()
      if (kind === 'done') link.done(message, 'late')
      else link.failed(message, new Error('late'))
      run('next')
      assert.equal(link.work(), 'next')
      await microtasks()
      assert.equal(task.error.reason, 'enough')
      assert.deepEqual(errors, [])
      const { accepted, fulfilled, rejected, cancelled } = pool.stats().tasks
      assert.deepEqual([accepted, fulfilled, rejected, cancelled], [2, 1, 0, 1])
    })
  }

  test('whose answer cannot be read frees its slot', async () => {
    const { link, run, cancel } = setUp()
    await cancel()
    link.sayUnreadable()
    link.say({ kind: 'holding', taskIds: [], received: 1 })
    run('next')
    assert.equal(link.work(), 'next')
  })

  test('has until its grace is over; then its worker ends and another takes the next', async () => {
    const { link, backend, run, cancel, pass } = setUp()
    await cancel()
    run('next')
    await pass(99)
    assert.equal(link.isKilled, false)
    await pass(1)
    assert.equal(link.isKilled, true)
    backend.newest.ready()
    assert.equal(backend.newest.work(), 'next')
  })

  test('that ends while the host is busy past its grace costs no worker', async () => {
    const { link, message, cancel, clock } = setUp()
    await cancel()
    clock.advance(5000)
    over(link, message)
    clock.turn()
    assert.equal(link.isKilled, false)
  })

  test('is let run for ever where that is said', async () => {
    const { link, cancel, pass } = setUp({ cancelGrace: Number.POSITIVE_INFINITY })
    await cancel()
    await pass(1e9)
    assert.equal(link.isKilled, false)
  })

  test('keeps its worker from being retired', async () => {
    const cancelGrace = Number.POSITIVE_INFINITY
    const { pool, run, backend, clock } = fakePool({ minThreads: 0, idleTimeout: 10, cancelGrace })
    const controller = new AbortController()
    run('cancelled', { signal: controller.signal })
    backend.newest.ready()
    const message = backend.newest.begin()!
    controller.abort()
    clock.advance(1000)
    assert.equal(backend.newest.isKilled, false)
    over(backend.newest, message)
    clock.advance(10)
    assert.equal(told(backend.newest, 'end').length, 1)
    assert.equal(pool.workers.length, 0)
  })

  test('whose worker dies meanwhile is told once, and its place is free again', async () => {
    const { link, backend, run, cancel, pass, pool } = setUp()
    await cancel()
    const next = run('next')
    link.exit(3)
    backend.newest.ready()
    backend.newest.work()
    await pass(1000)
    assert.equal(next.value, 'next')
    assert.equal(backend.newest.isKilled, false)
    assert.equal(pool.stats().tasks.cancelled, 1)
  })

  test('has a reason of any kind: what cannot be sent is replaced', async () => {
    const { link, cancel, task } = setUp()
    const reason = { callback: () => {} }
    await cancel(reason)
    assert.equal(task.error.reason, reason)
    assert.equal(told(link, 'cancel').length, 1)
  })
})

describe('beside a cancelled task', () => {
  const options = { concurrentTasksPerWorker: 3 }

  test('tasks are let finish after its grace, while the event loop of their worker turns', async () => {
    const { link, others, begun, cancel, pass, run, backend } = setUp(options, 2)
    await cancel()
    await pass(100)
    const next = run('next')
    assert.equal(told(link, 'ask').length, 1)
    for (let round = 0; round < 5; round++) {
      link.say({ kind: 'alive' })
      await pass(1000)
    }
    assert.deepEqual([told(link, 'ask').length, link.isKilled], [6, false])
    assert.deepEqual(link.payloads, ['cancelled', 0])
    link.done(begun[1]!, 'finished')
    await microtasks()
    assert.equal(others[0]!.value, 'finished')
    assert.equal(link.isKilled, true)
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.equal(next.value, 'next')
  })

  test('tasks are let finish when the whole process was held, and the worker had no time to say that it lives', async () => {
    const { link, others, begun, cancel, pass, clock } = setUp(options, 2)
    await cancel()
    await pass(100)
    clock.stall(60_000)
    clock.turn()
    link.say({ kind: 'alive' })
    await pass(900)
    assert.equal(link.isKilled, false)
    link.done(begun[1]!, 'finished')
    await microtasks()
    assert.equal(others[0]!.value, 'finished')
  })

  test('tasks reject when its thread is stuck, and are told why', async () => {
    const { link, others, cancel, pass } = setUp(options, 2)
    await cancel()
    await pass(100)
    await pass(999)
    assert.equal(link.isKilled, false)
    await pass(1)
    assert.equal(link.isKilled, true)
    assert.equal(others[0]!.error.code, 'ERR_LIDO_WORKER_EXIT')
    assert.match(others[0]!.error.cause.message, /cancelled task/)
  })

  test('tasks that have not begun go back to where they stood', async () => {
    const { link, others, begun, cancel, pass, run, backend } = setUp(options, 2)
    const waits = run('waits')
    const behind = run('behind')
    await cancel()
    await pass(100)
    // Taken back: the worker finds nothing to begin.
    assert.equal(link.begin(), null)
    link.done(begun[1]!, 'finished')
    await microtasks()
    backend.newest.ready()
    assert.equal(backend.newest.work(), 'waits')
    assert.equal(backend.newest.work(), 'behind')
    await microtasks()
    assert.deepEqual([others[0]!.value, waits.value, behind.value], ['finished', 'waits', 'behind'])
  })

  test('a task whose payload was moved there is still begun there', async () => {
    const { link, begun, cancel, pass, run } = setUp(options, 2)
    const moved = run('moved', { transferList: [new ArrayBuffer(1)] })
    await cancel()
    await pass(100)
    link.say({ kind: 'alive' })
    link.done(begun[1]!)
    assert.equal(link.isKilled, false)
    assert.equal(link.work(), 'moved')
    await microtasks()
    assert.equal(moved.value, 'moved')
    assert.equal(link.isKilled, true)
  })

  test('a worker that is to end does so though its cancelled handler ends after all', async () => {
    const { link, begun, cancel, pass } = setUp(options, 2)
    await cancel()
    await pass(100)
    over(link, begun[0]!)
    assert.equal(link.isKilled, false)
    link.done(begun[1]!)
    assert.equal(link.isKilled, true)
  })
})

describe('the end of the pool', () => {
  test('by close() waits for the handler of a cancelled task', async () => {
    const { link, pool, message, cancel, pass } = setUp()
    await cancel()
    let report: unknown = null
    void pool.close().then(given => {
      report = given
    })
    await pass(50)
    assert.equal(report, null)
    over(link, message)
    await pass(0)
    assert.deepEqual(report, { cutOff: 0, timedOut: false })
  })

  test('by close() waits no longer than its grace', async () => {
    const { link, pool, cancel, pass, clock } = setUp()
    await cancel()
    const closed = pool.close()
    await pass(100)
    assert.equal(link.isKilled, true)
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    assert.deepEqual([clock.heldAnchors, clock.pending], [0, []])
  })

  test('by destroy() waits for none', async () => {
    const { link, pool, cancel, clock } = setUp()
    await cancel()
    await pool.destroy()
    assert.equal(link.hasEnded, true)
    assert.equal(clock.heldAnchors, 0)
    assert.ok(clock.pending.length <= 1, 'no more than the moment in which the process is kept alive')
  })
})
