// A signal ends its task, wherever the task stands, and nothing else.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks } from '../../testing/stand-ins.js'

function abortable() {
  const controller = new AbortController()
  const { signal } = controller
  return {
    signal,
    abort: (reason?: unknown) => controller.abort(reason),
    listeners: () => getEventListeners(signal, 'abort').length,
  }
}

describe('a cancelled task', () => {
  test('before the call is refused, and never known to the pool', async () => {
    const { run, pool } = readyPool()
    const task = run(1, { signal: AbortSignal.abort('enough') })
    await microtasks()
    assert.deepEqual(
      [task.error.name, task.error.reason, task.error.cause],
      ['AbortError', 'enough', 'enough'],
    )
    assert.equal(pool.stats().tasks.accepted, 0)
  })

  for (const lane of [true, false]) {
    test(`that no worker has begun was with none, as the counts tell (lane: ${lane})`, async () => {
      const { run, pool } = fakePool({ lane })
      const { signal, abort } = abortable()
      const task = run(1, { signal })
      abort('enough')
      await microtasks()
      const { cancelled, completed, waiting, inFlight } = pool.stats().tasks
      assert.equal(task.error.reason, 'enough')
      assert.deepEqual([cancelled, completed, waiting, inFlight], [1, 0, 0, 0])
    })
  }

  test('leaves its place to none that the same signal cancels', async () => {
    const { links, run } = readyPool()
    const { signal, abort } = abortable()
    const tasks = ['a', 'b', 'c'].map(payload => run(payload, { signal }))
    const next = run('next')
    abort('enough')
    links[0]!.work()
    await microtasks()
    assert.deepEqual(links[0]!.payloads, ['a', 'next'])
    assert.deepEqual(
      [...tasks, next].map(({ state }) => state),
      ['rejected', 'rejected', 'rejected', 'fulfilled'],
    )
  })

  test('in the queue never reaches a worker, and the others keep their order', async () => {
    const { links, run, pool } = readyPool()
    const { signal, abort, listeners } = abortable()
    run('a')
    run('b')
    const task = run('gone', { signal })
    run('c')
    abort('enough')
    assert.equal(pool.queueSize, 2)
    await microtasks()
    assert.deepEqual([task.error.code, task.error.reason], ['ERR_LIDO_TASK_CANCELLED', 'enough'])
    for (let count = 0; count < 3; count++) links[0]!.work()
    assert.deepEqual(links[0]!.payloads, ['a', 'b', 'c'])
    assert.equal(listeners(), 0)
  })

  test('next in the queue makes way for the one behind it', () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 2 })
    const { signal, abort } = abortable()
    run('a')
    run('alone', { signal, exclusive: true })
    run('b')
    assert.deepEqual(links[0]!.payloads, ['a'])
    abort()
    links[0]!.work()
    assert.deepEqual(links[0]!.payloads, ['a', 'b'])
  })

  test('next in the queue makes way at once, where there is a free slot', () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 2 })
    const { signal, abort } = abortable()
    run('a')
    run('alone', { signal, exclusive: true })
    run('b')
    abort()
    assert.deepEqual(links[0]!.payloads, ['a', 'b'])
  })

  test('given to a worker that starts is taken back, and the worker lives', async () => {
    const { backend, run } = fakePool()
    const { signal, abort } = abortable()
    const task = run('gone', { signal })
    run('b')
    abort()
    await microtasks()
    assert.equal(task.error.name, 'AbortError')
    backend.newest.ready()
    assert.equal(backend.newest.work(), 'b')
    assert.equal(backend.links.length, 1)
    assert.equal(backend.newest.isKilled, false)
  })

  test('posted and not begun is taken back, and the worker lives', async () => {
    const { links, backend, run } = readyPool()
    const { signal, abort } = abortable()
    const task = run('gone', { signal })
    assert.deepEqual(links[0]!.payloads, ['gone'])
    abort()
    const next = run('b')
    assert.equal(links[0]!.work(), 'b')
    await microtasks()
    assert.deepEqual([task.error.name, next.value], ['AbortError', 'b'])
    assert.equal(backend.links.length, 1)
  })

  test('that runs rejects at once; without a grace its worker ends and is replaced', async () => {
    const { links, backend, run, pool, events } = readyPool({ cancelGrace: 0 })
    const { signal, abort, listeners } = abortable()
    const task = run('runs', { signal })
    const next = run('b')
    links[0]!.begin()
    abort('enough')
    assert.equal(links[0]!.isKilled, true)
    await microtasks()
    assert.deepEqual([task.state, task.error.reason], ['rejected', 'enough'])
    assert.equal(links[0]!.hasEnded, true)
    assert.equal(pool.workers.length, 1)
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.equal(next.value, 'b')
    assert.equal(listeners(), 0)
    assert.equal(events.filter(name => name === 'workerDestroy').length, 1)
  })

  test('that has its answer is not cancelled any more', async () => {
    const { links, run } = readyPool()
    const { signal, abort, listeners } = abortable()
    const task = run(1, { signal })
    links[0]!.work()
    assert.equal(listeners(), 0)
    abort()
    await microtasks()
    assert.equal(task.value, 1)
    assert.equal(links[0]!.isKilled, false)
  })

  test('does not harm the tasks of other workers', async () => {
    const { links, run } = readyPool({ maxThreads: 2 })
    const { signal, abort } = abortable()
    run('gone', { signal })
    const other = run('stays')
    for (const link of links) link.begin()
    abort()
    const run1 = links[1]!.runs[0]!
    links[1]!.done(run1, 'answer')
    await microtasks()
    assert.equal(other.value, 'answer')
    assert.equal(links[1]!.isKilled, false)
  })

  test('is counted, and lets the process end', () => {
    const { run, pool, clock } = readyPool()
    const { signal, abort } = abortable()
    run(1, { signal })
    abort()
    assert.equal(pool.stats().tasks.cancelled, 1)
    clock.advance(10)
    assert.equal(clock.heldAnchors, 0)
  })

  test('makes room', async () => {
    const { run, pool } = readyPool({ maxQueue: 1 })
    const { signal, abort } = abortable()
    run(1)
    run(2, { signal })
    let hasRoom = false
    void pool.room().then(() => {
      hasRoom = true
    })
    await microtasks()
    assert.equal(hasRoom, false)
    abort()
    await microtasks()
    assert.equal(hasRoom, true)
  })
})

describe('one signal for many', () => {
  test('cancels all of them, wherever they stand, with one listener', async () => {
    const { links, run, pool } = readyPool({ maxThreads: 2 })
    const { signal, abort, listeners } = abortable()
    const tasks = Array.from({ length: 10 }, (_, payload) => run(payload, { signal }))
    assert.equal(listeners(), 1)
    links[0]!.begin()
    abort()
    await microtasks()
    for (const task of tasks) assert.equal(task.error.name, 'AbortError')
    assert.equal(pool.queueSize, 0)
    assert.equal(listeners(), 0)
  })

  test('leaves alone those that were rejected on the way', async () => {
    const { run, links } = readyPool()
    const { signal, abort } = abortable()
    const first = run('first', { signal })
    const unsendable = run(() => {}, { signal })
    const last = run('last', { signal })
    assert.deepEqual(links[0]!.payloads, ['first'])
    abort()
    await microtasks()
    assert.equal(first.error.name, 'AbortError')
    assert.equal(last.error.name, 'AbortError')
    assert.equal(unsendable.state, 'rejected')
  })
})

test('a signal that cannot be listened to rejects the call, which is counted out again', async () => {
  const { pool, run, links } = readyPool()
  const signal = {
    aborted: false,
    addEventListener() {
      throw new TypeError('no')
    },
    removeEventListener() {},
  }
  const task = run(1, { signal: signal as never })
  await microtasks()
  assert.equal(task.error.message, 'no')
  assert.deepEqual([pool.stats().tasks.inFlight, pool.stats().tasks.waiting], [0, 0])
  const closing = pool.close()
  links[0]!.exit(0)
  assert.deepEqual(await closing, { cutOff: 0, timedOut: false })
})

for (const lane of [true, false]) {
  test(`a signal that is aborted when it is listened to cancels the call, which waits nowhere (lane: ${lane})`, async () => {
    const { pool, run } = fakePool({ lane })
    const controller = new AbortController()
    const signal = {
      aborted: false,
      addEventListener(...args: Parameters<AbortSignal['addEventListener']>) {
        controller.signal.addEventListener(...args)
        controller.abort()
      },
      removeEventListener() {},
    }
    const task = run(1, { signal: signal as never })
    await microtasks()
    const { cancelled, waiting, inFlight } = pool.stats().tasks
    assert.deepEqual([task.error.name, cancelled, waiting, inFlight], ['AbortError', 1, 0, 0])
  })
}

for (const getter of ['aborted', 'reason']) {
  test(`what a signal throws when it is asked for '${getter}' rejects the call`, async () => {
    const failure = new Error('no')
    const signal = Object.defineProperty(
      { aborted: true, addEventListener() {}, removeEventListener() {} },
      getter,
      {
        get() {
          throw failure
        },
      },
    )
    const task = readyPool().run(1, { signal: signal as never })
    await microtasks()
    assert.equal(task.error, failure)
  })
}
