// Workers die. What they had begun fails with the reason, what they had not goes on elsewhere, and the pool stays whole.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks } from '../../testing/stand-ins.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import type { QueuedTask } from '../task/queued-task.js'

describe('a worker that dies', () => {
  test('fails the task that it had begun, with its exit code', async () => {
    const { links, run } = readyPool()
    const task = run(1)
    links[0]!.begin()
    links[0]!.exit(7)
    await microtasks()
    assert.deepEqual(
      [task.error.code, task.error.exitCode, task.error.workerId],
      ['ERR_LIDO_WORKER_EXIT', 7, 1],
    )
  })

  test('of an error fails the begun task with that error', async () => {
    const { links, run } = readyPool()
    const task = run(1)
    links[0]!.begin()
    const error = new RangeError('thrown in a timer')
    links[0]!.exit(1, error)
    await microtasks()
    assert.equal(task.error, error)
  })

  test('of its heap limit fails the begun task with WorkerMemoryError', async () => {
    const { links, run } = readyPool()
    const task = run(1)
    links[0]!.begin()
    links[0]!.exit(1, Object.assign(new Error('limit'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }))
    await microtasks()
    assert.equal(task.error.name, 'WorkerMemoryError')
    assert.equal(task.error.code, 'ERR_WORKER_OUT_OF_MEMORY')
  })

  test('gives back what it had not begun, in order and before the queue', async () => {
    const { backend, links, run } = readyPool({ concurrentTasksPerWorker: 4 })
    const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map(payload => run(payload))
    links[0]!.begin()
    links[0]!.exit(1)
    await microtasks()
    assert.equal(tasks[0]!.error.code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(backend.links.length, 2)
    backend.newest.ready()
    assert.deepEqual(
      Array.from({ length: 5 }, () => backend.newest.work()),
      ['b', 'c', 'd', 'e', 'f'],
    )
    await microtasks()
    assert.deepEqual(
      tasks.slice(1).map(({ value }) => value),
      ['b', 'c', 'd', 'e', 'f'],
    )
  })

  test('while it starts gives back what it was given, moved or not, in order', async () => {
    const { backend, run } = fakePool({ minThreads: 2, maxThreads: 2, concurrentTasksPerWorker: 2 })
    const [dying, other] = backend.links
    const buffer = new ArrayBuffer(1)
    run('a')
    run('b')
    run('c', { transferList: [buffer] })
    run('d')
    run('e')
    dying!.exit(1)
    other!.ready()
    const order: unknown[] = []
    for (let payload = other!.work(); payload !== null; payload = other!.work()) order.push(payload)
    assert.deepEqual(order, ['b', 'a', 'c', 'd', 'e'])
  })

  test('gives tasks back to a queue that knows no place but its beginning, in order', () => {
    const tasks: QueuedTask[] = []
    const queue = {
      get size() {
        return tasks.length
      },
      push: (task: QueuedTask) => void tasks.push(task),
      shift: () => tasks.shift(),
      unshift: (task: QueuedTask) => void tasks.unshift(task),
      remove: (task: QueuedTask) => void tasks.splice(tasks.indexOf(task), 1),
    }
    const { links, backend, run } = readyPool({ queue, concurrentTasksPerWorker: 2 })
    run('a')
    run('b')
    run('c')
    links[0]!.exit(1)
    backend.newest.ready()
    assert.deepEqual(
      [0, 1, 2].map(() => backend.newest.work()),
      ['a', 'b', 'c'],
    )
  })

  test('after its last answer loses nothing', async () => {
    const { links, run } = readyPool()
    const task = run(1)
    links[0]!.work()
    links[0]!.exit(0)
    await microtasks()
    assert.equal(task.value, 1)
  })

  test('takes a posted and moved task with it, begun or not, and says so', async () => {
    const { links, run } = readyPool()
    const buffer = new ArrayBuffer(1)
    const task = run(buffer, { transferList: [buffer] })
    links[0]!.exit(3)
    await microtasks()
    assert.deepEqual([task.error.code, task.error.exitCode], ['ERR_LIDO_WORKER_EXIT', 3])
  })

  test('is replaced at once when fewer than the minimum are left', async () => {
    const { links, backend, pool, events } = readyPool({ maxThreads: 2 })
    links[0]!.exit(1)
    assert.equal(pool.workers.length, 2)
    assert.equal(backend.links.length, 3)
    await microtasks()
    assert.deepEqual(events.sort(), ['workerCreate', 'workerCreate', 'workerCreate', 'workerDestroy'])
  })

  test('while idle is told as an error event, and only to those who listen', async () => {
    const { links, errors, pool } = readyPool()
    const error = new Error('thrown while idle')
    links[0]!.exit(1, error)
    await microtasks()
    assert.deepEqual(errors, [error])
    const unheard = readyPool()
    unheard.pool.removeAllListeners('error')
    unheard.links[0]!.exit(1, error)
    await microtasks()
    assert.equal(unheard.pool.workers.length, 1)
    assert.equal(pool.workers.length, 1)
  })

  test('with a task is told to the caller and not as an event', async () => {
    const { links, errors, run } = readyPool()
    run(1)
    links[0]!.begin()
    links[0]!.exit(1)
    await microtasks()
    assert.deepEqual(errors, [])
  })

  test('again and again before it begins a task fails that task in the end', async () => {
    const { backend, run, clock } = fakePool({ minThreads: 0 })
    const task = run(1)
    for (let deaths = 0; deaths < 20 && task.state === 'pending'; deaths++) {
      backend.newest.ready()
      backend.newest.exit(1)
      await microtasks()
      clock.advance(2000)
    }
    assert.equal(task.state, 'rejected')
    assert.match(task.error.code, /^ERR_LIDO_WORKER_/)
  })

  test('after a task that was cancelled is no reason to pause either', () => {
    const { backend, run } = readyPool()
    for (let ended = 1; ended <= 5; ended++) {
      const controller = new AbortController()
      run(1, { signal: controller.signal })
      const { taskId, slot } = backend.newest.begin()!
      controller.abort()
      backend.newest.say({ kind: 'over', taskId, slot })
      backend.newest.exit(1)
      assert.equal(backend.links.length, ended + 1)
      backend.newest.ready()
    }
  })

  test('after it has worked is no reason to pause, however many do', () => {
    const { backend, links, run } = readyPool({ minThreads: 0, maxThreads: 6 })
    assert.equal(links.length, 0)
    for (let payload = 0; payload < 6; payload++) run(payload)
    const workers = [...backend.links]
    for (const link of workers) link.ready()
    for (const link of workers) link.work()
    for (const link of workers) link.exit(1)
    run('next')
    assert.equal(backend.links.length, 7)
  })

  test('says nothing more: later messages of it are not heard', async () => {
    const { links, run, pool } = readyPool()
    run(1)
    const message = links[0]!.begin()!
    void pool.workers[0]!.terminate()
    links[0]!.done(message, 'too late')
    await microtasks()
    assert.equal(pool.stats().tasks.fulfilled, 0)
  })
})

describe('terminate() of a worker', () => {
  test('fails what it had begun, gives back the rest, and resolves when the thread has ended', async () => {
    const { pool, links, backend, run } = readyPool({ concurrentTasksPerWorker: 2 })
    const tasks = [run('a'), run('b')]
    links[0]!.begin()
    const [view] = pool.workers
    let hasEnded = false
    const ended = view!.terminate().then(() => {
      hasEnded = true
    })
    assert.equal(links[0]!.isKilled, true)
    assert.equal(hasEnded, false)
    assert.equal(view!.state, 'draining')
    await ended
    assert.equal(links[0]!.hasEnded, true)
    assert.equal(view!.state, 'exited')
    assert.equal(tasks[0]!.error.code, 'ERR_LIDO_WORKER_EXIT')
    backend.newest.ready()
    assert.equal(backend.newest.work(), 'b')
    await view!.terminate()
  })
})

describe('terminate() again', () => {
  test('a task that was not begun goes to another worker, also when none had to be there', async () => {
    const { pool, backend, run } = fakePool({ minThreads: 0 })
    const task = run('a')
    backend.newest.ready()
    await pool.workers[0]!.terminate()
    assert.equal(backend.links.length, 2)
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.equal(task.value, 'a')
  })

  for (const retry of [undefined, { attempts: 20 }]) {
    test(`a task that lost worker after worker before it began is given up (retry: ${retry?.attempts})`, async () => {
      const { pool, backend, run } = readyPool()
      const task = run('a', { retry })
      let lost = 0
      for (; lost < 20 && task.state === 'pending'; lost++) {
        void pool.workers[0]!.terminate()
        backend.newest.ready()
        await microtasks()
      }
      assert.equal(task.error.code, 'ERR_LIDO_WORKER_EXIT')
      assert.equal(lost, 6)
    })
  }
})

describe('workers that cannot start', () => {
  const syntax = new SyntaxError('unexpected token')

  test('reject the tasks that wait for them, with the cause', async () => {
    const { backend, run } = fakePool({ minThreads: 0 })
    const tasks = [run(1), run(2)]
    backend.newest.startFailed(syntax)
    await microtasks()
    for (const { error } of tasks) {
      assert.deepEqual(
        [error.code, error.stage, error.filename],
        ['ERR_LIDO_WORKER_START', 'load', '/handler.js'],
      )
      assert.equal(error.cause instanceof SyntaxError, true)
    }
    assert.notEqual(tasks[0]!.error, tasks[1]!.error)
  })

  test('during a pause calls are rejected at once, and no worker is started', async () => {
    const { backend, run, clock } = fakePool({ minThreads: 0 })
    run(1)
    backend.newest.startFailed(syntax)
    for (let call = 0; call < 100; call++) {
      const task = run(call)
      await microtasks()
      assert.equal(task.error.code, 'ERR_LIDO_WORKER_START')
    }
    assert.equal(backend.links.length, 1)
    clock.advance(10)
    assert.equal(clock.heldAnchors, 0)
  })

  test('are tried again after pauses that double from 100 ms to a second', async () => {
    const restart = { failures: Number.POSITIVE_INFINITY }
    const { backend, run, clock } = fakePool({ minThreads: 0, restart })
    const pauses: number[] = []
    for (let failure = 0; failure < 6; failure++) {
      run('tries')
      backend.newest.startFailed(syntax)
      let pauseMs = 0
      for (const started = backend.links.length; backend.links.length === started; pauseMs++) {
        clock.advance(1)
        run('waits')
      }
      pauses.push(pauseMs)
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1000, 1000])
  })

  test('recover: the first that works is served at once, and the minimum is there again', async () => {
    const { backend, run, clock, pool } = fakePool({ maxThreads: 2 })
    for (const link of [...backend.links]) link.startFailed(syntax)
    assert.equal(pool.workers.length, 0)
    clock.advance(1000)
    const task = run('works')
    const sound = backend.newest
    sound.ready()
    sound.work()
    await microtasks()
    assert.equal(task.value, 'works')
    assert.equal(pool.workers.length, 2)
  })

  test('leave their tasks to those that could', async () => {
    const { backend, run } = fakePool({ maxThreads: 2 })
    const [broken, sound] = backend.links
    const tasks = [run('a'), run('b')]
    sound!.ready()
    broken!.startFailed(syntax)
    sound!.work()
    sound!.work()
    await microtasks()
    assert.deepEqual(
      tasks.map(({ value }) => value),
      ['a', 'b'],
    )
  })

  test('without a task there is an error event', async () => {
    const { backend, errors } = fakePool()
    backend.newest.startFailed(syntax)
    await microtasks()
    assert.equal(errors.length, 1)
    assert.equal((errors[0] as { code: string }).code, 'ERR_LIDO_WORKER_START')
  })

  test('that exit while they start, without a word, are no better', async () => {
    const { backend, run } = fakePool({ minThreads: 0 })
    const task = run(1)
    backend.newest.exit(13)
    await microtasks()
    assert.equal(task.error.code, 'ERR_LIDO_WORKER_START')
    assert.equal(task.error.cause.exitCode, 13)
  })

  test('for want of threads: the constructor throws, with what the runtime throws as its cause', () => {
    const failure = new Error('no threads left')
    assert.throws(
      () => {
        const { backend } = fakePool({ minThreads: 0 })
        backend.startFailure = failure
        fakePool({ minThreads: 1 }, backend)
      },
      { code: 'ERR_LIDO_WORKER_START', stage: 'thread', cause: failure },
    )
  })

  test('for want of threads: a call is rejected, and the next but one pause works', async () => {
    const { backend, run, clock } = fakePool({ minThreads: 0 })
    backend.startFailure = new Error('no threads left')
    const task = run(1)
    await microtasks()
    assert.deepEqual([task.error.code, task.error.stage], ['ERR_LIDO_WORKER_START', 'thread'])
    backend.startFailure = null
    clock.advance(100)
    const later = run(2)
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.equal(later.value, 2)
  })
})

describe('idle workers', () => {
  test('above the minimum end when their time is over, longest idle first', async () => {
    const { links, run, clock, pool, events } = readyPool({ minThreads: 3, maxThreads: 3, idleTimeout: 1000 })
    assert.equal(pool.workers.length, 3)
    clock.advance(10_000)
    assert.equal(pool.workers.length, 3)
    assert.equal(links.length, 3)
    run(1)
    assert.equal(events.includes('workerDestroy'), false)
  })

  test('go down to the minimum, and no further', async () => {
    const { backend, run, clock, pool } = fakePool({ minThreads: 1, maxThreads: 3, idleTimeout: 1000 })
    backend.newest.ready()
    for (let payload = 0; payload < 3; payload++) run(payload)
    for (const link of backend.links.slice(1)) link.ready()
    for (const link of backend.links) {
      link.work()
      clock.advance(10)
    }
    clock.advance(969)
    assert.equal(pool.workers.length, 3)
    clock.advance(1)
    assert.deepEqual(
      pool.workers.map(({ id }) => id),
      [2, 3],
    )
    clock.advance(10)
    assert.deepEqual(
      pool.workers.map(({ id }) => id),
      [3],
    )
    clock.advance(100_000)
    assert.equal(pool.workers.length, 1)
    await microtasks()
    assert.equal(backend.alive.length, 1)
  })

  test('that are needed again stay', () => {
    const { backend, run, clock, pool } = fakePool({ minThreads: 0, maxThreads: 1, idleTimeout: 1000 })
    run(1)
    backend.newest.ready()
    for (let round = 0; round < 5; round++) {
      backend.newest.work()
      clock.advance(900)
      run(round)
    }
    backend.newest.begin()
    clock.advance(5000)
    assert.equal(pool.workers.length, 1)
    assert.equal(backend.links.length, 1)
  })

  test('are none that still start, however long that takes', () => {
    const { backend, run, clock, pool } = fakePool({ minThreads: 0, maxThreads: 2, idleTimeout: 1000 })
    run(1)
    run(2)
    const [quick] = backend.links
    quick!.ready()
    while (quick!.work() !== null);
    clock.advance(5000)
    assert.deepEqual(
      pool.workers.map(({ id, state }) => [id, state]),
      [[2, 'spawning']],
    )
  })

  test('never end without a timeout', () => {
    const { backend, run, clock, pool } = fakePool({ minThreads: 0, idleTimeout: Number.POSITIVE_INFINITY })
    run(1)
    backend.newest.ready()
    backend.newest.work()
    clock.advance(1e9)
    assert.equal(pool.workers.length, 1)
    assert.deepEqual(clock.pending, [])
  })

  test('end with the answer when the timeout is 0', () => {
    const { backend, run, clock, pool } = fakePool({ minThreads: 0, idleTimeout: 0 })
    const task = run(1)
    backend.newest.ready()
    backend.newest.work()
    clock.advance(0)
    assert.equal(pool.workers.length, 0)
    assert.equal(task.error, undefined)
    run(2)
    assert.equal(backend.links.length, 2)
  })

  test('do not keep the process alive until then', () => {
    const { backend, run, clock } = fakePool({ minThreads: 0, idleTimeout: 1000 })
    run(1)
    backend.newest.ready()
    backend.newest.work()
    clock.advance(10)
    assert.equal(clock.pending.length, 1)
    assert.equal(clock.keepsAlive, false)
  })
})

test('the minimum is restored when the pause after a failed start is over, though nobody calls', () => {
  const { backend, clock, pool } = fakePool({ minThreads: 2, maxThreads: 2 })
  const [fine, broken] = backend.links
  fine!.ready()
  broken!.startFailed(new SyntaxError('why'))
  assert.equal(pool.workers.length, 1)
  clock.advance(2000)
  assert.equal(pool.workers.length, 2)
})

test('the minimum is restored as well when it is the thread that could not be had', () => {
  const { backend, clock, links, pool, run } = readyPool({ maxThreads: 2 })
  run(1)
  links[0]!.work()
  backend.startFailure = new Error('no threads left')
  links[0]!.exit(1)
  assert.equal(pool.workers.length, 1)
  backend.startFailure = null
  clock.advance(2000)
  assert.equal(pool.workers.length, 2)
})

test('the minimum is restored though the pause grew longer meanwhile', () => {
  const { backend, clock } = fakePool({ minThreads: 3, maxThreads: 3 })
  const [whole, ...broken] = backend.links
  whole!.ready()
  broken[0]!.startFailed(new SyntaxError('why'))
  clock.advance(50)
  broken[1]!.startFailed(new SyntaxError('why'))
  clock.advance(199)
  assert.equal(backend.alive.length, 1)
  clock.advance(1)
  assert.equal(backend.alive.length, 3)
})

test('when the last worker dies during a pause, none is started before a call needs one', () => {
  const { backend, clock, run } = fakePool({ minThreads: 2, maxThreads: 2 })
  const [whole, broken] = backend.links
  whole!.ready()
  broken!.startFailed(new SyntaxError('why'))
  whole!.exit(1)
  clock.advance(10_000)
  assert.equal(backend.alive.length, 0)
  run(1)
  assert.equal(backend.alive.length, 1)
})

test('when the one worker that is tried is ended before it could tell, another may be tried', async () => {
  const { backend, clock, pool, run } = fakePool({ minThreads: 0, restart: { failures: 1 } })
  run(1)
  backend.newest.startFailed(new SyntaxError('why'))
  clock.advance(1000)
  run(2)
  void pool.workers[0]!.terminate()
  backend.newest.exit(1)
  const task = run(3)
  await microtasks()
  assert.equal(task.state, 'pending')
})

test('when the one worker that is tried is interrupted by a signal to all, another is tried', async () => {
  const { backend, clock, run } = fakePool({ minThreads: 0, restart: { failures: 1 } })
  run(1)
  backend.newest.startFailed(new SyntaxError('why'))
  clock.advance(1000)
  const task = run(2)
  backend.newest.exit(0, undefined, 'SIGINT')
  await microtasks()
  assert.deepEqual([task.state, backend.links.length], ['pending', 3])
})

test('workers that end again and again without having done anything are not replaced without a pause', () => {
  const { backend, clock, run } = fakePool()
  for (let started = 1; started <= 4; started++) {
    assert.equal(backend.links.length, started)
    backend.newest.ready()
    backend.newest.exit(1)
  }
  assert.equal(backend.links.length, 4)
  clock.advance(100)
  run(1)
  assert.equal(backend.links.length, 5)
})

test('a pool that is destroyed during a pause leaves no timer', async () => {
  const { backend, clock, pool } = fakePool({ minThreads: 2, maxThreads: 2 })
  const [fine, broken] = backend.links
  fine!.ready()
  broken!.startFailed(new SyntaxError('why'))
  await pool.destroy()
  assert.deepEqual(clock.pending, [])
})

test('a task in a queue that is not first in, first out gets one worker where there is none, and none may have to wait', async () => {
  const { backend, run } = fakePool({
    lane: true,
    queue: new PriorityQueue(),
    minThreads: 0,
    maxThreads: 3,
    maxQueue: 0,
  })
  const task = run(1)
  await microtasks()
  assert.equal(task.state, 'pending')
  assert.equal(backend.links.length, 1)
})
