// A running task that is cancelled: its handler is told, has a grace period, and harms no other task.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { TaskTimeoutError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'

const filename = handler('cancellable.js')
const BEGUN = 0
const SEEN = 1
const AGAIN = 2
const never = Number.POSITIVE_INFINITY

for (const transport of ['shared-memory', 'messages']) {
  const road = transport === 'shared-memory' ? 'shared memory' : 'messages'
  const one = { filename, transport, minWorkers: 1, maxWorkers: 1 }

  test(`${road}: a handler reads its context, and its signal is the same at each look`, async open => {
    const pool = open(one)
    assert.deepEqual(await pool.run(1, { name: 'look' }), [false, false, true, true])
    assert.equal(await pool.run('x'), 'x')
  })

  test(`${road}: a handler that awaits receives the reason of the caller in its signal, and its worker lives`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const { port1, port2 } = new MessageChannel()
    const controller = new AbortController()
    const payload = { words, reasons: port2 }
    const options = { name: 'patient', signal: controller.signal, transferList: [port2] }
    const task = pool.run(payload, options)
    await reached(words, BEGUN)
    const said = once(port1, 'message')
    controller.abort(new RangeError('too far'))
    assert.equal((await rejection(task)).reason, controller.signal.reason)
    assert.equal((await said)[0], 'RangeError: too far')
    port1.close()
    assert.equal(await pool.run('next'), 'next')
    assert.equal(pool.workers[0].id, 1)
  })

  for (const name of ['loop', 'late']) {
    test(`${road}: a handler that never awaits (${name}) sees that it is cancelled, and its worker lives`, async open => {
      const pool = open({ ...one, cancelGrace: never })
      const words = sharedWords(3)
      const controller = new AbortController()
      const task = pool.run({ words }, { name, signal: controller.signal })
      await reached(words, BEGUN)
      controller.abort()
      await assert.rejects(task, { name: 'AbortError' })
      await reached(words, SEEN)
      assert.equal(await pool.run('next'), 'next')
      assert.equal(pool.workers[0].id, 1)
    })
  }

  test(`${road}: a cancelled task keeps its slot until its handler ends`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const controller = new AbortController()
    const task = pool.run({ words }, { name: 'neighbour', signal: controller.signal })
    await reached(words, BEGUN)
    controller.abort()
    await rejection(task)
    const next = pool.run('next')
    const { tasks, workers } = pool.stats()
    assert.deepEqual([tasks.inFlight, tasks.waiting, workers[0].usage], [0, 1, 1])
    set(words, AGAIN)
    assert.equal(await next, 'next')
    assert.equal(pool.stats().workers[0].usage, 0)
  })

  test(`${road}: a timeout rejects at once and ends the worker of an endless loop`, async open => {
    const pool = open({ ...one, cancelGrace: 0 })
    const words = sharedWords(3)
    const error = await rejection(pool.run({ words }, { name: 'stuck', timeout: 50 }))
    assert.ok(error instanceof TaskTimeoutError)
    assert.deepEqual([error.name, error.limit, error.limitMs], ['TimeoutError', 'timeout', 50])
    assert.equal(await pool.run('next'), 'next')
    assert.deepEqual(
      pool.workers.map(worker => worker.id),
      [2],
    )
  })

  test(`${road}: the reason of the signal names the limit that was reached`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const { port1, port2 } = new MessageChannel()
    const said = once(port1, 'message')
    const options = { name: 'patient', timeout: 50, transferList: [port2] }
    await rejection(pool.run({ words, reasons: port2 }, options))
    assert.match((await said)[0], /^TimeoutError: .* timeout of 50 ms/)
    port1.close()
  })

  test(`${road}: queueTimeout rejects a waiting task, and deadline a running one`, async open => {
    const pool = open({ ...one, cancelGrace: 0 })
    const words = sharedWords(3)
    // Both at once: a host that was held up finds both limits over in one look.
    const errors = rejections([
      pool.run({ words }, { name: 'stuck', deadline: Date.now() + 400 }),
      pool.run('late', { queueTimeout: 10 }),
    ])
    assert.deepEqual(
      (await errors).map(({ limit }) => limit),
      ['deadline', 'queueTimeout'],
    )
    assert.equal(await pool.run('next', { queueTimeout: 60_000 }), 'next')
  })

  test(`${road}: a handler that ignores its cancellation costs its worker, but no other task`, async open => {
    const pool = open({ ...one, concurrentTasksPerWorker: 2, cancelGrace: 1 })
    const words = sharedWords(3)
    const controller = new AbortController()
    const stubborn = pool.run({ words }, { name: 'stubborn', signal: controller.signal })
    const neighbour = pool.run({ words }, { name: 'neighbour' })
    await reached(words, BEGUN, 2)
    const [thread] = pool.threads
    const ended = once(thread, 'exit')
    controller.abort()
    await rejection(stubborn)
    // Its worker takes no more tasks, so another runs this one; it ends when the neighbour is done.
    assert.equal(await pool.run('next'), 'next')
    assert.notEqual(pool.workers.at(-1).thread, thread)
    set(words, AGAIN)
    assert.equal(await neighbour, 'unharmed')
    await ended
  })

  test(`${road}: a task beside a cancelled endless loop rejects with the end of their worker`, async open => {
    const pool = open({ ...one, concurrentTasksPerWorker: 2, cancelGrace: 1 })
    const words = sharedWords(3)
    const neighbour = pool.run({ words }, { name: 'neighbour' })
    await reached(words, BEGUN)
    const controller = new AbortController()
    const stuck = pool.run({ words }, { name: 'stuck', signal: controller.signal })
    await reached(words, BEGUN, 2)
    controller.abort()
    await assert.rejects(stuck, { name: 'AbortError' })
    assert.equal((await rejection(neighbour)).code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(await pool.run('next'), 'next')
  })

  test(`${road}: close() waits for the handler of a cancelled task within its grace`, async open => {
    const pool = open({ ...one, cancelGrace: 60_000 })
    const words = sharedWords(3)
    const controller = new AbortController()
    const task = pool.run({ words }, { name: 'patient', signal: controller.signal })
    await reached(words, BEGUN)
    controller.abort()
    await rejection(task)
    assert.deepEqual(await pool.close(), { cutOff: 0, timedOut: false })
    assert.equal(Atomics.load(words, SEEN), 1)
  })
}

for (const options of [{}, { backend: 'process' }]) {
  test(`a handler hears of a cancellation whose reason cannot be cloned (${JSON.stringify(options)})`, async open => {
    const pool = open({
      filename,
      minWorkers: 1,
      maxWorkers: 1,
      concurrentTasksPerWorker: 4,
      cancelGrace: never,
      ...options,
    })
    const controller = new AbortController()
    const cancelled = rejection(pool.run(null, { name: 'listen', signal: controller.signal }))
    // Tasks start in order: when this one is answered, the first has started.
    assert.deepEqual(await pool.run(null, { name: 'whatWasHeard' }), [])
    controller.abort(Object.assign(new Error('the reason'), { held: () => {} }))
    await cancelled
    let heard = []
    while (heard.length === 0) heard = await pool.run(null, { name: 'whatWasHeard' })
    assert.deepEqual(heard, ['the reason'])
  })
}

test('a timeout counts from the start of its task, and a deadline from the call', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const words = sharedWords(3)
  const busy = pool.run({ words }, { name: 'neighbour' })
  await reached(words, BEGUN)
  const patient = pool.run('in time', { timeout: 100 })
  const late = rejection(pool.run('too late', { deadline: Date.now() + 100 }))
  assert.equal((await late).limit, 'deadline')
  await new Promise(resolve => setTimeout(resolve, 100))
  set(words, AGAIN)
  assert.deepEqual(await Promise.all([busy, patient]), ['unharmed', 'in time'])
})
