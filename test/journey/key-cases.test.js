// Single cases of the option `key`: what becomes of the tasks behind a task that is cancelled, fails, waits, or loses its worker.
import assert from 'node:assert/strict'
import {
  FifoQueue,
  InvalidTaskError,
  PoolClosedError,
  PriorityQueue,
  QueueFullError,
  TaskCancelledError,
  TaskTimeoutError,
  WorkerExitError,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { gate, openKeyed, started, wrongIn } from '../helpers/keyed.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'

const isInline = ({ backend }) => backend === 'inline'
const one = { maxWorkers: 1 }
const again = { retry: { attempts: 2, when: () => true } }

/** A queue of a program. It refuses the tasks with this payload. */
class PickyQueue extends FifoQueue {
  refused = new Error('refused')
  push(task) {
    if (task.payload.isRefused) throw this.refused
    super.push(task)
  }
}

/** Each case gets what `openKeyed()` opens. The key is 'a', unless a case needs more keys. */
const cases = {
  'a held task starts no worker and holds up no other task': async ({ pool, payload, ran, run }) => {
    const { options, asked, open } = gate()
    const first = run('a', 0, options)
    await asked(0)
    const held = [run('a', 1), run('a', 2)]
    assert.deepEqual([pool.workers.length, pool.queueSize, pool.stats().waitingFor], [1, 2, 'key'])
    assert.equal(await run('b', 3), 3)
    assert.equal(await pool.run(payload('none', 4)), 4)
    assert.deepEqual([pool.queueSize, pool.stats().tasks.waiting, ran('a')], [2, 2, '+0'])
    await open(0)
    assert.deepEqual(await Promise.all([first, ...held]), [0, 1, 2])
    assert.equal(ran('a'), '+0 -0 +1 -1 +2 -2')
    assert.deepEqual([pool.queueSize, pool.stats().queue.oldestMs], [0, null])
  },

  "with keyOrder 'none', tasks of one key run at the same time": async ({ ran, run }) => {
    const { options, asked, open } = gate()
    const calls = [0, 1].map(n => run('a', n, { ...options, keyOrder: 'none' }))
    await Promise.all([asked(0), asked(1)])
    await Promise.all([open(1), open(0), ...calls])
    assert.match(ran('a'), /^\+. \+. -. -.$/)
  },

  'a cancelled held task never starts, and its successor does': async ({ ran, run }) => {
    const { options, asked, open } = gate()
    const first = run('a', 0, options)
    await asked(0)
    const controller = new AbortController()
    const cancelled = run('a', 1, { signal: controller.signal })
    const late = run('a', 2, { queueTimeout: 1 })
    const last = run('a', 3)
    controller.abort()
    assert.ok((await rejection(cancelled)) instanceof TaskCancelledError)
    assert.ok((await rejection(late)) instanceof TaskTimeoutError)
    await open(0)
    assert.deepEqual(await Promise.all([first, last]), [0, 3])
    assert.equal(ran('a'), '+0 -0 +3 -3')
  },

  'a cancelled queued task passes its key on': {
    options: one,
    play: async ({ ran, run }) => {
      const { options, asked, open } = gate()
      const busy = run('b', 0, options)
      await asked(0)
      const controller = new AbortController()
      const cancelled = run('a', 1, { signal: controller.signal })
      const next = run('a', 2)
      controller.abort()
      await rejection(cancelled)
      await open(0)
      assert.deepEqual(await Promise.all([busy, next]), [0, 2])
      assert.equal(ran('a'), '+2 -2')
    },
  },

  'a cancelled running task keeps its key until its handler has ended': async ({ ran, run }) => {
    const controller = new AbortController()
    const { call } = await started(told =>
      run('a', 0, { name: 'stopsSlowly', signal: controller.signal, ...told }),
    )
    const next = run('a', 1)
    controller.abort()
    assert.ok((await rejection(call)) instanceof TaskCancelledError)
    assert.equal(await next, 1)
    assert.equal(ran('a'), '+0 -0 +1 -1')
  },

  'a task that never ends frees its key by its time limit': {
    options: { cancelGrace: 1 },
    play: async ({ ran, run }) => {
      const endless = run('a', 0, { name: 'never', timeout: 250 })
      const next = run('a', 1)
      assert.ok((await rejection(endless)) instanceof TaskTimeoutError)
      assert.equal(await next, 1)
      assert.equal(ran('a'), '+0 +1 -1')
    },
  },

  'a task keeps its key until its last attempt': async ({ ran, run }) => {
    const { options, open } = gate()
    const first = run('a', 0, { ...options, ...again })
    const next = run('a', 1)
    await open(0, 'throw')
    await open(0)
    assert.deepEqual(await Promise.all([first, next]), [0, 1])
    assert.equal(ran('a'), '+0 -0 +0 -0 +1 -1')
  },

  'a task that fails frees its key': async ({ ran, run }) => {
    const first = run('a', 0, {}, { turns: 1, throws: true })
    const next = run('a', 1)
    assert.equal((await rejection(first)).message, 'thrown')
    assert.equal(await next, 1)
    assert.equal(ran('a'), '+0 -0 +1 -1')
  },

  'a task with a refused payload frees its key': async ({ ran, run }) => {
    const refused = run('a', 0, {}, { refused: () => {} })
    const next = run('a', 1)
    await rejection(refused)
    assert.equal(await next, 1)
    assert.equal(ran('a'), '+1 -1')
  },

  'a task whose worker exits frees its key after its last attempt': {
    skips: isInline,
    play: async ({ ran, run }) => {
      const first = run('a', 0, { retry: { attempts: 2 } }, { turns: 1, exits: true })
      const next = run('a', 1)
      await rejection(first)
      assert.equal(await next, 1)
      assert.equal(ran('a'), '+0 +0 +1 -1')
    },
  },

  'a task of a killed worker keeps its key until the worker has ended': {
    skips: isInline,
    options: { minWorkers: 2 },
    play: async ({ pool, notes, ran, run }) => {
      await pool.ready()
      const { call } = await started(told => run('a', 0, { name: 'blocks', ...told }))
      const next = run('a', 1)
      void pool.workers.find(({ usage }) => usage > 0).terminate()
      assert.ok((await rejection(call)) instanceof WorkerExitError)
      assert.equal(await next, 1)
      assert.equal(wrongIn(notes()), null)
      assert.match(ran('a'), /^\+0 (-0 )?\+1 -1$/)
    },
  },

  'a task of a killed worker runs again when the worker has ended': {
    skips: isInline,
    options: { minWorkers: 2 },
    play: async ({ pool, notes, run }) => {
      await pool.ready()
      const { call } = await started(told => run('a', 0, { name: 'blocks', ...again, ...told }))
      const next = run('a', 1)
      void pool.workers.find(({ usage }) => usage > 0).terminate()
      assert.deepEqual(await Promise.all([call, next]), [0, 1])
      assert.equal(wrongIn(notes()), null)
    },
  },

  'a task of a killed worker that runs again leaves its place in its group': {
    skips: isInline,
    options: { minWorkers: 2, groups: { limit: 1 } },
    play: async ({ pool, payload, run }) => {
      await pool.ready()
      const group = 'one'
      const { call } = await started(told => run('a', 0, { name: 'blocks', group, ...again, ...told }))
      void pool.workers.find(({ usage }) => usage > 0).terminate()
      assert.equal(await call, 0)
      assert.equal(await pool.run(payload('none', 1), { group }), 1)
      assert.deepEqual([pool.stats().groups[0].running, pool.stats().waitingFor], [0, null])
    },
  },

  'a task moves to a free slot of a worker that runs other tasks': {
    options: { minWorkers: 2, concurrentTasksPerWorker: 2 },
    play: async ({ pool, payload, run }) => {
      await pool.ready()
      const ending = new AbortController()
      const slow = { name: 'stopsSlowly', signal: ending.signal }
      const sticky = { keyOrder: 'none' }
      for (const n of [0, 1]) await started(told => run('a', n, { ...slow, ...sticky, ...told }))
      await started(told => pool.run(payload('none', 2), { ...slow, ...told }))
      assert.equal(await run('a', 3, sticky), 3)
      ending.abort()
      // The handlers write until their workers have ended.
      await pool.destroy()
    },
  },

  'held tasks fill the queue, and a task that can start is still accepted': {
    options: { maxQueue: 1 },
    play: async ({ pool, run }) => {
      const { options, asked, open } = gate()
      const first = run('a', 0, options)
      await asked(0)
      const held = run('a', 1)
      assert.ok((await rejection(run('a', 2))) instanceof QueueFullError)
      assert.deepEqual([pool.needsDrain, pool.queueSize], [true, 1])
      assert.equal(await run('b', 3), 3)
      await open(0)
      assert.deepEqual(await Promise.all([first, held, pool.room()]), [0, 1, undefined])
      assert.equal(pool.needsDrain, false)
    },
  },

  'maxQueue: 0 refuses a task whose key is busy': {
    options: { maxQueue: 0 },
    play: async ({ run }) => {
      const { options, asked, open } = gate()
      const first = run('a', 0, options)
      await asked(0)
      assert.ok((await rejection(run('a', 1))) instanceof QueueFullError)
      await open(0)
      assert.equal(await first, 0)
      assert.equal(await run('a', 2), 2)
    },
  },

  'cancelQueued() cancels held tasks, and the key stays in use': async ({ pool, ran, run }) => {
    const { options, asked, open } = gate()
    const first = run('a', 0, options)
    await asked(0)
    const held = [1, 2].map(n => run('a', n))
    pool.cancelQueued()
    for (const reason of await rejections(held)) assert.ok(reason instanceof TaskCancelledError)
    const next = run('a', 3)
    await open(0)
    assert.deepEqual(await Promise.all([first, next]), [0, 3])
    assert.equal(ran('a'), '+0 -0 +3 -3')
  },

  'close() runs held tasks': async ({ pool, ran, run }) => {
    const calls = [0, 1, 2].map(n => run('a', n, {}, { turns: 2 }))
    const { cutOff } = await pool.close()
    assert.deepEqual([await Promise.all(calls), cutOff], [[0, 1, 2], 0])
    assert.equal(ran('a'), '+0 -0 +1 -1 +2 -2')
  },

  'close({ force: true }) and destroy() reject held tasks': async ({ pool, ran, run }) => {
    const { options, asked, open } = gate()
    const first = run('a', 0, options)
    await asked(0)
    const held = [1, 2].map(n => run('a', n))
    const closed = pool.close({ force: true })
    for (const reason of await rejections(held)) assert.ok(reason instanceof PoolClosedError)
    await open(0)
    assert.equal(await first, 0)
    assert.deepEqual([(await closed).cutOff, ran('a')], [2, '+0 -0'])
  },

  'destroy() rejects the running task and the held tasks': async ({ pool, run }) => {
    const { options, asked } = gate()
    const first = run('a', 0, options)
    await asked(0)
    const calls = [first, run('a', 1), run('a', 2)]
    await Promise.all([
      pool.destroy(),
      ...calls.map(async call => assert.ok((await rejection(call)) instanceof PoolClosedError)),
    ])
  },

  'a task starts when the large result of its predecessor is decoded': async ({ ran, run }) => {
    const [rows, next] = await Promise.all([run('a', 0, { name: 'large' }), run('a', 1)])
    assert.deepEqual([rows.length, next, ran('a')], [200_000, 1, '+0 -0 +1 -1'])
  },

  'a PriorityQueue orders keys, and no task overtakes a task of its key': {
    options: { ...one, queue: () => new PriorityQueue() },
    play: async ({ notes, run }) => {
      const { options, asked, open } = gate()
      const busy = run('z', 0, options)
      await asked(0)
      const calls = [run('a', 1), run('a', 2, { priority: 9 }), run('b', 3, { priority: 5 }), run('c', 4)]
      await open(0)
      await Promise.all([busy, ...calls])
      // A worker may claim task 4 before the host knows that task 1 has ended.
      const starts = notes().filter(({ word }) => word === 'start')
      assert.deepEqual(
        starts.map(({ n }) => n).filter(n => n !== 4),
        [0, 3, 1, 2],
      )
    },
  },

  "an error of the program's queue rejects the held tasks that it refuses": {
    options: { queue: () => new PickyQueue() },
    play: async ({ run, ran }) => {
      const { options, asked, open } = gate()
      const first = run('a', 0, options)
      await asked(0)
      const refused = [1, 2].map(n => run('a', n, {}, { isRefused: true }))
      const last = run('a', 3)
      await open(0)
      for (const reason of await rejections(refused)) assert.equal(reason.message, 'refused')
      assert.deepEqual(await Promise.all([first, last]), [0, 3])
      assert.equal(ran('a'), '+0 -0 +3 -3')
    },
  },

  'a task of the same key in a function of a waiting task is refused': async ({ run }) => {
    const errors = []
    const nested = async n => {
      errors.push(await rejection(run('a', n + 1)))
      return await run('b', n + 1, {
        name: 'asks',
        functions: { ask: async m => errors.push(await rejection(run('a', m))) },
      })
    }
    await run('a', 0, { name: 'asks', functions: { ask: nested } })
    assert.equal(errors.length, 2)
    for (const error of errors) {
      assert.ok(error instanceof InvalidTaskError, String(error))
      assert.equal(error.option, 'key')
    }
    assert.equal(await run('a', 1), 1)
  },

  'tasks that wait for the keys of each other end by a limit': async ({ run }) => {
    const limited = { queueTimeout: 50 }
    const started = new Set()
    const nested = (n, key) => async () => {
      started.add(n)
      while (started.size < 2) await new Promise(setImmediate)
      // After the end of the other task, this one may get its key.
      return run(key, n, limited).then(
        () => 'answered',
        ({ name }) => name,
      )
    }
    const calls = [
      run('a', 0, { name: 'asks', functions: { ask: nested(0, 'b') } }),
      run('b', 1, { name: 'asks', functions: { ask: nested(1, 'a') } }),
    ]
    assert.ok((await Promise.all(calls)).includes('TimeoutError'))
  },

  'a waiting task lends its slot to the task that has the key of its own task': {
    options: one,
    play: async ({ ran, run }) => {
      const { options, asked, open } = gate()
      const lender = run('b', 0, {
        name: 'asks',
        functions: { ask: n => options.functions.ask(n).then(() => run('a', 3)) },
      })
      await asked(0)
      const others = [run('a', 1), run('a', 2)]
      await open(0)
      assert.deepEqual(await Promise.all([lender, ...others]), [3, 1, 2])
      assert.equal(ran('a'), '+1 -1 +2 -2 +3 -3')
    },
  },

  'streams, transforms, the api, with(), map() and call() take a key': async ({
    pool,
    payload,
    ran,
    run,
  }) => {
    const key = 'a'
    const chunks = pool
      .stream(payload(key, 3), { name: 'counts', key, highWaterMark: 1 })
      [Symbol.asyncIterator]()
    assert.equal((await chunks.next()).value, 0)
    const doubled = ReadableStream.from([1, 2]).pipeThrough(pool.transform({ name: 'doubles', key }))
    const later = [
      collect(doubled),
      pool.with({ key }).api.default(payload(key, 5)),
      pool.map([payload(key, 6), payload(key, 7)], { key }).toArray(),
      pool.call({ key }, n => n, 8),
      run(key, 9),
    ]
    assert.equal(await run('b', 1), 1)
    assert.equal(ran(key), '+3')
    assert.equal(pool.queueSize, 6)
    assert.deepEqual(await collect(chunks), [1, 2])
    assert.deepEqual(await Promise.all(later), [[2, 4], 5, [6, 7], 8, 9])
    assert.match(ran(key), /^\+3 -3 \+5 -5 \+6 -6 .*-9/)
  },

  'broadcast() refuses a key': async ({ pool }) => {
    const error = await rejection(pool.broadcast(1, { key: 'a' }))
    assert.ok(error instanceof InvalidTaskError)
    assert.match(error.message, /'key'/)
  },
}

/** Also collects from an iterator that has given values before. */
async function collect(chunks) {
  const all = []
  const iterator = chunks.next === undefined ? chunks : { [Symbol.asyncIterator]: () => chunks }
  for await (const chunk of iterator) all.push(chunk)
  return all
}

for (const [name, backend] of Object.entries(backends)) {
  for (const [title, given] of Object.entries(cases)) {
    const { options = {}, play = given, skips = () => false } = given
    if (skips(backend)) continue
    test(`${title} (${name})`, async (open, t) => {
      const { queue, ...others } = options
      const keyed = openKeyed(open, t, { ...backend, ...others, ...(queue && { queue: queue() }) })
      await play(keyed)
    })
  }
}
