// A cancelled running task: its handler receives the abort, has a grace period, and harms no other task.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { TaskTimeoutError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'

const filename = handler('cancellable.js')
const STARTED = 0
const SEEN = 1
const AGAIN = 2
const never = Number.POSITIVE_INFINITY

for (const transport of ['shared-memory', 'messages']) {
  const one = { filename, transport, minWorkers: 1, maxWorkers: 1 }

  test(`context holds one AbortSignal, which is not aborted before a cancellation (transport: ${transport})`, async open => {
    const pool = open(one)
    assert.deepEqual(await pool.run(1, { name: 'look' }), [false, false, true, true])
    assert.equal(await pool.run('x'), 'x')
  })

  test(`an awaiting handler receives the abort reason, and its worker survives (transport: ${transport})`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const { port1, port2 } = new MessageChannel()
    const controller = new AbortController()
    const payload = { words, reasons: port2 }
    const options = { name: 'patient', signal: controller.signal, transferList: [port2] }
    const task = pool.run(payload, options)
    await reached(words, STARTED)
    const said = once(port1, 'message')
    controller.abort(new RangeError('too far'))
    assert.equal((await rejection(task)).reason, controller.signal.reason)
    assert.equal((await said)[0], 'RangeError: too far')
    port1.close()
    assert.equal(await pool.run('next'), 'next')
    assert.equal(pool.workers[0].id, 1)
  })

  for (const name of ['loop', 'late']) {
    test(`a synchronous handler sees its cancellation, and its worker survives (${name}, transport: ${transport})`, async open => {
      const pool = open({ ...one, cancelGrace: never })
      const words = sharedWords(3)
      const controller = new AbortController()
      const task = pool.run({ words }, { name, signal: controller.signal })
      await reached(words, STARTED)
      controller.abort()
      await assert.rejects(task, { name: 'AbortError' })
      await reached(words, SEEN)
      assert.equal(await pool.run('next'), 'next')
      assert.equal(pool.workers[0].id, 1)
    })
  }

  test(`a cancelled task keeps its slot until its handler returns (transport: ${transport})`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const controller = new AbortController()
    const task = pool.run({ words }, { name: 'neighbour', signal: controller.signal })
    await reached(words, STARTED)
    controller.abort()
    await rejection(task)
    const next = pool.run('next')
    const { tasks, workers } = pool.stats()
    assert.deepEqual([tasks.inFlight, tasks.waiting, workers[0].usage], [0, 1, 1])
    set(words, AGAIN)
    assert.equal(await next, 'next')
    assert.equal(pool.stats().workers[0].usage, 0)
  })

  test(`a timeout rejects a task in an endless loop, and the pool replaces its worker (transport: ${transport})`, async open => {
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

  test(`the abort reason of a task that timed out names the timeout (transport: ${transport})`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const { port1, port2 } = new MessageChannel()
    const said = once(port1, 'message')
    const options = { name: 'patient', timeout: 50, transferList: [port2] }
    await rejection(pool.run({ words, reasons: port2 }, options))
    assert.match((await said)[0], /^TimeoutError: .* timeout of 50 ms/)
    port1.close()
  })

  test(`queueTimeout rejects a queued task, and deadline rejects a running task (transport: ${transport})`, async open => {
    const pool = open({ ...one, cancelGrace: 0 })
    const words = sharedWords(3)
    // Both tasks are submitted together: a blocked host may find both limits expired in one check.
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

  test(`a worker whose handler ignores an abort finishes its other task and exits (transport: ${transport})`, async open => {
    const pool = open({ ...one, concurrentTasksPerWorker: 2, cancelGrace: 1 })
    const words = sharedWords(3)
    const controller = new AbortController()
    const stubborn = pool.run({ words }, { name: 'stubborn', signal: controller.signal })
    const neighbour = pool.run({ words }, { name: 'neighbour' })
    await reached(words, STARTED, 2)
    const [thread] = pool.threads
    const ended = once(thread, 'exit')
    controller.abort()
    await rejection(stubborn)
    // The worker takes no more tasks, so another worker runs this task. The first worker exits after the neighbour.
    assert.equal(await pool.run('next'), 'next')
    assert.notEqual(pool.workers.at(-1).thread, thread)
    set(words, AGAIN)
    assert.equal(await neighbour, 'unharmed')
    await ended
  })

  test(`a task beside a cancelled endless loop rejects with ERR_LIDO_WORKER_EXIT (transport: ${transport})`, async open => {
    const pool = open({ ...one, concurrentTasksPerWorker: 2, cancelGrace: 1 })
    const words = sharedWords(3)
    const neighbour = pool.run({ words }, { name: 'neighbour' })
    await reached(words, STARTED)
    const controller = new AbortController()
    const stuck = pool.run({ words }, { name: 'stuck', signal: controller.signal })
    await reached(words, STARTED, 2)
    controller.abort()
    await assert.rejects(stuck, { name: 'AbortError' })
    assert.equal((await rejection(neighbour)).code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(await pool.run('next'), 'next')
  })

  test(`close() waits for the handler of a cancelled task during its cancelGrace (transport: ${transport})`, async open => {
    const pool = open({ ...one, cancelGrace: 60_000 })
    const words = sharedWords(3)
    const controller = new AbortController()
    const task = pool.run({ words }, { name: 'patient', signal: controller.signal })
    await reached(words, STARTED)
    controller.abort()
    await rejection(task)
    assert.deepEqual(await pool.close(), { cutOff: 0, timedOut: false })
    assert.equal(Atomics.load(words, SEEN), 1)
  })
}

for (const options of [{}, { backend: 'process' }]) {
  test(`a handler receives an abort whose reason cannot be cloned (backend: ${options.backend ?? 'thread'})`, async open => {
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
    // Tasks start in order, so the first task has started when this task is answered.
    assert.deepEqual(await pool.run(null, { name: 'whatWasHeard' }), [])
    controller.abort(Object.assign(new Error('the reason'), { held: () => {} }))
    await cancelled
    let heard = []
    while (heard.length === 0) heard = await pool.run(null, { name: 'whatWasHeard' })
    assert.deepEqual(heard, ['the reason'])
  })
}

test('timeout excludes the time in the queue, and deadline includes it', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const words = sharedWords(3)
  const busy = pool.run({ words }, { name: 'neighbour' })
  await reached(words, STARTED)
  const patient = pool.run('in time', { timeout: 100 })
  const late = rejection(pool.run('too late', { deadline: Date.now() + 100 }))
  assert.equal((await late).limit, 'deadline')
  await new Promise(resolve => setTimeout(resolve, 100))
  set(words, AGAIN)
  assert.deepEqual(await Promise.all([busy, patient]), ['unharmed', 'in time'])
})
