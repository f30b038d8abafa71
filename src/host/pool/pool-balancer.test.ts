// A load balancer of the user's own: it chooses, it waits, it errs, it lies, and the pool stays whole.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks } from '../../testing/stand-ins.js'
import type { WorkerView } from '../workers/worker-view.js'
import type { Pool } from './pool.js'

async function outcome<T>(watched: T): Promise<T> {
  await microtasks()
  return watched
}

describe('a load balancer', () => {
  test('is shown the task and every worker, and its choice is done', () => {
    const seen: unknown[] = []
    const { links, run, pool } = readyPool({
      maxThreads: 3,
      loadBalancer(task, workers) {
        seen.push([task.payload, workers.map(({ id }) => id)])
        return workers[2]
      },
    })
    run('a')
    assert.deepEqual(seen, [['a', [1, 2, 3]]])
    assert.deepEqual(links[2]!.payloads, ['a'])
    assert.equal(pool.workers[2]!.usage, 1)
  })

  test('may cancel the task that it is asked about, and throw', async () => {
    const controller = new AbortController()
    const { links, run } = readyPool({
      loadBalancer({ signal }, workers) {
        const idle = workers.find(({ isIdle }) => isIdle)
        if (signal === null || idle === undefined) return idle
        controller.abort('enough')
        throw new Error('and this')
      },
    })
    run('first')
    const task = run('cancelled', { signal: controller.signal })
    run('next')
    links[0]!.work()
    assert.equal((await outcome(task)).error.reason, 'enough')
    assert.deepEqual(links[0]!.payloads, ['first', 'next'])
  })

  for (const nothing of [null, undefined]) {
    test(`that gives ${nothing} lets the task wait until a slot is freed`, async () => {
      let mayRun = true
      const { links, run, pool } = readyPool({
        maxThreads: 2,
        loadBalancer: (_task, workers) => (mayRun ? workers.find(({ isIdle }) => isIdle) : nothing),
      })
      run('a')
      mayRun = false
      const task = run('b')
      assert.equal(pool.queueSize, 1)
      mayRun = true
      links[0]!.work()
      assert.equal(pool.queueSize, 0)
      links[0]!.work()
      await microtasks()
      assert.equal(task.value, 'b')
    })
  }

  test('that gives nobody where nothing may wait has the task refused, and it is not counted', async () => {
    const { run, pool } = readyPool({
      maxThreads: 2,
      maxQueue: 0,
      loadBalancer: ({ payload }, [first]) => (payload === 1 ? first : null),
    })
    run(1)
    const task = run(2)
    assert.equal((await outcome(task)).error.code, 'ERR_LIDO_QUEUE_FULL')
    const { accepted, completed, rejected, waiting } = pool.stats().tasks
    assert.deepEqual([accepted, completed, rejected, waiting], [1, 0, 0, 0])
  })

  test('that never chooses cannot stop the pool', async () => {
    const { links, run } = readyPool({ loadBalancer: () => null })
    const tasks = [run('a'), run('b')]
    links[0]!.work()
    links[0]!.work()
    await microtasks()
    assert.deepEqual(
      tasks.map(({ value }) => value),
      ['a', 'b'],
    )
  })

  for (const minThreads of [1, 0]) {
    test(`that throws fails that task alone (minThreads ${minThreads})`, async () => {
      const failure = new Error('no idea')
      let isBroken = true
      const { backend, run, clock, pool } = fakePool({
        minThreads,
        loadBalancer(_task, workers) {
          if (isBroken) throw failure
          return workers[0]
        },
      })
      const task = run('a')
      await microtasks()
      assert.equal(task.error, failure)
      clock.advance(10)
      assert.equal(clock.heldAnchors, 0)
      assert.equal(pool.queueSize, 0)
      isBroken = false
      const next = run('b')
      backend.newest.ready()
      backend.newest.work()
      await microtasks()
      assert.equal(next.value, 'b')
    })
  }

  test('that throws when a slot is freed fails the task that waits, and harms no answer', async () => {
    const failure = new Error('no idea')
    let isBroken = false
    const { links, run } = readyPool({
      loadBalancer(_task, workers) {
        if (isBroken) throw failure
        return workers[0]
      },
    })
    const tasks = [run('a'), run('b')]
    isBroken = true
    links[0]!.work()
    await microtasks()
    assert.deepEqual([tasks[0]!.value, tasks[1]!.error], ['a', failure])
  })

  test('that names a full worker is taken to have chosen nobody', async () => {
    const { links, run, pool } = readyPool({ maxThreads: 2, loadBalancer: (_task, workers) => workers[0] })
    run('a')
    run('waits')
    assert.equal(pool.queueSize, 1)
    assert.deepEqual(
      links.map(({ runs }) => runs.length),
      [1, 0],
    )
  })

  test('that names what is no worker, or promises one, fails that task alone and says so', async () => {
    let answer: (workers: WorkerView[]) => unknown = () => null
    const { links, run, pool } = readyPool({
      maxThreads: 2,
      loadBalancer: (_task, workers) => answer(workers) as WorkerView,
    })
    for (const wrong of [
      async (workers: WorkerView[]) => workers[0],
      (workers: WorkerView[]) => workers[0]!.id,
      (workers: WorkerView[]) => ({ ...workers[0] }),
      () => true,
    ]) {
      answer = wrong
      const { error } = await outcome(run('a'))
      assert.deepEqual([error.code, error.option], ['ERR_LIDO_INVALID_OPTION', 'loadBalancer'])
    }
    answer = workers => workers[1]
    run('b')
    assert.deepEqual([links[0]!.payloads, links[1]!.payloads, pool.queueSize], [[], ['b'], 0])
  })

  test('that names a worker given up long ago is taken to have chosen nobody', async () => {
    let stale: WorkerView | undefined
    const { run, pool, links } = readyPool({
      maxThreads: 2,
      loadBalancer: (_task, workers) => (stale ??= workers[0]),
    })
    run('a')
    links[0]!.work()
    await pool.workers[0]!.terminate()
    run('b')
    assert.equal(pool.stats().tasks.inFlight + pool.queueSize, 1)
  })

  test('is not shown who takes no more tasks, and seems to have room', () => {
    const { links, run, pool } = readyPool({
      maxThreads: 2,
      concurrentTasksPerWorker: 2,
      loadBalancer: (_task, workers) => workers.find(({ usage, slots }) => usage < slots),
    })
    run('a')
    links[0]!.begin()
    links[0]!.say({ kind: 'leaving' })
    run('b')
    assert.deepEqual([pool.workers[0]!.usage, links[1]!.payloads, pool.queueSize], [1, ['b'], 0])
  })

  test('may not put an exclusive task beside others', () => {
    const { links, run, pool } = readyPool({
      concurrentTasksPerWorker: 3,
      loadBalancer: (_task, [first]) => first,
    })
    run('a')
    run('alone', { exclusive: true })
    assert.deepEqual(links[0]!.payloads, ['a'])
    assert.equal(pool.queueSize, 1)
  })

  test('that cancels the task it was asked about harms nobody', async () => {
    const controller = new AbortController()
    const { run, links } = readyPool({
      maxThreads: 2,
      loadBalancer(task, workers) {
        if (task.payload === 'gone') controller.abort()
        return workers.find(({ isIdle }) => isIdle)
      },
    })
    const task = run('gone', { signal: controller.signal })
    const next = run('b')
    await microtasks()
    assert.equal(task.error.name, 'AbortError')
    for (const link of links) link.work()
    await microtasks()
    assert.equal(next.value, 'b')
  })

  test('that destroys the pool harms nobody', async () => {
    const held: { pool?: Pool } = {}
    const { run, pool } = readyPool({
      loadBalancer(_task, workers) {
        void held.pool?.destroy()
        return workers[0]
      },
    })
    held.pool = pool
    const task = run('a')
    await pool.destroy()
    await microtasks()
    assert.equal(task.error.code, 'ERR_LIDO_POOL_CLOSED')
    assert.equal(pool.stats().tasks.inFlight, 0)
  })

  for (const [deed, code] of [
    ['cancels', 'ERR_LIDO_TASK_CANCELLED'],
    ['destroys', 'ERR_LIDO_POOL_CLOSED'],
  ] as const) {
    test(`that ${deed} when a slot is freed does not disturb the answer that freed it`, async () => {
      const controller = new AbortController()
      const held: { pool?: Pool; isArmed?: boolean } = {}
      const { links, run, pool } = readyPool({
        loadBalancer(_task, workers) {
          if (held.isArmed && deed === 'cancels') controller.abort()
          else if (held.isArmed) void held.pool!.destroy()
          return workers[0]
        },
      })
      held.pool = pool
      const answered = run('a')
      const gone = run('b', { signal: controller.signal })
      held.isArmed = true
      assert.doesNotThrow(() => links[0]!.work())
      await microtasks()
      assert.deepEqual([answered.value, gone.error.code], ['a', code])
      assert.equal(pool.stats().tasks.inFlight, 0)
    })
  }

  test('that hands in another task is not asked about it in between', async () => {
    const held: { pool?: Pool } = {}
    const extra: Promise<unknown>[] = []
    const { run, pool, links } = readyPool({
      loadBalancer(task, workers) {
        if (task.payload === 'a') extra.push(held.pool!.run('extra'))
        return workers.find(({ isIdle }) => isIdle)
      },
    })
    held.pool = pool
    run('a')
    assert.deepEqual([links[0]!.work(), links[0]!.work()], ['a', 'extra'])
    assert.equal(await extra[0], 'extra')
  })
})
