// The limits of a task's time: each counts from its own moment, rejects with its own error, and costs the pool one timer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdTime, resumeTime } from '../../shared/channel/claims.js'
import { TaskCancelledError, TaskTimeoutError } from '../../shared/errors/pool-errors.js'
import type { FakeLink } from '../../testing/fake-backend.js'
import { type FakePool, fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks } from '../../testing/stand-ins.js'

/** Time goes on, the event loop turns, and callers hear of it. */
async function pass({ clock }: FakePool, milliseconds: number): Promise<void> {
  clock.advance(milliseconds)
  clock.turn()
  await microtasks()
}

describe('timeout', () => {
  test('counts from the moment the task begins, however long it has waited', async () => {
    const made = readyPool()
    const task = made.run('slow', { timeout: 50 })
    await pass(made, 500)
    assert.equal(task.state, 'pending')
    made.links[0]!.begin()
    await pass(made, 49)
    assert.equal(task.state, 'pending')
    await pass(made, 2)
    assert.ok(task.error instanceof TaskTimeoutError && task.error instanceof TaskCancelledError)
    assert.deepEqual(
      [task.error.name, task.error.code, task.error.limit, task.error.limitMs, task.error.reason],
      ['TimeoutError', 'ERR_LIDO_TASK_TIMEOUT', 'timeout', 50, undefined],
    )
  })

  test('does not count while a worker has its time held', async () => {
    const made = readyPool()
    const task = made.run('printed', { timeout: 50 })
    const { claims } = made.links[0]!
    const { slot } = made.links[0]!.begin()!
    await pass(made, 40)
    const stamp = holdTime(claims, slot)
    await pass(made, 200)
    resumeTime(claims, slot, stamp, 200)
    await pass(made, 9)
    assert.equal(task.state, 'pending')
    await pass(made, 60)
    assert.equal(task.error.limit, 'timeout')
  })

  test('held or not, a deadline counts', async () => {
    const made = readyPool()
    const task = made.run('printed', { deadline: made.clock.epochNow() + 50 })
    const { claims } = made.links[0]!
    const { slot } = made.links[0]!.begin()!
    holdTime(claims, slot)
    await pass(made, 51)
    assert.equal(task.error.limit, 'deadline')
  })

  test('of the pool is for every call that names none', async () => {
    const made = readyPool({ maxThreads: 2, timeout: 50 })
    const limited = made.run('limited')
    const free = made.run('free', { timeout: Number.POSITIVE_INFINITY })
    for (const link of made.links) link.begin()
    await pass(made, 60)
    assert.deepEqual([limited.state, free.state], ['rejected', 'pending'])
  })

  test('does not reject what was answered in the same turn', async () => {
    const made = readyPool()
    const task = made.run('quick', { timeout: 50 })
    const message = made.links[0]!.begin()!
    // The timer goes off first, the answer comes in before the turn is over.
    made.clock.advance(50)
    made.links[0]!.done(message, 'there')
    made.clock.turn()
    await microtasks()
    assert.equal(task.value, 'there')
  })

  test('is nothing to a host that was busy when the answer came in time', async () => {
    const made = readyPool()
    const task = made.run('quick', { timeout: 50 })
    const message = made.links[0]!.begin()!
    made.clock.advance(5000)
    made.links[0]!.done(message, 'there')
    made.clock.turn()
    await microtasks()
    assert.equal(task.value, 'there')
  })
})

describe('queueTimeout', () => {
  test('takes a task that waits out of the queue, and the others keep their order', async () => {
    const made = readyPool()
    made.run('a')
    const late = made.run('late', { queueTimeout: 20 })
    made.run('b')
    await pass(made, 20)
    assert.deepEqual([late.error.limit, late.error.limitMs], ['queueTimeout', 20])
    made.links[0]!.work()
    assert.deepEqual(made.links[0]!.payloads, ['a', 'b'])
  })

  test('takes back what was handed to a worker that starts, and the worker lives', async () => {
    const made = fakePool()
    const late = made.run('late', { queueTimeout: 20 })
    await pass(made, 20)
    assert.equal(late.error.limit, 'queueTimeout')
    made.backend.newest.ready()
    assert.equal(made.backend.newest.begin(), null)
    assert.equal(made.backend.newest.isKilled, false)
  })

  test('is no matter once the task has begun', async () => {
    const made = readyPool()
    const task = made.run('slow', { queueTimeout: 20 })
    const message = made.links[0]!.begin()!
    await pass(made, 1000)
    made.links[0]!.done(message, 'there')
    await microtasks()
    assert.equal(task.value, 'there')
  })

  for (const [title, fail] of [
    ['its worker died', (link: FakeLink) => link.begin() !== null && link.exit(1)],
    ['its handler failed', (link: FakeLink) => link.failed(link.begin()!, new Error('busy'))],
  ] as const) {
    test(`is no matter once the task has begun, also where ${title} and it waits again`, async () => {
      const made = readyPool()
      const task = made.run('again', { queueTimeout: 20, retry: { attempts: 2, when: () => true } })
      fail(made.links[0]!)
      await pass(made, 1000)
      if (made.backend.newest !== made.links[0]) made.backend.newest.ready()
      made.backend.newest.work()
      await microtasks()
      assert.equal(task.value, 'again')
    })
  }
})

describe('deadline', () => {
  for (const [title, of] of [
    ['a Date', (epoch: number) => new Date(epoch)],
    ['milliseconds of the epoch', (epoch: number) => epoch],
  ] as const) {
    test(`as ${title} rejects what is not done by then, waiting or running`, async () => {
      const made = readyPool()
      const deadline = of(made.clock.epochNow() + 30)
      const running = made.run('running', { deadline })
      const waiting = made.run('waiting', { deadline })
      made.links[0]!.begin()
      await pass(made, 29)
      assert.deepEqual([running.state, waiting.state], ['pending', 'pending'])
      await pass(made, 1)
      for (const { error } of [running, waiting])
        assert.deepEqual([error.limit, error.limitMs], ['deadline', 30])
    })
  }

  test('that has passed refuses the call, and the pool never knows of it', async () => {
    const made = readyPool()
    const task = made.run('late', { deadline: made.clock.epochNow() - 1 })
    await microtasks()
    assert.deepEqual([task.error.limit, task.error.limitMs], ['deadline', 0])
    assert.match(task.error.message, /had passed when it was submitted/)
    assert.equal(made.pool.stats().tasks.accepted, 0)
  })

  test('does not move when the wall clock jumps', async () => {
    const made = readyPool()
    const task = made.run('a', { deadline: made.clock.epochNow() + 100 })
    made.links[0]!.begin()
    made.clock.epochShift += 365 * 86_400_000
    await pass(made, 99)
    assert.equal(task.state, 'pending')
    made.clock.epochShift -= 2 * 365 * 86_400_000
    await pass(made, 1)
    assert.equal(task.error.limit, 'deadline')
  })
})

describe('many limits', () => {
  test('share one timer, and none is left when the pool is closed', async () => {
    const made = readyPool({ timeout: 1000 })
    for (let index = 0; index < 1000; index++) made.run(index, { queueTimeout: 100 + index })
    assert.deepEqual(made.clock.pending, [100])
    await made.pool.destroy()
    assert.deepEqual(
      made.clock.pending.filter(delay => delay >= 100),
      [],
    )
  })

  test('each reject at their own time, whatever the order of the calls', async () => {
    const made = readyPool()
    made.links[0]!.begin()
    const tasks = [30, 10, 20].map(queueTimeout => made.run(queueTimeout, { queueTimeout }))
    made.run('busy')
    const rejected: number[] = []
    for (let at = 1; at <= 30; at++) {
      await pass(made, 1)
      for (const { state, error } of tasks)
        if (state === 'rejected' && !rejected.includes(error.limitMs)) rejected.push(error.limitMs)
      assert.equal(rejected.length, Math.floor(at / 10))
    }
    assert.deepEqual(rejected, [10, 20, 30])
  })

  test('that end together begin none of each other', async () => {
    const made = readyPool()
    made.run('first', { timeout: 10 })
    made.links[0]!.begin()
    for (let index = 0; index < 5; index++) made.run(index, { queueTimeout: 10 })
    await pass(made, 10)
    assert.equal(made.pool.stats().tasks.cancelled, 6)
    assert.deepEqual(made.links[0]!.payloads, ['first'])
  })
})
