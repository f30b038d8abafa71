// A task that waits for `context.call()` lends its slot to the tasks that the called function submits, and to no other.
import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { PriorityQueue, QueueFullError, TaskCancelledError, TaskTimeoutError, WorkerExitError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('lending.js')
const one = { filename, maxWorkers: 1 }
/** The pool has this many tickets for unstarted tasks, and a few more. */
const MORE_THAN_ALL_TICKETS = 1200

/** Runs code outside the functions of tasks. */
const program = new AsyncResource('program')
const elsewhere = code => program.runInAsyncScope(code)

/** A function for a task. The test learns when a handler calls it, and decides when it answers. */
function gate() {
  let onAsked
  let answer
  const asked = new Promise(resolve => {
    onAsked = resolve
  })
  const answered = new Promise(resolve => {
    answer = resolve
  })
  const ask = () => {
    onAsked()
    return answered
  }
  return { ask, asked, answer }
}

const double = (pool, n, options) => pool.run(n, { name: 'double', ...options })
const ask = (pool, ask, options, items = [1, 2]) =>
  pool.run(items, { name: 'ask', functions: { ask }, ...options })
const isOverlapped = pool => pool.run(0, { name: 'overlapped' })

/** Resolves when the pool has run what it can. */
const settled = () => delay(50)

const LATE = 'waits for a task that a function of an ended task has submitted'

/** Tasks that only wait for tasks of their own functions. Each entry must end, with these results. */
const waitingForTheirOwn = {
  'runs tasks one after another': pool => ask(pool, n => double(pool, n)),
  'runs a task with a shared value': async pool => {
    const items = pool.share([1, 2])
    return await ask(pool, async n => (await ask(pool, m => double(pool, m), {}, items))[n - 1])
  },
  'runs tasks together': async pool => {
    const askAll = async n => (await Promise.all([n, n, n, n].map(m => double(pool, m))))[0]
    return await ask(pool, askAll)
  },
  'waits five levels deep': pool => {
    const level = depth => async n =>
      depth === 0 ? await double(pool, n) : (await ask(pool, level(depth - 1), {}, [n]))[0]
    return ask(pool, level(4))
  },
  'has other waiting tasks beside it': async pool => {
    const askDouble = n => ask(pool, m => double(pool, m), {}, [n]).then(([found]) => found)
    const all = await Promise.all(Array.from({ length: 8 }, () => ask(pool, askDouble)))
    assert.deepEqual(all, Array(8).fill([2, 4]))
    return all[0]
  },
  'submits the task after a timer': pool => ask(pool, async n => double(pool, await delay(1, n))),
  'uses the api of the pool': pool => ask(pool, n => pool.api.double(n)),
  'maps over a list': pool => ask(pool, async n => (await pool.map([n], { name: 'double' }).toArray())[0]),
  'reads a stream': pool =>
    ask(pool, async n => {
      let sum = 0
      for await (const chunk of pool.stream(n + 1, { name: 'count' })) sum += chunk
      return sum === 1 ? 2 : sum + 1
    }),
  'pipes through a transform': pool =>
    ask(pool, async n => {
      const source = ReadableStream.from([2 * n - 1]).pipeThrough(pool.transform({ name: 'addOne' }))
      for await (const chunk of source) return chunk
    }),
  'broadcasts to the workers': pool =>
    ask(pool, async n => (await pool.broadcast(n, { name: 'double' })).at(-1)),
  'passes through another pool': (pool, open, options) => {
    const other = open({ ...one, ...options })
    return ask(pool, async n => (await ask(other, m => double(pool, m), {}, [n]))[0])
  },
  'runs behind a full lane queue': async pool => {
    const others = []
    const answer = await ask(pool, n => {
      for (let m = 0; m < MORE_THAN_ALL_TICKETS && n === 1; m++) others.push(elsewhere(() => double(pool, m)))
      return double(pool, n)
    })
    await Promise.all(others)
    return answer
  },
  // The function of the ended task did not wait for it, so both have run at once. The worker remembers that, so this entry is the last.
  [LATE]: pool => {
    let later
    const submit = n => {
      later = double(pool, n)
    }
    return ask(pool, async n => {
      await ask(pool, submit, {}, [n])
      return await later
    })
  },
}

const optionsOfPools = {
  'one slot': {},
  'two workers': { maxWorkers: 2 },
  'two slots': { concurrentTasksPerWorker: 2 },
  'a priority queue': { queue: true },
  'a load balancer': { loadBalancer: (_, workers) => workers.find(worker => worker.usage === 0) ?? null },
}

for (const [backend, backendOptions] of Object.entries(backends)) {
  for (const [kind, kindOptions] of Object.entries(optionsOfPools)) {
    test(`a task that waits for tasks of its own functions ends on ${backend} with ${kind}`, async open => {
      const options = { ...backendOptions, ...kindOptions }
      if (options.queue) options.queue = new PriorityQueue()
      const pool = open({ ...one, ...options })
      for (const [what, play] of Object.entries(waitingForTheirOwn)) {
        const answer = await Promise.race([
          play(pool, open, backendOptions),
          delay(20_000, 'no answer', { ref: false }),
        ])
        assert.deepEqual(answer, [2, 4], `the task ${what}`)
        // All inline workers share the state of the module.
        const mayOverlap = what === LATE || kind === 'two slots' || backend === 'the host thread'
        if (!mayOverlap) assert.equal(await isOverlapped(pool), false, what)
        const { waiting, inFlight } = pool.stats().tasks
        assert.deepEqual([waiting, inFlight, pool.queueSize], [0, 0, 0], what)
      }
    })
  }
}

for (const [backend, backendOptions] of Object.entries(backends)) {
  const isInline = backend === 'the host thread'
  const single = { ...one, ...backendOptions }

  test(`an unrelated task waits until the waiting task has ended on ${backend}`, async open => {
    const pool = open(single)
    const { ask: wait, asked, answer } = gate()
    const order = []
    const waiting = pool.run('mine', { name: 'keepsState', functions: { ask: wait } })
    await asked
    const functions = { ask: () => double(pool, 1) }
    const others = ['a', 'b'].map(other =>
      pool.run(other, { name: 'keepsState', functions }).then(isKept => order.push(other, isKept)),
    )
    await settled()
    assert.deepEqual(order, [])
    answer()
    assert.equal(await waiting, true)
    await Promise.all(others)
    assert.deepEqual(order, ['a', true, 'b', true])
  })

  test(`a queued exclusive task does not stop a function that waits for a later task on ${backend}`, async open => {
    const pool = open({ ...single, concurrentTasksPerWorker: 2 })
    let exclusive
    const answer = await ask(pool, async n => {
      exclusive ??= elsewhere(() => double(pool, 5, { exclusive: true }))
      return await double(pool, n)
    })
    assert.deepEqual([answer, await exclusive], [[2, 4], 10])
  })

  test(`exclusive tasks wait for tasks of their functions on ${backend}`, async open => {
    const exclusive = { exclusive: true }
    const pool = open({ ...single, concurrentTasksPerWorker: 2 })
    const ways = [
      () => ask(pool, n => double(pool, n), exclusive),
      () => ask(pool, n => double(pool, n, exclusive)),
      () => ask(pool, n => double(pool, n, exclusive), exclusive),
      () => ask(pool, async n => (await ask(pool, m => double(pool, m, exclusive), exclusive, [n]))[0]),
      () => ask(pool, async n => (await ask(pool, m => double(pool, m), {}, [n]))[0], exclusive),
    ]
    for (const way of ways) {
      assert.deepEqual(await Promise.all([way(), way(), way()]), [
        [2, 4],
        [2, 4],
        [2, 4],
      ])
      const { waiting, inFlight } = pool.stats().tasks
      assert.deepEqual([waiting, inFlight, pool.queueSize], [0, 0, 0])
    }
    assert.equal(await double(pool, 1), 2)
  })

  test(`an exclusive task lends its slot to no other task on ${backend}`, async open => {
    const pool = open({ ...single, concurrentTasksPerWorker: 2 })
    const { ask: wait, asked, answer } = gate()
    const options = { name: 'keepsState', functions: { ask: wait }, exclusive: true }
    const waiting = pool.run('mine', options)
    await asked
    const other = pool.run('other', { name: 'keepsState', functions: { ask: Boolean } })
    await settled()
    assert.equal(pool.workers[0].tasks.length, 1)
    answer()
    assert.deepEqual(await Promise.all([waiting, other]), [true, true])
  })

  test(`with several slots, a waiting task lends its slot to any task on ${backend}`, async open => {
    const pool = open({ ...single, concurrentTasksPerWorker: 2 })
    const { ask: wait, answer } = gate()
    const waiting = [1, 2].map(n => ask(pool, wait, {}, [n]))
    assert.deepEqual(await Promise.all([1, 2, 3].map(n => double(pool, n))), [2, 4, 6])
    answer(7)
    assert.deepEqual(await Promise.all(waiting), [[7], [7]])
  })

  test(`a full queue does not stop the tasks of a function on ${backend}`, async open => {
    for (const [maxQueue, queue] of [[0], [1], [2, new PriorityQueue()]]) {
      const pool = open({ ...single, maxQueue, queue })
      const others = []
      const withFullQueue = task => n => {
        while (others.length < maxQueue) others.push(elsewhere(() => double(pool, n, { priority: 1 })))
        return task(n)
      }
      const ways = {
        run: n => double(pool, n),
        room: async n => {
          await pool.room()
          return await double(pool, n)
        },
        map: async n => (await pool.map([n, n, n], { name: 'double' }).toArray())[1],
        maps: async n => {
          const maps = [1, 2, 3].map(() => pool.map([n, n], { name: 'double' }).toArray())
          return (await Promise.all(maps))[2][1]
        },
      }
      for (const [what, way] of Object.entries(ways)) {
        assert.deepEqual(await ask(pool, withFullQueue(way)), [2, 4], `${what} with maxQueue: ${maxQueue}`)
        await Promise.all(others.splice(0))
      }
      // The second task would wait for the first one, and has no place in the queue.
      const both = async n => {
        const tasks = [double(pool, n), double(pool, n)]
        const [first, second] = await Promise.allSettled(tasks)
        return maxQueue > 0 ? first.value : [first.value, second.reason instanceof QueueFullError]
      }
      if (maxQueue === 0)
        assert.deepEqual(await ask(pool, both), [
          [2, true],
          [4, true],
        ])
    }
  })

  test(`two waiting tasks broadcast at the same time on ${backend}`, async open => {
    for (const concurrentTasksPerWorker of [1, 2]) {
      const pool = open({ ...single, minWorkers: 2, maxWorkers: 2, concurrentTasksPerWorker })
      await pool.ready()
      const broadcast = n => pool.broadcast(n, { name: 'double' })
      const tasks = [1, 2, 3, 4].map(() => ask(pool, broadcast))
      const doubled = n => Array(2).fill(2 * n)
      assert.deepEqual(await Promise.all(tasks), Array(4).fill([doubled(1), doubled(2)]))
      assert.equal(pool.stats().tasks.waiting, 0)
    }
  })

  test(`a function that does not wait for its tasks does not stop its handler on ${backend}`, async open => {
    const pool = open(single)
    let stream
    const functions = {
      async start() {
        stream = pool.stream(100, { name: 'count', highWaterMark: 2 })
        return (await stream.next()).value
      },
      ask: async () => (await stream.next()).value,
    }
    assert.equal(await pool.run(0, { name: 'startThenAsk', functions }), 1)
    let sum = 0
    for await (const n of stream) sum += n
    assert.equal(sum, 4950 - 1)
    let forgotten
    functions.start = () => {
      forgotten = [1, 2, 3].map(n => double(pool, n))
    }
    functions.ask = n => double(pool, n ?? 8)
    assert.equal(await pool.run(0, { name: 'startThenAsk', functions }), 16)
    assert.deepEqual(await Promise.all(forgotten), [2, 4, 6])
  })

  test(`a task ends after the task that waits for it was cancelled on ${backend}`, async open => {
    const pool = open({ ...single, cancelGrace: 10_000 })
    const controller = new AbortController()
    for (const options of [{ signal: controller.signal }, { timeout: 300 }]) {
      const inner = gate()
      let child
      const outer = () => {
        child = pool.run(1, { name: 'keepsState', functions: { ask: inner.ask } })
        return new Promise(() => {})
      }
      const cancelled = rejection(ask(pool, outer, options))
      const others = [1, 2].map(n => double(pool, n))
      await inner.asked
      controller.abort()
      const error = await cancelled
      assert.ok(error instanceof (options.signal ? TaskCancelledError : TaskTimeoutError))
      inner.answer()
      assert.equal(await child, true)
      assert.deepEqual(await Promise.all(others), [2, 4])
      assert.equal(pool.stats().tasks.inFlight, 0)
    }
  })

  test(`a waiting task goes on after a task of its function was cancelled on ${backend}`, async open => {
    for (const name of ['untilAborted', 'never']) {
      const pool = open(single)
      const answers = ask(pool, async n => {
        const error = await rejection(pool.run(0, { name, timeout: 20 }))
        return [error.code, await double(pool, n)]
      })
      const code = 'ERR_LIDO_TASK_TIMEOUT'
      assert.deepEqual(await answers, [
        [code, 2],
        [code, 4],
      ])
      // An inline worker keeps its place until its handlers have ended.
      if (!isInline) assert.equal(await double(pool, 1), 2)
    }
  })

  test(`a leaving worker runs the tasks for which its task waits on ${backend}`, async open => {
    const ends = {
      recycle: pool => void pool.recycle(),
      resize: pool => pool.resize({ minWorkers: 0, maxWorkers: 1 }),
    }
    for (const [how, end] of Object.entries(ends)) {
      const pool = open({ ...single, minWorkers: 2, maxWorkers: 2 })
      await pool.ready()
      const gates = [gate(), gate()]
      const tasks = gates.map(({ ask: wait }) =>
        ask(pool, async n => double(pool, await wait().then(() => n))),
      )
      await Promise.all(gates.map(({ asked }) => asked))
      end(pool)
      for (const { answer } of gates) answer()
      const answers = [
        [2, 4],
        [2, 4],
      ]
      assert.deepEqual(await Promise.all(tasks), answers, how)
    }
    const pool = open({ ...single, maxTasksPerWorker: 1 })
    const all = await Promise.all([1, 2, 3].map(() => ask(pool, n => double(pool, n))))
    assert.deepEqual(all, Array(3).fill([2, 4]))
  })

  test(`close() waits for the tasks of functions on ${backend}`, async open => {
    const pool = open(single)
    let inner
    const task = ask(
      pool,
      async n => {
        inner = [1, 2, 3].map(m => double(pool, n + m))
        void pool.close()
        return await Promise.all(inner)
      },
      {},
      [1],
    )
    assert.deepEqual(await task, [[4, 6, 8]])
    await pool.close()
  })

  if (isInline) continue

  test(`a task that ends its worker ends no other task than the one that waits for it on ${backend}`, async open => {
    const pool = open(single)
    const waiting = rejection(ask(pool, () => pool.run(0, { name: 'exits' }), {}, [1]))
    const other = double(pool, 2)
    assert.ok((await waiting) instanceof WorkerExitError)
    assert.equal(await other, 4)
    const { ask: wait, asked, answer } = gate()
    const safe = ask(pool, wait, {}, [1])
    await asked
    const exits = rejection(pool.run(0, { name: 'exits' }))
    await settled()
    answer(3)
    assert.deepEqual(await safe, [3])
    assert.ok((await exits) instanceof WorkerExitError)
  })

  test(`a retried task waits for tasks of its functions again on ${backend}`, async open => {
    const pool = open(single)
    let attempts = 0
    const functions = { isFirst: () => ++attempts === 1, ask: n => double(pool, n) }
    assert.deepEqual(
      await pool.run([1, 2], { name: 'exitsAtFirst', functions, retry: { attempts: 2 } }),
      [2, 4],
    )
    let exits = 0
    const child = n => (exits++ === 0 ? pool.run(0, { name: 'exits' }) : double(pool, n))
    assert.deepEqual(await ask(pool, child, { retry: { attempts: 2 } }), [2, 4])
    assert.equal(await double(pool, 1), 2)
  })
}
