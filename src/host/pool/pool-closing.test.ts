// Letting go: in order, with force, in time, or at once. Every accepted task is answered and every thread has ended.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks, watch } from '../../testing/stand-ins.js'
import type { QueuedTask } from '../task/queued-task.js'

describe('close()', () => {
  test('of an idle pool ends its workers and says so', async () => {
    const { pool, links, events, clock } = readyPool({ maxThreads: 2 })
    const report = await pool.close()
    assert.deepEqual(report, { cutOff: 0, timedOut: false })
    for (const link of links) assert.equal(link.hasEnded, true)
    assert.equal(pool.workers.length, 0)
    assert.equal(pool.stats().state, 'closed')
    await microtasks()
    assert.equal(events.filter(name => name === 'close').length, 1)
    assert.equal(clock.heldAnchors, 0)
    assert.deepEqual(clock.pending, [])
  })

  test('waits for every accepted task, those in the queue too', async () => {
    const { pool, links, run } = readyPool()
    const tasks = [run('a'), run('b')]
    const closing = watch(pool.close())
    links[0]!.work()
    await microtasks()
    assert.equal(closing.state, 'pending')
    assert.equal(links[0]!.isKilled, false)
    links[0]!.work()
    await microtasks()
    assert.deepEqual(closing.value, { cutOff: 0, timedOut: false })
    assert.deepEqual(
      tasks.map(({ value }) => value),
      ['a', 'b'],
    )
  })

  test('keeps the process alive until it is done', async () => {
    const { pool, links, run, clock } = readyPool()
    run('a')
    const closing = pool.close()
    links[0]!.work()
    assert.equal(clock.heldAnchors, 1)
    await closing
    assert.equal(clock.heldAnchors, 0)
  })

  test('keeps the process alive until an idle pool has ended as well', async () => {
    const { pool, clock } = readyPool()
    assert.equal(clock.heldAnchors, 0)
    const closing = pool.close()
    assert.equal(clock.heldAnchors, 1)
    await closing
    assert.equal(clock.heldAnchors, 0)
  })

  test('refuses new tasks and new waiters for room from its first moment', async () => {
    const { pool, run } = readyPool()
    run('a')
    const waiting = watch(pool.room())
    void pool.close()
    const late = run('b')
    const room = watch(pool.room())
    await microtasks()
    assert.deepEqual([late.error.code, late.error.reason], ['ERR_LIDO_POOL_CLOSED', 'closed'])
    assert.equal(room.error.code, 'ERR_LIDO_POOL_CLOSED')
    assert.notEqual(waiting.state, 'pending')
  })

  test('resolves when the threads have ended, not before', async () => {
    const { pool, backend, clock } = fakePool()
    backend.newest.isObedient = false
    const closing = watch(pool.close())
    await microtasks()
    assert.equal(backend.newest.isAskedToEnd, true)
    assert.equal(closing.state, 'pending')
    backend.newest.exit(0)
    await microtasks()
    assert.equal(closing.state, 'fulfilled')
    assert.deepEqual(clock.pending, [])
  })

  test('does not mind a worker that becomes ready when it was told to stop', async () => {
    const { pool, backend } = fakePool()
    const closing = pool.close()
    assert.doesNotThrow(() => backend.newest.ready())
    assert.equal(pool.workers.length, 0)
    backend.newest.exit(0)
    await closing
  })

  test('leaves no timer behind, that of idle workers neither', async () => {
    const { pool, backend, run, clock } = fakePool({ minThreads: 0, idleTimeout: 1000 })
    run('a')
    backend.newest.ready()
    backend.newest.work()
    clock.advance(10)
    assert.deepEqual(clock.pending, [990])
    await pool.close()
    assert.deepEqual(clock.pending, [])
  })

  test('kills a worker that does not stop while it starts, after a little while', async () => {
    const { pool, backend, clock } = fakePool()
    backend.newest.isObedient = false
    const closing = pool.close()
    assert.equal(clock.keepsAlive, true)
    clock.advance(249)
    assert.equal(backend.newest.isKilled, false)
    clock.advance(1)
    assert.equal(backend.newest.isKilled, false, 'what it has said by now is heard first')
    clock.turn()
    assert.equal(backend.newest.isKilled, true)
    await closing
  })

  test('is finished by a cancel, a death or a failed start like by an answer', async () => {
    const controller = new AbortController()
    const cancelled = readyPool()
    cancelled.run('a', { signal: controller.signal })
    const dead = readyPool()
    dead.run('a')
    dead.links[0]!.begin()
    const broken = fakePool({ minThreads: 0 })
    broken.run('a')
    const closing = [cancelled, dead, broken].map(({ pool }) => pool.close())
    controller.abort()
    dead.links[0]!.exit(1)
    broken.backend.newest.startFailed(new Error('bad'))
    await microtasks()
    for (const { clock } of [cancelled, dead, broken]) clock.advance(1000)
    assert.deepEqual(await Promise.all(closing), Array(3).fill({ cutOff: 0, timedOut: false }))
  })

  test('starts workers for what waits, and none after that', async () => {
    const { pool, links, backend, run } = readyPool()
    run('a')
    const waits = run('b')
    links[0]!.begin()
    const closing = pool.close()
    links[0]!.exit(1)
    await microtasks()
    assert.equal(backend.links.length, 2)
    backend.newest.ready()
    backend.newest.work()
    await closing
    assert.equal(waits.value, 'b')
    assert.equal(backend.links.length, 2)
  })

  test('again, together or later, is the same close', async () => {
    const { pool, events } = readyPool()
    const reports = await Promise.all([pool.close(), pool.close(), pool[Symbol.asyncDispose]()])
    assert.deepEqual(reports.slice(0, 2), Array(2).fill({ cutOff: 0, timedOut: false }))
    assert.deepEqual(await pool.close(), { cutOff: 0, timedOut: false })
    await pool.destroy()
    await microtasks()
    assert.equal(events.filter(name => name === 'close').length, 1)
  })

  test('with options that are wrong rejects and closes nothing', async () => {
    const { pool } = readyPool()
    for (const options of [null, 1, [], { force: 1 }, { force: null }, { forced: true }] as never[]) {
      const { code } = await pool.close(options).then(
        () => assert.fail('it closed'),
        (error: { code: string }) => error,
      )
      assert.equal(code, 'ERR_LIDO_INVALID_TASK')
    }
    assert.equal(pool.stats().state, 'open')
  })
})

describe('close({ force: true })', () => {
  test('rejects what waits and lets finish what runs', async () => {
    const { pool, links, run } = readyPool()
    const tasks = [run('a'), run('b'), run('c')]
    links[0]!.begin()
    const closing = pool.close({ force: true })
    await microtasks()
    for (const task of tasks.slice(1)) assert.equal(task.error.reason, 'forced')
    links[0]!.done(links[0]!.runs[0]!, 'a')
    assert.deepEqual(await closing, { cutOff: 2, timedOut: false })
    assert.equal(tasks[0]!.value, 'a')
  })

  test('leaves a queue that needs no drain', async () => {
    const { pool, links, run } = readyPool({ maxQueue: 1 })
    run('a')
    run('b')
    assert.equal(pool.needsDrain, true)
    const closing = pool.close({ force: true })
    assert.equal(pool.needsDrain, false)
    links[0]!.work()
    await closing
  })

  test('may follow a close that takes too long', async () => {
    const { pool, links, run } = readyPool()
    run('a')
    const waits = run('b')
    const closing = pool.close()
    void pool.close({ force: true })
    links[0]!.work()
    assert.deepEqual(await closing, { cutOff: 1, timedOut: false })
    assert.equal(waits.error.reason, 'forced')
  })
})

describe('closeTimeout', () => {
  test('cuts off what still runs and waits, and tells how many', async () => {
    const { pool, links, run, clock } = readyPool({ closeTimeout: 500 })
    const tasks = [run('a'), run('b')]
    links[0]!.begin()
    const closing = pool.close()
    clock.advance(499)
    assert.equal(links[0]!.isKilled, false)
    clock.advance(1)
    clock.turn()
    clock.turn()
    assert.deepEqual(await closing, { cutOff: 2, timedOut: true })
    for (const task of tasks)
      assert.deepEqual([task.error.code, task.error.reason], ['ERR_LIDO_POOL_CLOSED', 'timeout'])
  })

  test('that passes while the host is busy cuts off nothing that was done in time', async () => {
    const { pool, links, run, clock } = readyPool({ closeTimeout: 500 })
    const task = run('a')
    const begun = links[0]!.begin()
    const closing = pool.close()
    clock.advance(2000)
    // Only now it hears of the answer.
    links[0]!.done(begun!, 'a')
    await microtasks()
    clock.turn()
    clock.turn()
    assert.deepEqual(await closing, { cutOff: 0, timedOut: false })
    assert.equal(task.state, 'fulfilled')
  })

  test('Infinity waits for ever', async () => {
    const { pool, run, clock, links } = readyPool({ closeTimeout: Number.POSITIVE_INFINITY })
    run('a')
    const closing = watch(pool.close())
    clock.advance(1e12)
    await microtasks()
    assert.equal(closing.state, 'pending')
    links[0]!.work()
    await microtasks()
    assert.equal(closing.state, 'fulfilled')
  })
})

describe('destroy()', () => {
  test('rejects every task, wherever it stands, and ends every thread', async () => {
    const { pool, links, run, clock } = readyPool({ maxThreads: 2, concurrentTasksPerWorker: 2 })
    const tasks = Array.from({ length: 8 }, (_, payload) => run(payload))
    links[0]!.begin()
    await pool.destroy()
    for (const [index, task] of tasks.entries()) {
      assert.deepEqual(
        [task.error?.code, task.error?.reason],
        ['ERR_LIDO_POOL_CLOSED', 'destroyed'],
        `task ${index}`,
      )
    }
    for (const link of links) assert.equal(link.hasEnded, true)
    assert.equal(clock.heldAnchors, 0)
  })

  test('says the same of a task that was moved to its worker and not begun', async () => {
    const { pool, run } = readyPool()
    const buffer = new ArrayBuffer(1)
    const task = run(buffer, { transferList: [buffer] })
    await pool.destroy()
    assert.equal(task.error.code, 'ERR_LIDO_POOL_CLOSED')
  })

  test('says the same of tasks given to workers that still start', async () => {
    const { pool, run, clock } = fakePool({ maxThreads: 2 })
    const buffer = new ArrayBuffer(1)
    const tasks = [run('a'), run('b', { transferList: [buffer] }), run('c')]
    const destroyed = pool.destroy()
    clock.advance(250)
    clock.turn()
    await destroyed
    for (const task of tasks) assert.equal(task.error.code, 'ERR_LIDO_POOL_CLOSED')
  })

  test('wins over a close under way, which then tells what was cut off', async () => {
    const { pool, run, links } = readyPool()
    const tasks = [run('a'), run('b')]
    links[0]!.begin()
    const closing = pool.close()
    await pool.destroy()
    assert.deepEqual(await closing, { cutOff: 2, timedOut: false })
    for (const task of tasks) assert.equal(task.error.reason, 'destroyed')
  })

  test('may be called again, and together', async () => {
    const { pool, events } = readyPool()
    await Promise.all([pool.destroy(), pool.destroy()])
    await pool.destroy()
    assert.deepEqual(await pool.close(), { cutOff: 0, timedOut: false })
    await microtasks()
    assert.equal(events.filter(name => name === 'close').length, 1)
  })

  test('from a listener, while tasks are being answered, is in order', async () => {
    const { pool, run, links } = readyPool({ maxQueue: 1 })
    let destroyed: Promise<void> | undefined
    pool.on('drain', () => {
      destroyed ??= pool.destroy()
    })
    const tasks = [run('a'), run('b')]
    links[0]!.work()
    await microtasks()
    await destroyed
    assert.equal(tasks[0]!.value, 'a')
    assert.equal(tasks[1]!.error.code, 'ERR_LIDO_POOL_CLOSED')
  })

  test("answers also what a queue of the user's own will not give out", async () => {
    const kept: QueuedTask[] = []
    const queue = {
      get size() {
        return kept.length
      },
      push: (task: QueuedTask) => void kept.push(task),
      shift: () => null,
      remove: (task: QueuedTask) => void kept.splice(kept.indexOf(task), 1),
    }
    const { pool, run } = readyPool({ queue })
    const task = run('a')
    await pool.destroy()
    await microtasks()
    assert.equal(task.state, 'rejected')
  })

  test('a worker that dies meanwhile changes nothing', async () => {
    const { pool, links, run } = readyPool({ maxThreads: 2 })
    const task = run('a')
    links[0]!.begin()
    const destroyed = pool.destroy()
    links[0]!.exit(9)
    await destroyed
    assert.equal(task.error.code, 'ERR_LIDO_POOL_CLOSED')
  })
})
