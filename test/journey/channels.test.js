// The diagnostics channels: their events in the program and in workers, for each way to call a handler and each backend.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { execFile } from 'node:child_process'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Pool } from 'lido'
import { carry } from 'lido/worker'
import { refusing } from '../fixtures/handlers/observed.js'
import { handler } from '../helpers/handler.js'

const names = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
const filename = handler('observed.js')
const waitForever = { filename, name: 'waitForAbort' }

/** Records the events of tasks until it is stopped. */
function record() {
  const events = []
  const subscribers = Object.fromEntries(
    names.map(name => [name, message => events.push({ name, message, outcome: message.outcome })]),
  )
  const tasks = tracingChannel('lido.task')
  tasks.subscribe(subscribers)
  return { events, stop: () => tasks.unsubscribe(subscribers) }
}

/** The names of the events of each task, in order. */
function sequences(events) {
  const byMessage = new Map()
  for (const { name, message } of events) byMessage.set(message, [...(byMessage.get(message) ?? []), name])
  return byMessage
}

const FULFILLED = ['start', 'end', 'asyncStart', 'asyncEnd']
const FAILED = ['start', 'end', 'error', 'asyncStart', 'asyncEnd']

const kinds = {
  threads: {},
  'threads with messages': { transport: 'messages' },
  processes: { backend: 'process' },
  'the inline backend': { backend: 'inline' },
}

for (const [kind, options] of Object.entries(kinds)) {
  describe(kind, () => {
    const pool = new Pool({ filename, minWorkers: 1, maxWorkers: 1, ...options })
    after(() => pool.destroy())

    test('each way to call a handler publishes one start and one end, with one message', async () => {
      const { events, stop } = record()
      try {
        assert.equal(await pool.run(7), 7)
        assert.deepEqual(await pool.map([1, 2]), [1, 2])
        assert.equal(await pool.api.default('a'), 'a')
        for await (const chunk of pool.stream(1, { name: 'count' })) assert.equal(chunk[0], 0)
        const { readable, writable } = pool.transform({ name: 'double' })
        const writer = writable.getWriter()
        const written = writer.write(4).then(() => writer.close())
        for await (const chunk of readable) assert.equal(chunk, 8)
        await written
        assert.deepEqual(await pool.broadcast(5), [5])
        await assert.rejects(pool.run('broken', { name: 'fail' }), RangeError)
      } finally {
        await settled(events, 8)
        stop()
      }
      const found = sequences(events)
      assert.deepEqual(
        [...found.values()].map(sequence => sequence.join()),
        [...Array(7).fill(FULFILLED.join()), FAILED.join()],
      )
      const messages = [...found.keys()]
      assert.deepEqual(
        messages.map(({ name, outcome }) => `${name} ${outcome}`),
        ['default', 'default', 'default', 'default', 'count', 'double', 'default']
          .map(name => `${name} fulfilled`)
          .concat('fail rejected'),
      )
      const [first] = messages
      assert.equal(first.result, 7)
      assert.equal(messages.at(-1).error.message, 'broken')
      assert.equal(messages.at(-1).error instanceof RangeError, true)
      for (const {
        pool: { id, label },
        workerId,
        waitMs,
        runMs,
        attempt,
        queueSize,
      } of messages) {
        assert.deepEqual([id, label], [pool.stats().id, pool.stats().label])
        assert.ok(workerId >= 1 && waitMs >= 0 && runMs >= 0 && attempt === 1 && queueSize >= 0)
      }
      assert.equal(new Set(messages.map(({ taskId }) => taskId)).size, messages.length)
      assert.ok(messages.every(message => !('payload' in message)))
    })

    test('a handler publishes its call in the worker, and sees the store that a subscriber binds', async () => {
      await pool.run(0, { name: 'watch' })
      assert.deepEqual(await pool.run(0, { name: 'boundName' }), ['boundName', 'boundName'])
      await assert.rejects(pool.run('now', { name: 'fail' }))
      await assert.rejects(pool.run('later', { name: 'failLater' }))
      for await (const chunk of await pool.api.count(1)) assert.deepEqual(chunk, [0, 'count'])
      const own = new Set(['boundName', 'fail', 'failLater', 'count'])
      const events = (await pool.run(0, { name: 'events' })).filter(({ name }) => own.has(name))
      const shown = events.map(({ event, name, error }) => [event, name, error].filter(Boolean).join(' '))
      assert.deepEqual(shown, [
        ...['start boundName', 'end boundName', 'asyncStart boundName', 'asyncEnd boundName'],
        ...['start fail', 'error fail now', 'end fail now'],
        ...['start failLater', 'end failLater', 'error failLater later'],
        ...['asyncStart failLater later', 'asyncEnd failLater later'],
        ...['start count', 'end count', 'asyncStart count', 'asyncEnd count'],
      ])
      assert.ok(events[0].keys.includes('workerId') && events[0].keys.includes('threadId'))
    })

    test('a handler that a carried store does not call publishes nothing', async () => {
      await pool.run(0, { name: 'watch' })
      await pool.run(0, { name: 'events' })
      await assert.rejects(
        refusing.run('value', () => pool.run(0, { name: 'boundName' })),
        /refused/,
      )
      const events = await pool.run(0, { name: 'events' })
      assert.deepEqual(
        events.filter(({ name }) => name === 'boundName'),
        [],
      )
    })

    test('a task whose payload cannot be sent publishes its end before it settles', async () => {
      const { events, stop } = record()
      await assert.rejects(pool.run(() => {}))
      stop()
      assert.deepEqual(
        events.map(({ name }) => name),
        FAILED,
      )
    })

    test('a handler reads when its first time limit ends', async () => {
      assert.equal(await pool.run(0, { name: 'timeLeft' }), null)
      const ofTimeout = await pool.run(0, { name: 'timeLeft', timeout: 60_000, deadline: Date.now() + 3e6 })
      assert.ok(ofTimeout > 30_000 && ofTimeout <= 60_001, `${ofTimeout}`)
      const ofDeadline = await pool.run(0, { name: 'timeLeft', timeout: 3e6, deadline: Date.now() + 60_000 })
      assert.ok(ofDeadline > 30_000 && ofDeadline <= 60_001, `${ofDeadline}`)
      for (const days of [25, 60, 1e6]) {
        assert.equal(await pool.run(0, { name: 'timeLeft', deadline: Date.now() + days * 86_400_000 }), null)
      }
    })
  })
}

/** Resolves when that many tasks have ended, since the last event comes after the result. */
async function settled(events, count) {
  while (events.filter(({ name }) => name === 'asyncEnd').length < count) await wait(1)
}

for (const [kind, options, count] of [
  ['threads', {}, 10_000],
  ['processes', { backend: 'process' }, 500],
]) {
  test(`each start among ${count} tasks that throw, die, run again and are cancelled has one end: ${kind}`, async () => {
    const pool = new Pool({ filename, minWorkers: 2, maxWorkers: 2, performanceWarnings: false, ...options })
    const { events, stop } = record()
    const seen = new Map()
    const counts = {}
    const note = (taskName, call) =>
      call
        .then(
          () => 'fulfilled',
          error => (error.name === 'AbortError' || error.name === 'TimeoutError' ? 'cancelled' : 'rejected'),
        )
        .then(outcome => {
          const key = `${taskName} ${outcome}`
          seen.set(key, (seen.get(key) ?? 0) + 1)
        })
    const calls = []
    const batch = 100
    for (let from = 0; from < count; from += batch) {
      for (let index = from; index < from + batch; index++) {
        const turn = index % 10
        if (turn === 0) calls.push(note('fail', pool.run(index, { name: 'fail' })))
        else if (turn === 1) calls.push(note('failLater', pool.run(index, { name: 'failLater' })))
        else if (turn === 2) {
          const controller = new AbortController()
          calls.push(note('waitForAbort', pool.run(0, { ...waitForever, signal: controller.signal })))
          if (index % 20 === 2) controller.abort()
          else setImmediate(() => controller.abort())
        } else if (index % 500 === 3) calls.push(note('exit', pool.run(0, { name: 'exit' })))
        else if (index % 500 === 4)
          calls.push(note('exit', pool.run(0, { name: 'exit', retry: { attempts: 2 } })))
        else if (turn === 5 && index % 100 === 5)
          calls.push(note('waitForAbort', pool.run(0, { ...waitForever, timeout: 5 })))
        else calls.push(note('default', pool.run(index)))
      }
      await Promise.all(calls)
    }
    // Tasks that cannot finish.
    const cutOff = [1, 2, 3, 4].map(() => note('waitForAbort', pool.run(0, { name: 'waitForAbort' })))
    await pool.destroy()
    await Promise.all(cutOff)
    stop()
    const published = new Map()
    for (const [message, sequence] of sequences(events)) {
      const { name, outcome } = message
      assert.deepEqual(sequence, outcome === 'fulfilled' ? FULFILLED : FAILED)
      const key = `${name} ${outcome}`
      published.set(key, (published.get(key) ?? 0) + 1)
      counts[message.attempt] = (counts[message.attempt] ?? 0) + 1
    }
    assert.deepEqual(new Map([...published].sort()), new Map([...seen].sort()))
    assert.equal(
      [...seen.values()].reduce((sum, value) => sum + value),
      events.filter(({ name }) => name === 'start').length,
    )
    assert.ok(counts[2] > 0, 'some tasks ran a second time')
  })
}

test('a task that runs again keeps its message, and counts its attempts', async () => {
  const pool = new Pool({ filename, maxWorkers: 1 })
  const { events, stop } = record()
  const counter = new SharedArrayBuffer(4)
  assert.equal(
    await pool.run({ counter, attempts: 3 }, { name: 'exitUntil', retry: { attempts: 3 } }),
    'survived',
  )
  stop()
  await pool.close()
  assert.deepEqual([...sequences(events).values()], [FULFILLED])
  const { attempt, workerId } = events.at(-1).message
  assert.deepEqual([attempt, workerId], [3, 3])
})

test('a subscriber that comes half-way sees no end without a start', async () => {
  const pool = new Pool({ filename, maxWorkers: 2 })
  const controller = new AbortController()
  const early = pool.run(0, { ...waitForever, signal: controller.signal })
  const { events, stop } = record()
  const late = pool.run(1)
  assert.equal(await late, 1)
  controller.abort()
  await assert.rejects(early, { name: 'AbortError' })
  stop()
  await pool.run(2)
  await pool.close()
  assert.deepEqual([...sequences(events).values()], [FULFILLED])
})

test('a call that finds the queue full publishes its start and its end', async () => {
  const pool = new Pool({ filename, maxWorkers: 1, maxQueue: 0 })
  await pool.run(0)
  const controller = new AbortController()
  const running = pool.run(0, { ...waitForever, signal: controller.signal })
  const { events, stop } = record()
  await assert.rejects(pool.run(1), { name: 'QueueFullError' })
  stop()
  controller.abort()
  await assert.rejects(running)
  await pool.close()
  assert.deepEqual([...sequences(events).values()], [FAILED])
  const { outcome, error } = events.at(-1).message
  assert.deepEqual([outcome, error.name], ['rejected', 'QueueFullError'])
})

test('pools and workers publish their starts and ends, in order', async () => {
  const events = []
  const subscribe = name => channel(name).subscribe(message => events.push({ name, message }))
  for (const name of ['lido.pool.open', 'lido.pool.close', 'lido.worker.start', 'lido.worker.exit'])
    subscribe(name)
  const pool = new Pool({ filename, minWorkers: 1, maxWorkers: 1, label: 'watched' })
  await pool.ready()
  const [{ threadId }] = pool.workers
  await assert.rejects(pool.run(0, { name: 'exit' }), { name: 'WorkerExitError' })
  await pool.run(1)
  await pool.close()
  const own = events.filter(({ message }) => (message.pool.label ?? message.label) === 'watched')
  const shown = own.map(({ name, message }) =>
    [name, message.workerId, message.reason].filter(Boolean).join(' '),
  )
  assert.deepEqual(shown, [
    'lido.pool.open',
    'lido.worker.start 1',
    'lido.worker.exit 1 death',
    'lido.worker.start 2',
    'lido.worker.exit 2 close',
    'lido.pool.close',
  ])
  assert.equal(own[0].message.pool, pool)
  assert.equal(own[2].message.threadId, threadId)
})

test('carry() reads the store that a subscriber of the channel binds', async () => {
  const store = new AsyncLocalStorage()
  const bind = message => `${message.name} ${message.taskId}`
  const captured = []
  carry({
    name: 'bound in channels.test',
    capture(task) {
      captured.push([store.getStore(), task?.name])
      return undefined
    },
    run: (_value, callback) => callback(),
  })
  tracingChannel('lido.task').start.bindStore(store, bind)
  const pool = new Pool({ filename, maxWorkers: 1 })
  await pool.run(1)
  tracingChannel('lido.task').start.unbindStore(store)
  await pool.run(2)
  await pool.close()
  assert.deepEqual(captured, [
    ['default 1', 'default'],
    [undefined, undefined],
  ])
})

test('a subscriber that throws changes no result', async () => {
  const program = `
    import { tracingChannel } from 'node:diagnostics_channel'
    import { Pool } from 'lido'
    let thrown = 0
    process.on('uncaughtException', () => thrown++)
    const fail = () => { throw new Error('subscriber') }
    tracingChannel('lido.task').subscribe({ start: fail, end: fail, asyncStart: fail, asyncEnd: fail, error: fail })
    const pool = new Pool({ filename: ${JSON.stringify(filename.href)}, maxWorkers: 1 })
    const results = [await pool.run(1), await pool.run('x', { name: 'fail' }).catch(error => error.message)]
    await pool.close()
    setImmediate(() => console.log(JSON.stringify([results, thrown])))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  assert.deepEqual(JSON.parse(stdout), [[1, 'x'], 9])
})

test('carry() refuses wrong arguments, and says what to write', () => {
  const store = new AsyncLocalStorage()
  const wrong = [
    [[], /'name' of carry\(\) must be a string that is not empty, got undefined/],
    [[store, { name: '' }], /got an empty string/],
    [[store, { name: '__proto__' }], /another name/],
    [[store, { name: 'request', pik: () => 1 }], /Unknown option 'pik' of carry\(\)/],
    [[store, { name: 'request', pick: 'id' }], /'pick' of carry\(\) must be a function, got 'id'/],
    [[{ name: 'request', capture: () => 1 }], /'run' of carry\(\) must be a function/],
  ]
  for (const [args, message] of wrong) assert.throws(() => carry(...args), { name: 'TypeError', message })
})
