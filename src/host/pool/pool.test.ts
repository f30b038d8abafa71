// The promise made to callers: a task goes to a worker, its answer comes back, and the figures tell of it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kindOf } from '../../shared/messages/kind-of.js'
import { move } from '../../shared/messages/move.js'
import { fakePool, readyPool } from '../../testing/fake-pool.js'
import { microtasks, watch } from '../../testing/stand-ins.js'
import { FixedQueue } from '../queue/fixed-queue.js'
import { Pool } from './pool.js'

describe('run()', () => {
  test('brings the payload to a worker and its result back', async () => {
    const { links, run, pool } = readyPool()
    const task = run({ a: 1 })
    const message = links[0]!.begin()!
    assert.deepEqual(message.payload, { a: 1 })
    assert.deepEqual(message.handler, { filename: '/handler.js', name: 'default' })
    links[0]!.done(message, { b: 2 })
    await microtasks()
    assert.deepEqual([task.state, task.value], ['fulfilled', { b: 2 }])
    assert.equal(pool.completed, 1)
  })

  test("rejects with the handler's own error", async () => {
    const { links, run } = readyPool()
    const task = run()
    links[0]!.failed(links[0]!.begin()!, Object.assign(new RangeError('why'), { code: 'E_WHY' }))
    await microtasks()
    assert.equal(task.error instanceof RangeError, true)
    assert.equal(task.error.code, 'E_WHY')
  })

  test('rejects with undefined when that is what was thrown', async () => {
    const { links, run } = readyPool()
    const task = run()
    links[0]!.failed(links[0]!.begin()!, undefined)
    await microtasks()
    assert.deepEqual([task.state, task.error], ['rejected', undefined])
  })

  test('never throws: what is wrong with a call is a rejection', async () => {
    const { run, backend } = readyPool()
    for (const options of [null, 1, { name: 1 }, { nmae: 'x' }, { signal: {} }] as never[]) {
      const task = run(1, options)
      await microtasks()
      assert.equal(task.error.code, 'ERR_LIDO_INVALID_TASK')
    }
    assert.deepEqual(backend.newest.runs, [])
  })

  test('names the handler until a worker has answered with it, and again to another worker', () => {
    const { links, run } = readyPool({ maxThreads: 2 })
    const [one, other] = links as [(typeof links)[0], (typeof links)[0]]
    run('a')
    one.work()
    run('b')
    one.work()
    run('c', { name: 'other' })
    one.work()
    assert.deepEqual(
      one.runs.map(run => run.handler?.name ?? null),
      ['default', null, 'other'],
    )
    run('d')
    run('e')
    assert.equal(other.runs[0]?.handler?.name, 'default')
  })

  test('gives every task a number of its own', () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 10 })
    for (let count = 0; count < 10; count++) run()
    assert.equal(new Set(links[0]!.runs.map(({ taskId }) => taskId)).size, 10)
    assert.equal(new Set(links[0]!.runs.map(({ slot }) => slot)).size, 10)
  })
})

describe('a handler that cannot be had', () => {
  for (const [reason, stage] of [
    ['load', 'load'],
    ['missing', 'handler'],
  ] as const) {
    test(`'${reason}' rejects with WorkerStartError, and the pool goes on`, async () => {
      const { links, run } = readyPool()
      const task = run(1, { filename: '/other.js', name: 'work' })
      const next = run(2)
      links[0]!.failed(links[0]!.begin()!, new SyntaxError('bad'), reason)
      links[0]!.work()
      await microtasks()
      const { code, filename, handlerName, cause } = task.error
      assert.deepEqual(
        [code, task.error.stage, filename, handlerName, cause.message],
        ['ERR_LIDO_WORKER_START', stage, '/other.js', 'work', 'bad'],
      )
      assert.equal(next.value, 2)
    })
  }
})

test('names that lead nowhere do not fill the table of handlers', () => {
  const { links, run } = readyPool()
  for (let call = 0; call < 3; call++) {
    run(call, { name: 'nowhere' })
    links[0]!.failed(links[0]!.begin()!, undefined, 'missing')
  }
  assert.deepEqual(
    links[0]!.runs.map(({ handler }) => handler?.name),
    ['nowhere', 'nowhere', 'nowhere'],
  )
  assert.equal(new Set(links[0]!.runs.map(({ handlerId }) => handlerId)).size, 3)
})

describe('what cannot be sent', () => {
  test('a payload rejects, says where, and frees the slot', async () => {
    const { links, run } = readyPool()
    const task = run({ items: [{ call() {} }] })
    const next = run(2)
    assert.equal(links[0]!.work(), 2)
    await microtasks()
    assert.deepEqual([task.error.code, task.error.path], ['ERR_LIDO_NOT_CLONEABLE', 'payload.items[0].call'])
    assert.equal(next.value, 2)
  })

  test('a payload given to a worker that still starts rejects at once too', async () => {
    const { backend, run, pool } = fakePool()
    const task = run(() => {})
    await microtasks()
    assert.equal(task.error.code, 'ERR_LIDO_NOT_CLONEABLE')
    assert.equal(pool.stats().tasks.inFlight, 0)
    backend.newest.ready()
    run(2)
    assert.equal(backend.newest.work(), 2)
  })

  test('a result rejects with the path that the worker found', async () => {
    const { links, run } = readyPool()
    const task = run()
    links[0]!.failed(links[0]!.begin()!, new Error('refused'), 'result', 'result.call')
    await microtasks()
    assert.deepEqual([task.error.code, task.error.path], ['ERR_LIDO_NOT_CLONEABLE', 'result.call'])
  })

  test('a payload that the worker cannot read fails that task alone', async () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 3 })
    const [one, two, three] = [run(1), run(2), run(3)]
    links[0]!.say({ kind: 'unreadable', ordinal: 2 })
    links[0]!.work()
    const third = links[0]!.runs[2]!
    links[0]!.done(third, 3)
    await microtasks()
    assert.deepEqual([one.value, three.value], [1, 3])
    assert.deepEqual([two!.error.code, two!.error.path], ['ERR_LIDO_NOT_CLONEABLE', 'payload'])
  })

  test('a payload that was never posted does not count among those that the worker reads', async () => {
    const { links, run } = readyPool()
    run(() => {})
    const task = run('unreadable')
    links[0]!.say({ kind: 'unreadable', ordinal: 1 })
    await microtasks()
    assert.equal(task.error.code, 'ERR_LIDO_NOT_CLONEABLE')
  })

  test('an answer that the host cannot read is none of a task that came while that was asked', async () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 2 })
    run(1)
    links[0]!.begin()
    links[0]!.sayUnreadable()
    const later = run(2)
    const begun = links[0]!.begin()!
    links[0]!.say({ kind: 'holding', taskIds: [], received: 1 })
    links[0]!.done(begun, 2)
    await microtasks()
    assert.equal(later.value, 2)
  })

  test('an answer that the host cannot read fails the task that was answered, and no other', async () => {
    const { links, run } = readyPool({ concurrentTasksPerWorker: 3 })
    const tasks = [run(1), run(2), run(3)]
    const [first, second] = [links[0]!.begin()!, links[0]!.begin()!]
    links[0]!.sayUnreadable()
    assert.equal(kindOf(links[0]!.inbox.at(-1)!), 'audit')
    links[0]!.say({ kind: 'holding', taskIds: [second.taskId], received: 3 })
    await microtasks()
    assert.deepEqual([tasks[0]!.error.code, tasks[0]!.error.path], ['ERR_LIDO_NOT_CLONEABLE', 'result'])
    assert.equal(first.taskId === second.taskId, false)
    links[0]!.done(second, 2)
    links[0]!.work()
    await microtasks()
    assert.deepEqual([tasks[1]!.value, tasks[2]!.value], [2, 3])
  })
})

describe('answers nobody waits for', () => {
  test('a second answer to a task changes nothing', async () => {
    const { links, run, pool } = readyPool()
    const task = run(1)
    const message = links[0]!.begin()!
    links[0]!.done(message, 'first')
    links[0]!.done(message, 'second')
    links[0]!.failed(message, new Error('third'))
    await microtasks()
    assert.equal(task.value, 'first')
    assert.equal(pool.completed, 1)
  })

  test('an answer to a task whose slot was given to another changes nothing', async () => {
    const { links, run } = readyPool()
    run(1)
    const message = links[0]!.begin()!
    links[0]!.done(message)
    const next = run(2)
    links[0]!.done(message, 'late')
    await microtasks()
    assert.equal(next.state, 'pending')
  })
})

describe('what is moved', () => {
  test('is gone here when it was posted, and there is a worker to have it', () => {
    const { links, run } = readyPool()
    const buffer = new ArrayBuffer(8)
    run(move(buffer))
    assert.equal(buffer.byteLength, 0)
    assert.equal((links[0]!.runs[0]!.payload as ArrayBuffer).byteLength, 8)
  })

  test('stays here while its worker starts, and is posted once', () => {
    const { backend, run } = fakePool()
    const buffer = new ArrayBuffer(8)
    run({ buffer }, { transferList: [buffer] })
    assert.equal(buffer.byteLength, 8)
    assert.equal(backend.newest.runs.length, 0)
    backend.newest.ready()
    assert.equal(buffer.byteLength, 0)
    assert.equal(backend.newest.runs.length, 1)
  })
})

describe('maxQueue', () => {
  test('one more than may wait is refused, and room comes back', async () => {
    const { links, run, pool } = readyPool({ maxQueue: 2 })
    const [running, first, second, refused] = [run(1), run(2), run(3), run(4)]
    await microtasks()
    assert.deepEqual([refused!.error.code, refused!.error.limit], ['ERR_LIDO_QUEUE_FULL', 2])
    assert.equal(pool.queueSize, 2)
    links[0]!.work()
    const later = run(5)
    for (let count = 0; count < 3; count++) links[0]!.work()
    await microtasks()
    assert.deepEqual(
      [running, first, second, later].map(task => task!.value),
      [1, 2, 3, 5],
    )
  })

  test('0: a task runs while a slot is free, else it is refused', async () => {
    const { links, run } = readyPool({ maxThreads: 2, maxQueue: 0 })
    const tasks = [run(1), run(2), run(3)]
    await microtasks()
    assert.deepEqual(
      tasks.map(({ state }) => state),
      ['pending', 'pending', 'rejected'],
    )
    links[0]!.work()
    const later = run(4)
    await microtasks()
    assert.equal(later.state, 'pending')
  })

  test('0: a task that starts a worker is not refused', async () => {
    const { backend, run } = fakePool({ minThreads: 0, maxQueue: 0 })
    const task = run(1)
    backend.newest.ready()
    backend.newest.work()
    await microtasks()
    assert.equal(task.value, 1)
  })

  test('0: a task that finds no worker is refused, and leaves nothing behind', async () => {
    const { run, pool, clock } = readyPool({ maxQueue: 0, loadBalancer: () => null, maxThreads: 2 })
    run('taken, since nothing else will happen')
    const task = run(1)
    await microtasks()
    assert.equal(task.error.code, 'ERR_LIDO_QUEUE_FULL')
    assert.equal(pool.queueSize, 0)
    assert.equal(clock.heldAnchors, 1)
  })

  test('a queue that refuses a task rejects it with what it threw', async () => {
    const refusal = new Error('not today')
    const queue = {
      size: 0,
      push() {
        throw refusal
      },
      shift: () => null,
      remove() {},
    }
    const { run, clock } = readyPool({ queue })
    const task = run(1)
    await microtasks()
    assert.equal(task.error, refusal)
    clock.advance(10)
    assert.equal(clock.heldAnchors, 0)
  })

  test("the queue's own capacity is the limit", async () => {
    const { run } = readyPool({ queue: new FixedQueue(1) })
    const tasks = [run(1), run(2), run(3)]
    await microtasks()
    assert.deepEqual([tasks[1]!.state, tasks[2]!.error?.code], ['pending', 'ERR_LIDO_QUEUE_FULL'])
  })
})

describe('events', () => {
  test("the handler's own messages arrive, with the worker", async () => {
    const { pool, links } = readyPool()
    const messages: unknown[][] = []
    pool.on('message', (...args) => messages.push(args))
    links[0]!.sayToUser({ hello: 1 })
    await microtasks()
    assert.deepEqual(messages, [[{ hello: 1 }, pool.workers[0]]])
  })

  test('a listener may call the pool', async () => {
    const { pool, links, run } = readyPool({ maxQueue: 1 })
    let extra: Promise<unknown> | undefined
    pool.once('drain', () => {
      extra = pool.run('extra')
    })
    run(1)
    run(2)
    links[0]!.work()
    await microtasks()
    links[0]!.work()
    await microtasks()
    assert.equal(links[0]!.work(), 'extra')
    assert.equal(await extra, 'extra')
  })

  test('needsDrain and drain are told of a queue that fills and empties', async () => {
    const { events, run, links, pool } = readyPool({ maxQueue: 1 })
    await microtasks()
    events.length = 0
    run(1)
    run(2)
    assert.equal(pool.needsDrain, true)
    links[0]!.work()
    assert.equal(pool.needsDrain, false)
    await microtasks()
    assert.deepEqual(events, ['needsDrain', 'drain'])
  })
})

describe('room()', () => {
  test('a producer that asks before each call is never refused', async () => {
    const { pool, links, run } = readyPool({ maxThreads: 2, maxQueue: 2 })
    const tasks: ReturnType<typeof run>[] = []
    const produce = async () => {
      for (let payload = 0; payload < 50; payload++) {
        await pool.room()
        tasks.push(run(payload))
      }
    }
    const produced = Promise.all([produce(), produce()])
    let isDone = false
    void produced.then(() => {
      isDone = true
    })
    while (!isDone || pool.stats().tasks.inFlight > 0) {
      for (const link of links) link.work()
      await microtasks()
    }
    assert.deepEqual(
      tasks.filter(({ state }) => state !== 'fulfilled'),
      [],
    )
    assert.equal(tasks.length, 100)
  })

  test('comes also when a worker that becomes ready takes the task that waited', async () => {
    const loadBalancer: ConstructorParameters<typeof Pool>[0] = {
      loadBalancer: (_task, workers) =>
        workers.find(worker => worker.state === 'ready' && worker.isIdle) ?? null,
    }
    const { backend, run, pool } = fakePool({ ...loadBalancer, maxQueue: 1 })
    run(1)
    assert.equal(pool.queueSize, 1)
    let hasRoom = false
    void pool.room().then(() => {
      hasRoom = true
    })
    backend.newest.ready()
    await microtasks()
    assert.equal(pool.queueSize, 0)
    assert.equal(hasRoom, true)
  })

  test('with options that are wrong rejects, and gives no place away', async () => {
    const { pool } = readyPool({ maxThreads: 1, maxQueue: 1 })
    const { signal } = new AbortController()
    for (const [options, option] of [
      [null, 'options'],
      [signal, 'options'],
      [{ singal: signal }, 'singal'],
      [{ signal: new AbortController() }, 'signal'],
    ] as [never, string][]) {
      const asked = watch(pool.room(options))
      await microtasks()
      assert.deepEqual([asked.error?.code, asked.error?.option], ['ERR_LIDO_INVALID_TASK', option])
    }
    const asked = watch(pool.room())
    await microtasks()
    assert.equal(asked.state, 'fulfilled')
  })

  const asksForRoom = (pool: Pool) => {
    const asked = { granted: 0 }
    void pool.room().then(() => asked.granted++)
    void pool.room().then(() => asked.granted++)
    return asked
  }

  test('is not there where tasks may not wait and the workers run their teardown', async () => {
    const { backend, clock, links, pool, run } = readyPool({
      minThreads: 0,
      maxThreads: 2,
      maxQueue: 0,
      idleTimeout: 100,
    })
    run(1)
    run(2)
    for (const link of backend.links) link.ready()
    for (const link of backend.links) link.work()
    for (const link of backend.links) link.isObedient = false
    await microtasks()
    clock.advance(100)
    await microtasks()
    assert.deepEqual([links.length, pool.workers.length], [0, 0])
    const asked = asksForRoom(pool)
    await microtasks()
    assert.equal(asked.granted, 1)
    const taken = run(3)
    await microtasks()
    assert.deepEqual([taken.state, asked.granted], ['pending', 1])
    backend.links[0]!.exit(0)
    await microtasks()
    assert.equal(asked.granted, 2)
    const next = run(4)
    await microtasks()
    assert.equal(next.state, 'pending')
  })

  test('is not there where tasks may not wait and no worker more may be started for a while', async () => {
    const { backend, clock, pool, run } = fakePool({ maxThreads: 2, maxQueue: 0 })
    const [fine, broken] = backend.links
    fine!.ready()
    broken!.startFailed(new SyntaxError('why'))
    const asked = asksForRoom(pool)
    await microtasks()
    assert.equal(asked.granted, 1)
    run(1)
    await microtasks()
    assert.equal(asked.granted, 1)
    clock.advance(10_000)
    await microtasks()
    assert.equal(asked.granted, 2)
    const next = run(2)
    await microtasks()
    assert.equal(next.state, 'pending')
  })

  test('is there where no worker is alive and none may be started: a call is told why, and does not wait', async () => {
    const { backend, pool } = fakePool({ maxQueue: 0 })
    backend.newest.startFailed(new SyntaxError('why'))
    const asked = asksForRoom(pool)
    await microtasks()
    assert.equal(asked.granted, 1)
  })

  test('is not there where tasks may not wait, behind one that waits for a worker of its own to start', async () => {
    const { backend, pool, run } = fakePool({ maxThreads: 2, concurrentTasksPerWorker: 2, maxQueue: 0 })
    const [ready, starting] = backend.links
    ready!.ready()
    run(1)
    const alone = run(2, { exclusive: true })
    const asked = asksForRoom(pool)
    await microtasks()
    assert.deepEqual([alone.state, asked.granted], ['pending', 0])
    starting!.ready()
    await microtasks()
    assert.equal(asked.granted, 1)
    const next = run(3)
    await microtasks()
    assert.equal(next.state, 'pending')
  })

  test('is there for as many as that worker has slots, where they can only wait in the line', async () => {
    const { backend, pool, run } = fakePool({ maxThreads: 2, concurrentTasksPerWorker: 2, maxQueue: 0 })
    backend.links[0]!.ready()
    run(1)
    const alone = run(2, { exclusive: true, transferList: [new ArrayBuffer(1)] })
    const asked = asksForRoom(pool)
    await microtasks()
    assert.deepEqual([alone.state, asked.granted], ['pending', 1])
    const next = run(3)
    await microtasks()
    assert.deepEqual([next.state, asked.granted], ['pending', 1])
  })
})

describe('the process is kept alive', () => {
  test('while a task pends and 10 ms longer, and only then', () => {
    const { clock, run, links } = readyPool()
    assert.equal(clock.heldAnchors, 0)
    run(1)
    run(2)
    assert.equal(clock.heldAnchors, 1)
    links[0]!.work()
    assert.equal(clock.heldAnchors, 1)
    links[0]!.work()
    clock.advance(9)
    assert.equal(clock.heldAnchors, 1)
    run(3)
    clock.advance(1)
    assert.equal(clock.heldAnchors, 1)
    links[0]!.work()
    clock.advance(10)
    assert.equal(clock.heldAnchors, 0)
    assert.equal(clock.keepsAlive, false)
  })

  test('not by a call that was refused', async () => {
    const { clock, run } = readyPool({ maxQueue: 0 })
    run(1, { filename: 'fs' })
    await microtasks()
    assert.equal(clock.heldAnchors, 0)
  })
})

describe('figures', () => {
  test('count what came in and what became of it', async () => {
    const { links, run, pool } = readyPool({ maxQueue: 3 })
    const controller = new AbortController()
    run(1)
    run(2)
    run(3)
    run(4, { signal: controller.signal })
    run('too much')
    controller.abort()
    links[0]!.work()
    links[0]!.failed(links[0]!.begin()!, new Error('why'))
    const { tasks, queue, workers, state } = pool.stats()
    assert.deepEqual(tasks, {
      accepted: 4,
      completed: 2,
      fulfilled: 1,
      rejected: 1,
      cancelled: 1,
      waiting: 0,
      inFlight: 1,
    })
    assert.deepEqual(queue, { size: 0, limit: 3, needsDrain: false })
    assert.deepEqual(workers, [
      { id: 1, backend: 'thread', pid: process.pid, threadId: 1, state: 'ready', usage: 1 },
    ])
    assert.equal(state, 'open')
  })

  test('count what passes until a worker has started as waiting', () => {
    const { backend, run, pool, clock } = fakePool()
    run(1)
    clock.advance(500)
    backend.newest.ready()
    clock.advance(10)
    backend.newest.work()
    const { waitTime, runTime } = pool.stats()
    assert.deepEqual([waitTime!.maxMs, runTime!.maxMs], [500, 10])
  })

  test('measure waiting and running on the clock of the pool', () => {
    const { links, run, pool, clock } = readyPool()
    run(1)
    run(2)
    clock.advance(100)
    links[0]!.work()
    clock.advance(300)
    links[0]!.work()
    const { waitTime, runTime } = pool.histogram
    assert.deepEqual([waitTime!.count, runTime!.count], [2, 2])
    assert.ok(Math.abs(waitTime!.max - 100) < 1, String(waitTime!.max))
    assert.ok(Math.abs(runTime!.max - 300) < 1, String(runTime!.max))
    assert.equal(pool.duration, 400)
    assert.ok(Math.abs(pool.utilization - 1) < 0.01)
    pool.histogram.reset('runTime')
    assert.deepEqual([waitTime!.count, runTime!.count], [2, 0])
    run(3)
    clock.advance(100)
    links[0]!.work()
    pool.histogram.reset('waitTime')
    assert.deepEqual([waitTime!.count, runTime!.count], [0, 1])
    pool.histogram.reset()
    assert.deepEqual([waitTime!.count, runTime!.count], [0, 0])
    assert.equal(pool.duration, 500)
    assert.ok(Math.abs(pool.utilization - 1) < 0.01)
  })

  test('utilization is a number from 0 to 1 from the first moment', () => {
    const { pool } = readyPool()
    assert.equal(pool.utilization, 0)
  })

  test('with recordTiming false there are no histograms and no utilization', () => {
    const { links, run, pool, clock } = readyPool({ recordTiming: false })
    run(1)
    clock.advance(10)
    links[0]!.work()
    assert.deepEqual(
      [pool.histogram.waitTime, pool.histogram.runTime, pool.utilization],
      [undefined, undefined, 0],
    )
    assert.deepEqual([pool.stats().waitTime, pool.stats().runTime], [null, null])
    pool.histogram.reset()
  })

  test('a worker has its own histogram when it is asked for', () => {
    const { links, run, pool } = readyPool({ workerHistogram: true })
    run(1)
    links[0]!.work()
    assert.equal(pool.workers[0]!.histogram!.count, 1)
    assert.equal(readyPool().pool.workers[0]!.histogram, null)
  })

  test('the view of a worker is the same object all its life, and live', async () => {
    const { pool, backend, run } = fakePool()
    const [view] = pool.workers
    assert.deepEqual([view!.id, view!.state, view!.isIdle, view!.slots], [1, 'spawning', true, 1])
    backend.newest.ready()
    run(1)
    assert.equal(pool.workers[0], view)
    assert.deepEqual([view!.state, view!.usage, view!.isIdle], ['ready', 1, false])
    assert.deepEqual(
      view!.tasks.map(({ payload }) => payload),
      [1],
    )
    backend.newest.exit(1)
    await microtasks()
    assert.deepEqual([view!.state, view!.threadId], ['exited', -1])
  })
})

test('the constructor throws for options that are wrong, and starts nothing', () => {
  assert.throws(() => new Pool({ maxThreads: 0 }), { code: 'ERR_LIDO_INVALID_OPTION', option: 'maxThreads' })
  const { backend } = fakePool({ minThreads: 0 })
  assert.equal(backend.links.length, 0)
})
