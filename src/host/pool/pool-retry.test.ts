// Tasks that may be run again: once more after a worker's death, in their old place, and never for ever.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WorkerBell } from '../../shared/lane/doorbell.js'
import { laneIn } from '../../shared/lane/layout.js'
import { LaneClaims } from '../../shared/lane/task-lane.js'
import type { FakeLink } from '../../testing/fake-backend.js'
import { readyPool } from '../../testing/fake-pool.js'
import { microtasks } from '../../testing/stand-ins.js'
import { PriorityQueue } from '../queue/priority-queue.js'

const retry = { attempts: 3 }

function die(link: FakeLink, exitCode = 1): void {
  link.begin()
  link.exit(exitCode)
}

function beginInLane({ spec: { road } }: FakeLink): void {
  if (road.kind !== 'lane') return
  const claims = new LaneClaims(laneIn(road.lane), road.workerId, new WorkerBell(road.desk))
  assert.ok(claims.tickets.begin(claims.claim(0), road.workerId))
}

describe('a task with retry', () => {
  test('runs again when its worker died, before what was submitted after it', async () => {
    const { backend, links, run } = readyPool()
    const tasks = [run('first', { retry }), run('second')]
    die(links[0]!)
    backend.newest.ready()
    assert.deepEqual([backend.newest.work(), backend.newest.work()], ['first', 'second'])
    await microtasks()
    assert.deepEqual(
      tasks.map(({ value }) => value),
      ['first', 'second'],
    )
  })

  for (const [title, fail] of [
    ['its worker died', (link: FakeLink) => die(link)],
    ['its handler failed', (link: FakeLink) => link.failed(link.begin()!, new Error('busy'))],
  ] as const) {
    test(`leaves its place to what is more urgent, where ${title} (queue: PriorityQueue)`, () => {
      const { backend, links, run } = readyPool({ queue: new PriorityQueue() })
      run('low', { retry: { attempts: 3, when: () => true } })
      run('lowest', { priority: -1 })
      run('urgent', { priority: 1 })
      fail(links[0]!)
      if (backend.newest !== links[0]) backend.newest.ready()
      const order = [0, 1, 2].map(() => backend.newest.work())
      assert.deepEqual(order, ['urgent', 'low', 'lowest'])
    })
  }

  test('may be cancelled by who is asked whether it is to run again', async () => {
    const controller = new AbortController()
    const when = () => {
      controller.abort('enough')
      return true
    }
    const { links, run } = readyPool()
    const task = run(1, { signal: controller.signal, retry: { attempts: 3, when } })
    links[0]!.failed(links[0]!.begin()!, new Error('busy'))
    await microtasks()
    assert.deepEqual([task.error.reason, links[0]!.begin()], ['enough', null])
  })

  test('is not asked about by the end of its pool', async () => {
    let asked = 0
    const { links, pool, run } = readyPool()
    const task = run(1, { retry: { attempts: 3, when: () => ++asked > 0 } })
    links[0]!.begin()
    await pool.destroy()
    assert.deepEqual([asked, task.error.code], [0, 'ERR_LIDO_POOL_CLOSED'])
  })

  test('is in flight while when is asked', () => {
    const { pool, backend, links, run } = readyPool({ concurrentTasksPerWorker: 2 })
    const seen: number[][] = []
    const when = () => {
      const { waiting, inFlight } = pool.stats().tasks
      return seen.push([waiting, inFlight]) > 0
    }
    for (const name of ['a', 'b', 'c']) run(name, { retry: { attempts: 3, when } })
    links[0]!.failed(links[0]!.begin()!, new Error('busy'))
    links[0]!.begin()
    links[0]!.begin()
    links[0]!.exit(1)
    backend.newest.ready()
    assert.deepEqual(seen, [
      [1, 2],
      [1, 2],
      [1, 2],
    ])
    const { waiting, inFlight } = pool.stats().tasks
    assert.deepEqual([waiting, inFlight], [1, 2])
  })

  for (const lane of [true, false]) {
    test(`has been with a worker, if it is cancelled before its next run (lane: ${lane})`, async () => {
      const { pool, links, run } = readyPool({ lane })
      const controller = new AbortController()
      const { signal } = controller
      const task = run('x', { signal, retry: { attempts: 3 } })
      const never = run('y', { signal })
      const [link] = links
      if (link!.spec.road.kind === 'lane') beginInLane(link!)
      else link!.begin()
      link!.exit(1)
      controller.abort('enough')
      await microtasks()
      assert.deepEqual([task.error.reason, never.error.reason], ['enough', 'enough'])
      assert.equal(pool.stats().tasks.completed, 1)
    })
  }

  test('that ends each worker it meets is quarantined; the next task runs', async () => {
    const { backend, run, clock } = readyPool()
    const poison = run('poison', { retry })
    const next = run('next')
    for (let deaths = 1; deaths <= 3; deaths++) {
      assert.equal(poison.state, 'pending')
      if (deaths > 1) backend.newest.ready()
      die(backend.newest, deaths)
      clock.advance(1000)
      await microtasks()
    }
    assert.deepEqual(
      [poison.error.code, poison.error.workers, poison.error.cause.exitCode],
      ['ERR_LIDO_TASK_QUARANTINED', 3, 3],
    )
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.equal(next.value, 'next')
  })

  test('may take it from the pool, and a call may say otherwise', async () => {
    const { backend, links, run } = readyPool({ maxThreads: 2, retry })
    const tasks = [run('again'), run('once', { retry: { attempts: 1 } })]
    for (const link of links) die(link)
    backend.newest.ready()
    assert.equal(backend.newest.work(), 'again')
    await microtasks()
    assert.deepEqual([tasks[0]!.value, tasks[1]!.error.code], ['again', 'ERR_LIDO_WORKER_EXIT'])
  })

  test('runs again for what its handler threw, when when says so', async () => {
    const { links, run } = readyPool()
    const when = (error: unknown) => (error as Error).message === 'busy'
    const task = run('x', { retry: { attempts: 5, when } })
    links[0]!.failed(links[0]!.begin()!, new Error('busy'))
    links[0]!.failed(links[0]!.begin()!, new Error('wrong'))
    await microtasks()
    assert.equal(task.error.message, 'wrong')
  })

  for (const answer of [true, false]) {
    test(`whose when cancels it and its neighbours is cancelled, as they are (${answer})`, async () => {
      const { pool, links, run } = readyPool({ concurrentTasksPerWorker: 3 })
      const batch = new AbortController()
      let asked = 0
      const when = () => {
        asked++
        batch.abort('fatal')
        return answer
      }
      const options = { retry: { attempts: 3, when }, signal: batch.signal }
      const tasks = [run('a', options), run('b', options), run('c', options)]
      links[0]!.begin()
      links[0]!.begin()
      links[0]!.exit(1)
      await microtasks()
      assert.deepEqual(
        tasks.map(({ error }) => error.reason),
        ['fatal', 'fatal', 'fatal'],
      )
      assert.deepEqual([asked, pool.stats().tasks.inFlight, pool.queueSize], [1, 0, 0])
    })
  }

  test('is still run again while the pool closes', async () => {
    const { pool, backend, links, run } = readyPool()
    const task = run('x', { retry })
    const closed = pool.close()
    die(links[0]!)
    backend.newest.ready()
    backend.newest.work()
    assert.deepEqual(await closed, { cutOff: 0, timedOut: false })
    assert.equal(task.value, 'x')
  })

  test('is not run again when the pool is destroyed', async () => {
    const { pool, links, run } = readyPool()
    const task = run('x', { retry })
    links[0]!.begin()
    await pool.destroy()
    assert.equal(task.error.code, 'ERR_LIDO_POOL_CLOSED')
  })

  test('whose signal is aborted while it waits for its next run is cancelled', async () => {
    const { backend, links, run } = readyPool()
    const controller = new AbortController()
    const task = run('x', { retry, signal: controller.signal })
    die(links[0]!)
    controller.abort('enough')
    await microtasks()
    assert.deepEqual([task.error.code, task.error.reason], ['ERR_LIDO_TASK_CANCELLED', 'enough'])
    backend.newest.ready()
    assert.equal(backend.newest.work(), null)
  })

  test('and a payload that is moved is refused, and the payload stays whole', async () => {
    const { run } = readyPool()
    const buffer = new ArrayBuffer(8)
    const task = run(buffer, { retry, transferList: [buffer] })
    await microtasks()
    assert.deepEqual(
      [task.error.code, task.error.option, buffer.byteLength],
      ['ERR_LIDO_INVALID_TASK', 'retry', 8],
    )
  })

  test('of the pool does not concern a payload that is moved', async () => {
    const { links, run } = readyPool({ retry })
    const buffer = new ArrayBuffer(8)
    const task = run(buffer, { transferList: [buffer] })
    die(links[0]!)
    await microtasks()
    assert.equal(task.error.code, 'ERR_LIDO_WORKER_EXIT')
  })
})

describe('the circuit of a pool', () => {
  test('answers each call with the limit while it is open, then tries one worker, and closes when that is ready', async () => {
    const { pool, backend, run, clock } = readyPool({ minThreads: 0, restart: { failures: 2, pause: 5000 } })
    const fail = () => backend.newest.startFailed(new Error('broken'))
    const waited = run(1)
    fail()
    clock.advance(100)
    const second = run(2)
    fail()
    clock.advance(1)
    const refused = [run(3), run(4)]
    await microtasks()
    assert.deepEqual(
      [waited, second, ...refused].map(({ error }) => error.code),
      ['ERR_LIDO_WORKER_START', 'ERR_LIDO_WORKER_START', 'ERR_LIDO_RESTART_LIMIT', 'ERR_LIDO_RESTART_LIMIT'],
    )
    assert.equal(refused[0]!.error.retryAfter, 4999)
    assert.equal(backend.links.length, 2)
    clock.advance(4999)
    const tried = run(5)
    assert.equal(backend.links.length, 3)
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.deepEqual([tried.value, pool.workers.length], [5, 1])
  })

  test('while one worker lives calls are served, and the others come back by themselves', async () => {
    const { pool, backend, links, run, clock } = readyPool({
      maxThreads: 2,
      restart: { failures: 1, pause: 200 },
    })
    links[1]!.exit(1)
    backend.newest.startFailed(new Error('broken for now'))
    const task = run('served')
    links[0]!.work()
    await microtasks()
    assert.deepEqual([task.value, pool.workers.length], ['served', 1])
    clock.advance(200)
    backend.newest.ready()
    assert.equal(pool.workers.length, 2)
  })
})
