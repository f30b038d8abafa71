// A handler that runs when its task is cancelled: it is told, also where it never awaits; it has its moment; what is beside
// it goes on.
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

for (const lane of [true, false]) {
  const road = lane ? 'by the lane' : 'by messages'
  const one = { filename, lane, minThreads: 1, maxThreads: 1 }

  test(`${road}: every handler is given a context, whether it looks or not`, async open => {
    const pool = open(one)
    assert.deepEqual(await pool.run(1, { name: 'look' }), [false, false, true, true])
    assert.equal(await pool.run('x'), 'x')
  })

  test(`${road}: with context: false a handler is given the payload alone`, async open => {
    const pool = open({ ...one, context: false })
    assert.equal(await pool.run(1, { name: 'count' }), 1)
    assert.equal(await open(one).run(1, { name: 'count' }), 2)
  })

  test(`${road}: a handler that awaits hears of it by its signal, with the caller's reason, and its worker lives`, async open => {
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
    test(`${road}: a handler that never awaits (${name}) sees it in shared memory, and its worker lives`, async open => {
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

  test(`${road}: a slot is taken until the handler of a cancelled task has ended`, async open => {
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

  test(`${road}: a timeout rejects at once and ends a loop that does not look`, async open => {
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

  test(`${road}: the signal of a handler whose time is over says which limit it was`, async open => {
    const pool = open({ ...one, cancelGrace: never })
    const words = sharedWords(3)
    const { port1, port2 } = new MessageChannel()
    const said = once(port1, 'message')
    const options = { name: 'patient', timeout: 50, transferList: [port2] }
    await rejection(pool.run({ words, reasons: port2 }, options))
    assert.match((await said)[0], /^TimeoutError: .* timeout of 50 ms/)
    port1.close()
  })

  test(`${road}: queueTimeout rejects what waits; deadline what is not done`, async open => {
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

  test(`${road}: 2,000 tasks within their limits are all answered`, async open => {
    const pool = open({ ...one, maxThreads: 2, timeout: 60_000, queueTimeout: 60_000 })
    const answers = await Promise.all(Array.from({ length: 2000 }, (_, index) => pool.run(index)))
    assert.deepEqual(answers, [...answers.keys()])
  })

  test(`${road}: a stubborn handler costs its worker, not its neighbour; the tasks behind run elsewhere`, async open => {
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

  test(`${road}: beside a loop that holds the thread the neighbour rejects, since nothing else is left`, async open => {
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

  test(`${road}: close() lets the handler of a cancelled task end within its grace`, async open => {
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

  test(`${road}: tasks cancelled at random moments all settle, and their slots are free again`, async open => {
    const pool = open({ ...one, maxThreads: 2, concurrentTasksPerWorker: 3, cancelGrace: never })
    const words = sharedWords(3)
    const answers = []
    for (let round = 0; round < 300; round++) {
      const controller = new AbortController()
      const { signal } = controller
      const name = ['patient', 'default', 'late'][round % 3]
      const answer = pool.run({ words }, { name, signal })
      answer.catch(() => {})
      answers.push(answer)
      if (name === 'default' && round % 2 === 0) controller.abort()
      else if (name !== 'default') {
        if (round % 4 < 2) await new Promise(resolve => setImmediate(resolve))
        controller.abort()
      }
    }
    const outcomes = await Promise.allSettled(answers)
    assert.ok(outcomes.every(({ status }, index) => status === 'rejected' || index % 3 === 1))
    const next = await Promise.all(Array.from({ length: 20 }, (_, index) => pool.run(index)))
    assert.deepEqual(next, [...next.keys()])
    await pool.close()
    assert.equal(pool.stats().tasks.inFlight, 0)
  })
}
