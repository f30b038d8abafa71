// Workers are replaced while the pool works: asked for, too old, too large, or done with all they may begin.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FakeBackend, FakeLink } from '../../testing/fake-backend.js'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks, watch } from '../../testing/stand-ins.js'

/** Lets each worker that is started be ready, and notes the most that were alive. */
function startsWell(backend: FakeBackend): { most: number } {
  const seen = { most: backend.alive.length }
  backend.onStart = link => {
    seen.most = Math.max(seen.most, backend.alive.length)
    link.ready()
  }
  return seen
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await microtasks()
}

describe('recycle()', () => {
  test('replaces every worker, with one more than before at most', async () => {
    const { pool, backend, links } = readyPool({ maxThreads: 3 })
    const seen = startsWell(backend)
    await pool.recycle()
    assert.deepEqual(
      links.map(link => [link.hasEnded, link.isAskedToEnd, link.isKilled]),
      links.map(() => [true, true, false]),
    )
    assert.deepEqual([backend.alive.length, pool.workers.length, seen.most], [3, 3, 4])
  })

  test('keeps the old worker until the new one is ready', async () => {
    const { pool, backend, links, run } = readyPool()
    const recycled = watch(pool.recycle())
    await settled()
    assert.deepEqual([backend.alive.length, links[0]!.isAskedToEnd], [2, false])
    const task = run('meanwhile')
    links[0]!.work()
    await settled()
    assert.equal(task.value, 'meanwhile')
    backend.newest.ready()
    await settled()
    assert.deepEqual([recycled.state, links[0]!.hasEnded], ['fulfilled', true])
  })

  test('lets a worker finish what it has begun and takes back what it has not', async () => {
    const { pool, backend, links, run } = readyPool({ concurrentTasksPerWorker: 2 })
    const [begun, waiting] = [run('begun'), run('waiting')]
    const message = links[0]!.begin()!
    startsWell(backend)
    const recycled = watch(pool.recycle())
    await settled()
    assert.equal(backend.newest.work(), 'waiting')
    assert.equal(links[0]!.isAskedToEnd, false)
    links[0]!.done(message, 'finished')
    await settled()
    assert.deepEqual([begun.value, waiting.value, recycled.state], ['finished', 'waiting', 'fulfilled'])
  })

  test('makes no room known that what is taken back needs', async () => {
    const { pool, backend, run } = readyPool({ maxQueue: 1 })
    const tasks = [run('first'), run('second')]
    tasks.push(watch(pool.room().then(() => pool.run('third'))))
    void pool.recycle()
    await settled()
    backend.newest.ready()
    for (let task = 0; task < 3; task++) {
      await settled()
      backend.newest.work()
    }
    await settled()
    assert.deepEqual(
      tasks.map(({ value }) => value),
      ['first', 'second', 'third'],
    )
  })

  test('does not take back what was moved to a worker: it runs there', async () => {
    const { pool, backend, links, run } = readyPool()
    const task = run(new ArrayBuffer(1), { transferList: [] })
    const buffer = new ArrayBuffer(1)
    links[0]!.work()
    const moved = run(buffer, { transferList: [buffer] })
    startsWell(backend)
    const recycled = watch(pool.recycle())
    await settled()
    links[0]!.work()
    await settled()
    assert.deepEqual([task.state, moved.state, recycled.state], ['fulfilled', 'fulfilled', 'fulfilled'])
  })

  test('joins one that is under way', async () => {
    const { pool, backend } = readyPool({ maxThreads: 2 })
    startsWell(backend)
    await Promise.all([pool.recycle(), pool.recycle()])
    assert.equal(backend.links.length, 4)
  })

  test('rejects when the new worker does not start; the old ones stay and work', async () => {
    const { pool, backend, links, run } = readyPool({ maxThreads: 2 })
    const recycled = watch(pool.recycle())
    backend.newest.startFailed(new Error('broken since'))
    await settled()
    assert.equal(recycled.error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(recycled.error.cause.message, 'broken since')
    const task = run('still')
    links[0]!.work()
    await settled()
    assert.deepEqual([task.value, pool.workers.length], ['still', 2])
  })

  test('rejects when no new worker can be had, and replaces none', async () => {
    const { pool, backend, links } = readyPool({ maxThreads: 3 })
    const { start } = backend
    backend.start = () => {
      backend.start = start
      throw new Error('no thread can be had')
    }
    const recycled = watch(pool.recycle())
    await settled()
    assert.equal(recycled.error.code, 'ERR_LIDO_WORKER_START')
    assert.deepEqual(backend.alive, links)
  })

  test('ends a worker that still starts and holds nothing without waiting for its file', () => {
    const { pool, backend } = fakePool()
    void pool.recycle()
    backend.newest.ready()
    assert.deepEqual([backend.links.length, backend.links[0]!.isAskedToEnd], [2, true])
  })

  test('like a call, starts none while one too many is there, that run their teardown counted', async () => {
    const { pool, backend, clock, run } = fakePool({ minThreads: 0, maxThreads: 1, idleTimeout: 100 })
    for (const started of [1, 2]) {
      run(started)
      assert.equal(backend.links.length, started)
      backend.newest.ready()
      backend.newest.work()
      backend.newest.isObedient = false
      if (started === 1) clock.advance(100)
    }
    void pool.recycle()
    assert.equal(backend.links.length, 2)
    clock.advance(100)
    run(3)
    assert.deepEqual([backend.links.length, backend.alive.length], [2, 2])
    backend.links[0]!.exit(0)
    assert.equal(backend.links.length, 3)
  })

  test('comes to an end where a start takes longer than idleTimeout', async () => {
    const { pool, backend, links, clock, run } = readyPool({ idleTimeout: 10 })
    run('keeps it busy')
    links[0]!.begin()
    const recycled = watch(pool.recycle())
    clock.advance(100)
    links[0]!.done(links[0]!.runs[0]!)
    clock.advance(100)
    await settled()
    assert.deepEqual(
      [backend.links.length, backend.newest.isAskedToEnd, links[0]!.isAskedToEnd],
      [2, false, false],
    )
    backend.newest.ready()
    await settled()
    assert.deepEqual([recycled.state, links[0]!.hasEnded], ['fulfilled', true])
  })

  test('of a pool without workers resolves at once', async () => {
    const { pool, backend } = fakePool({ minThreads: 0 })
    await pool.recycle()
    assert.equal(backend.links.length, 0)
  })

  test('goes on when the old worker dies before the new one is ready', async () => {
    const { pool, backend, links } = readyPool({ maxThreads: 2 })
    const recycled = watch(pool.recycle())
    links[0]!.exit(1)
    const seen = startsWell(backend)
    backend.newest.ready()
    await settled()
    assert.equal(recycled.state, 'fulfilled')
    assert.ok(links.every(link => link.hasEnded))
    assert.equal(backend.alive.length, 2)
    assert.ok(seen.most <= 3)
  })

  test('starts another new worker when one was ended before it was ready', async () => {
    const { pool, backend, links, clock } = readyPool()
    const recycled = watch(pool.recycle())
    void pool.workers[1]!.terminate()
    clock.advance(250)
    clock.turn()
    await settled()
    assert.deepEqual([backend.links.length, links[0]!.isAskedToEnd], [3, false])
    backend.newest.ready()
    await settled()
    assert.deepEqual([recycled.state, links[0]!.hasEnded, backend.alive.length], ['fulfilled', true, 1])
  })

  test('goes on when the worker dies while it leaves, and its task is told', async () => {
    const { pool, backend, links, run } = readyPool()
    const task = run(1)
    links[0]!.begin()
    startsWell(backend)
    const recycled = watch(pool.recycle())
    await settled()
    links[0]!.exit(5)
    await settled()
    assert.deepEqual([task.error.exitCode, recycled.state, backend.alive.length], [5, 'fulfilled', 1])
  })

  for (const end of ['close', 'destroy'] as const) {
    test(`rejects when ${end}() comes meanwhile, and afterwards`, async () => {
      const { pool, backend, clock } = readyPool({ maxThreads: 2 })
      const recycled = watch(pool.recycle())
      const ended = pool[end]()
      // What a worker gets that may be loading.
      clock.advance(250)
      clock.turn()
      await ended
      assert.equal(recycled.error.code, 'ERR_LIDO_POOL_CLOSED')
      assert.equal(backend.alive.length, 0)
      await assert.rejects(pool.recycle(), { code: 'ERR_LIDO_POOL_CLOSED' })
    })
  }
})

describe('reload()', () => {
  test('also replaces what a recycle started before it', async () => {
    const { pool, backend } = readyPool()
    const recycled = watch(pool.recycle())
    const before = backend.newest
    const reloaded = watch(pool.reload())
    startsWell(backend)
    before.ready()
    await settled()
    assert.deepEqual([recycled.state, reloaded.state, before.hasEnded], ['fulfilled', 'fulfilled', true])
    assert.equal(backend.alive.length, 1)
  })

  test('ends the pause after starts that failed', async () => {
    const { pool, backend, run } = fakePool({ restart: { failures: 1 } })
    backend.newest.startFailed(new Error('broken'))
    await settled()
    await pool.reload()
    assert.equal(backend.links.length, 2)
    const task = run('mended')
    backend.newest.ready()
    backend.newest.work()
    await settled()
    assert.equal(task.value, 'mended')
  })
})

describe('a planned end', () => {
  test('of a worker that says it leaves: another takes what it had not begun, before it has ended', async () => {
    const { backend, links, run } = readyPool({ concurrentTasksPerWorker: 3 })
    const tasks = ['a', 'b', 'c'].map(payload => run(payload))
    const message = links[0]!.begin()!
    startsWell(backend)
    links[0]!.say({ kind: 'leaving' })
    await settled()
    assert.deepEqual([backend.newest.work(), backend.newest.work()], ['b', 'c'])
    assert.equal(links[0]!.isAskedToEnd, false)
    links[0]!.done(message, 'a')
    await settled()
    assert.deepEqual([tasks.map(({ value }) => value), links[0]!.hasEnded], [['a', 'b', 'c'], true])
  })

  test('at its age replaces a worker, which sleeps or works', async () => {
    const { backend, links, clock } = readyPool({ maxThreads: 2, maxWorkerAge: 60_000 })
    const seen = startsWell(backend)
    assert.deepEqual(clock.pending, [60_000])
    clock.advance(59_999)
    assert.equal(backend.links.length, 2)
    clock.advance(1)
    await settled()
    assert.ok(links.every(link => link.hasEnded && !link.isKilled))
    assert.deepEqual([backend.alive.length, seen.most], [2, 3])
    assert.equal(clock.keepsAlive, false)
  })

  test('at its age ends an idle worker that nobody needs', async () => {
    const { backend, run, clock } = fakePool({ minThreads: 0, maxWorkerAge: 1000 })
    run(1)
    backend.newest.ready()
    backend.newest.work()
    await settled()
    clock.advance(1000)
    await settled()
    assert.deepEqual([backend.links.length, backend.alive.length], [1, 0])
  })

  test('at its age replaces no worker of a pool that closes', () => {
    const { pool, backend, links, run, clock } = readyPool({ maxWorkerAge: 1000 })
    run(1)
    links[0]!.begin()
    void pool.close()
    clock.advance(5000)
    assert.equal(backend.links.length, 1)
  })

  test('of one that has begun all that it may finds another started while it works', () => {
    const { backend, links, run } = readyPool({ maxTasksPerWorker: 1 })
    run(1)
    links[0]!.begin()
    links[0]!.say({ kind: 'leaving' })
    assert.equal(backend.links.length, 2)
  })

  test('of one that nobody needs comes so long after its start, however long that took', () => {
    const { backend, run, clock } = fakePool({ minThreads: 0, idleTimeout: 100 })
    const controller = new AbortController()
    run(1, { signal: controller.signal })
    controller.abort()
    clock.advance(500)
    backend.newest.ready()
    clock.advance(99)
    assert.equal(backend.newest.isAskedToEnd, false)
    clock.advance(1)
    assert.equal(backend.newest.isAskedToEnd, true)
  })

  test('at its age replaces a busy worker that nobody would need, were it idle', () => {
    const { backend, run, clock } = fakePool({ minThreads: 0, maxWorkerAge: 1000 })
    run(1)
    backend.newest.ready()
    backend.newest.begin()
    clock.advance(1000)
    assert.equal(backend.links.length, 2)
  })

  test('of one that holds too much memory waits for its replacement', async () => {
    const { backend, links } = readyPool({ maxWorkerMemory: 2 ** 26 })
    assert.deepEqual(links[0]!.spec.limits, { tasks: Number.POSITIVE_INFINITY, bytes: 2 ** 26 })
    links[0]!.say({ kind: 'heavy' })
    links[0]!.say({ kind: 'heavy' })
    await settled()
    assert.deepEqual([backend.links.length, links[0]!.isAskedToEnd], [2, false])
    backend.newest.ready()
    await settled()
    assert.equal(links[0]!.hasEnded, true)
  })
})

describe('a teardown', () => {
  const open = async (isKnown: boolean) => {
    const made = readyPool({ teardownTimeout: 3000 })
    const link = made.links[0]! as FakeLink
    link.isObedient = false
    if (isKnown) link.say({ kind: 'hasTeardown' })
    const closed = watch(made.pool.close())
    await settled()
    assert.deepEqual([link.isAskedToEnd, link.isKilled], [true, false])
    return { ...made, link, closed }
  }

  test('that hangs is waited for until its time is over; then its worker is killed, and that is told', async () => {
    const { link, clock, closed, errors } = await open(true)
    clock.advance(2999)
    assert.equal(link.isKilled, false)
    clock.advance(1)
    clock.turn()
    await settled()
    assert.deepEqual([link.isKilled, closed.state], [true, 'fulfilled'])
    assert.equal((errors[0] as { code: string }).code, 'ERR_LIDO_TEARDOWN')
  })

  test('that throws is told; the worker ends all the same', async () => {
    const { link, closed, errors } = await open(true)
    const thrown = new RangeError('not torn down')
    link.failTeardown(thrown)
    link.exit(0)
    await settled()
    assert.equal(closed.state, 'fulfilled')
    assert.match((errors[0] as Error).message, /RangeError: not torn down/)
  })

  test('is cut short by destroy()', async () => {
    const { pool, link, closed } = await open(true)
    await pool.destroy()
    assert.deepEqual([link.isKilled, closed.state], [true, 'fulfilled'])
  })

  test('that is not there costs no such time', async () => {
    const { link, clock } = await open(false)
    clock.advance(1000)
    clock.turn()
    assert.equal(link.isKilled, true)
  })

  describe('of a worker that is still loading its file', () => {
    const endWhileLoading = async (options = {}) => {
      const made = fakePool({ teardownTimeout: 3000, ...options })
      const link = made.backend.newest
      link.isObedient = false
      const closed = watch(made.pool.close())
      await settled()
      assert.deepEqual([link.isAskedToEnd, link.isStopped], [true, false])
      return { ...made, link, closed }
    }

    test('has its time, when the file is loaded soon', async () => {
      const { link, clock, closed, errors } = await endWhileLoading()
      clock.advance(249)
      link.say({ kind: 'hasTeardown' })
      clock.advance(2999)
      assert.equal(link.isKilled, false)
      link.exit(0)
      await settled()
      assert.deepEqual([closed.state, errors, clock.pending], ['fulfilled', [], []])
    })

    test('that hangs is told', async () => {
      const { link, clock, closed, errors } = await endWhileLoading()
      link.say({ kind: 'hasTeardown' })
      clock.advance(3000)
      clock.turn()
      await settled()
      assert.deepEqual([link.isKilled, closed.state], [true, 'fulfilled'])
      assert.equal((errors[0] as { code: string }).code, 'ERR_LIDO_TEARDOWN')
    })

    test('that crashes its process is told', async () => {
      const { link, errors } = await endWhileLoading()
      link.say({ kind: 'hasTeardown' })
      link.exit(1, undefined, 'SIGSEGV')
      await settled()
      assert.equal((errors[0] as { code: string }).code, 'ERR_LIDO_TEARDOWN')
    })

    test('is not waited for when the file is not', async () => {
      const { link, clock, closed, errors } = await endWhileLoading()
      clock.advance(250)
      clock.turn()
      await settled()
      assert.deepEqual([link.isKilled, closed.state, errors], [true, 'fulfilled', []])
    })

    test('did not fail when its process crashes before the file is there', async () => {
      const { link, closed, errors } = await endWhileLoading()
      link.exit(1, undefined, 'SIGSEGV')
      await settled()
      assert.deepEqual([closed.state, errors], ['fulfilled', []])
    })

    test('did not fail when the file does', async () => {
      const { link, closed, errors } = await endWhileLoading()
      link.startFailed(new SyntaxError('does not load'))
      await settled()
      assert.deepEqual([closed.state, errors], ['fulfilled', []])
    })

    test('has its time although the host was too busy to hear of it', async () => {
      const { link, clock } = await endWhileLoading()
      clock.stall(400)
      link.say({ kind: 'hasTeardown' })
      clock.turn()
      assert.equal(link.isKilled, false)
    })

    test('is cut short by destroy(): the worker is asked to stop, since it may be reading a file', async () => {
      const { pool, link, clock } = await endWhileLoading()
      clock.advance(200)
      void pool.destroy()
      assert.deepEqual([link.isStopped, link.isKilled], [true, false])
      clock.advance(49)
      void pool.destroy()
      clock.advance(1)
      clock.turn()
      assert.equal(link.isKilled, true, 'each call of destroy() puts its end off')
    })

    test('is not begun after closeTimeout', async () => {
      const { link, clock, closed } = await endWhileLoading({ closeTimeout: 50 })
      clock.advance(50)
      clock.turn()
      clock.turn()
      assert.deepEqual([link.isStopped, link.isKilled], [true, false])
      link.say({ kind: 'hasTeardown' })
      clock.advance(200)
      clock.turn()
      await settled()
      assert.deepEqual([link.isKilled, closed.state], [true, 'fulfilled'])
    })
  })

  test('is cut short by terminate()', async () => {
    const { pool, links } = readyPool({ teardownTimeout: Number.POSITIVE_INFINITY })
    const [link] = links as [FakeLink]
    const [view] = pool.workers
    link.isObedient = false
    link.say({ kind: 'hasTeardown' })
    void pool.close()
    await settled()
    assert.deepEqual([link.isAskedToEnd, link.isKilled], [true, false])
    await view!.terminate()
    assert.equal(link.isKilled, true)
  })
})
