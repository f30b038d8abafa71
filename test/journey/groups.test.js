// Groups share the workers by run time, keep their limits, and age.
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { InvalidOptionError, PriorityQueue } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const filename = handler('tenants.js')

for (const [weight, expected] of [
  [undefined, 0.5],
  [group => (group === 'short' ? 3 : 1), 0.75],
]) {
  const title = `tasks of 1 ms and of 50 ms share the run time ${expected * 100} to ${100 - expected * 100}`
  test(title, async open => {
    const pool = open({ filename, minWorkers: 2, maxWorkers: 2, groups: { weight } })
    await pool.ready()
    const ranMs = { short: 0, long: 0 }
    let areBothWaiting = true
    const run = (group, ms, count) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const runMs = await pool.run(ms, { group })
          if (areBothWaiting) ranMs[group] += runMs
        }),
      )
    const both = [run('short', 1, 6000), run('long', 50, 45)]
    for (const each of both) each.catch(() => {})
    await Promise.race(both)
    areBothWaiting = false
    const share = ranMs.short / (ranMs.short + ranMs.long)
    assert.ok(Math.abs(share - expected) <= 0.05, String(share))
  })
}

for (const workers of [1, 2])
  test(`a small group waits at most two tasks of a group with 1,500 tasks (${workers} workers)`, async open => {
    const words = sharedWords(2)
    const size = { minWorkers: workers, maxWorkers: workers }
    const pool = open({ filename, name: 'counted', workerData: words, ...size, groups: {} })
    await pool.ready()
    for (let count = 0; count < 1500; count++)
      pool.run({ place: 0, ms: 10 }, { group: 'big' }).catch(() => {})
    const between = []
    for (let count = 0; count < 25; count++) {
      const answer = pool.run({ place: 1, ms: 0 }, { group: 'small' })
      const started = Atomics.load(words, 0)
      between.push((await answer) - started)
    }
    assert.ok(Math.max(...between) <= 2 * workers, between.join(' '))
  })

test('a small group waits at most two tasks of a group that the pool does not know yet', async open => {
  const words = sharedWords(2)
  const pool = open({
    filename,
    name: 'counted',
    workerData: words,
    minWorkers: 1,
    maxWorkers: 1,
    groups: {},
  })
  await pool.ready()
  // Short tasks: now the pool posts many tasks ahead.
  for (let round = 0; round < 50; round++)
    await Promise.all(Array.from({ length: 100 }, () => pool.run({ place: 1, ms: 0 }, { group: 'small' })))
  for (let count = 0; count < 40; count++) pool.run({ place: 0, ms: 20 }, { group: 'new' }).catch(() => {})
  const between = []
  for (let count = 0; count < 3; count++) {
    const started = Atomics.load(words, 0)
    between.push((await pool.run({ place: 1, ms: 0 }, { group: 'small' })) - started)
  }
  assert.ok(Math.max(...between) <= 2, between.join(' '))
})

const surroundings = {
  ...backends,
  'a load balancer': { loadBalancer: (_, workers) => workers.find(({ usage }) => usage < 4) },
}

for (const [way, options] of Object.entries(surroundings))
  test(`each group uses at most 2 of 8 slots, and other groups use the rest, with ${way}`, async open => {
    const size = { minWorkers: 2, maxWorkers: 2, concurrentTasksPerWorker: 4 }
    const pool = open({ filename: handler('until-aborted.js'), ...size, groups: { limit: 2 }, ...options })
    const running = new Map()
    const most = new Map()
    const calls = []
    const start = group => {
      const ending = new AbortController()
      const call = { group, ending, hasStarted: false }
      const onProgress = () => {
        call.hasStarted = true
        running.set(group, (running.get(group) ?? 0) + 1)
        most.set(group, Math.max(most.get(group) ?? 0, running.get(group)))
      }
      const ended = pool.run(null, { group, onProgress, signal: ending.signal })
      call.ended = ended.catch(() => {})
      calls.push(call)
    }
    for (let round = 0; round < 3; round++) for (const group of ['a', 'b', 'c', 'd']) start(group)
    const runningInAll = () => [...running.values()].reduce((sum, count) => sum + count, 0)
    while (runningInAll() < 8) await nextTurn()
    assert.deepEqual([...running.values()], [2, 2, 2, 2])
    assert.deepEqual([pool.stats().tasks.waiting, pool.stats().waitingFor], [4, 'group limit'])
    for (const call of calls.filter(({ hasStarted }) => hasStarted)) {
      running.set(call.group, running.get(call.group) - 1)
      call.ending.abort()
    }
    while (runningInAll() < 4) await nextTurn()
    assert.deepEqual([...most.values()], [2, 2, 2, 2])
    assert.ok(pool.stats().groups.every(({ size, running: count }) => size === 0 && count >= 1))
    for (const { ending } of calls) ending.abort()
    await Promise.all(calls.map(({ ended }) => ended))
  })

test('a cancelled task counts against the limit until its handler ends', async open => {
  const track = new Track(3)
  const options = { groups: { limit: 1 }, cancelGrace: Number.POSITIVE_INFINITY }
  const pool = open({ filename: handler('tracked.js'), minWorkers: 2, maxWorkers: 2, ...options })
  const controller = new AbortController()
  const cancelled = pool.run(track.task(0), { group: 'one', signal: controller.signal })
  await track.startAt(0)
  controller.abort()
  await assert.rejects(cancelled, { name: 'AbortError' })
  const next = pool.run(track.task(1), { group: 'one' })
  const other = pool.run(track.task(2), { group: 'two' })
  track.release(2)
  assert.equal(await other, 2)
  assert.equal(pool.stats().waitingFor, 'group limit')
  assert.deepEqual(await track.starts(2), [0, 2])
  const { size, running } = pool.stats().groups.find(({ group }) => group === 'one')
  assert.deepEqual([size, running], [1, 1])
  track.releaseAll()
  assert.equal(await next, 1)
})

for (const [how, options] of Object.entries({
  answer: {},
  throw: {},
  'throw again': { retry: { attempts: 2, when: () => true } },
  large: {},
  exit: {},
  'exit again': { retry: { attempts: 2 } },
  hang: { timeout: 50 },
}))
  for (const [way, backend] of Object.entries(backends)) {
    if (way === 'the host thread' && /exit|hang/.test(how)) continue
    test(`the next task of a group starts after '${how}' of the running task, with ${way}`, async open => {
      const pool = open({
        ...{ filename, name: 'end', maxWorkers: 1, cancelGrace: 0, groups: { limit: 1 } },
        ...backend,
      })
      const [way] = how.split(' ')
      const first = pool.run(way, { group: 'one', ...options })
      const next = pool.run('answer', { group: 'one' })
      await first.catch(() => {})
      assert.equal(await next, 'answer')
    })
  }

for (const options of [
  { aging: 30 },
  { aging: 30, groups: {} },
  { queue: new PriorityQueue() },
  { groups: {} },
])
  test(`a task of priority -1 under endless load of priority 5, with ${Object.keys(options)}`, async open => {
    const words = sharedWords(2)
    const size = { minWorkers: 1, maxWorkers: 1 }
    const pool = open({ filename, name: 'counted', workerData: words, ...size, ...options })
    await pool.ready()
    const calledAt = []
    let isEnding = false
    const load = Promise.all(
      Array.from({ length: 40 }, async () => {
        while (!isEnding) {
          const called = performance.now()
          const place = await pool.run({ place: 0, ms: 1 }, { priority: 5 })
          calledAt[place] = called
        }
      }),
    )
    const called = performance.now()
    const patient = pool.run({ place: 1, ms: 1 }, { priority: -1 })
    if (options.aging === undefined) {
      while (Atomics.load(words, 0) < 400) await nextTurn()
      assert.equal(Atomics.load(words, 1), 0)
    } else {
      const earlier = await patient
      isEnding = true
      await load
      const times = calledAt.slice(0, earlier).map(time => time - called)
      assert.ok(Math.max(...times) <= 6 * options.aging + 1, String(Math.max(...times)))
    }
    isEnding = true
    await Promise.all([load, patient])
  })

test('a group with a wrong weight is refused, and the pool runs on', async open => {
  const weights = { good: 2, wrong: 0 }
  const pool = open({ filename, groups: { weight: group => weights[group] } })
  await assert.rejects(pool.run(1, { group: 'wrong' }), {
    name: 'InvalidOptionError',
    option: 'groups.weight',
    message: /returned 0 for the group 'wrong'/,
  })
  assert.equal(typeof (await pool.run(1, { group: 'good' })), 'number')
  const { accepted, rejected, waiting } = pool.stats().tasks
  assert.deepEqual([accepted, rejected, waiting], [2, 1, 0])
})

test('stats().groups has the wait only with recordTiming', async open => {
  for (const recordTiming of [true, false]) {
    const pool = open({ filename, recordTiming, groups: {} })
    await Promise.all([pool.run(5, { group: 'one' }), pool.run(5)])
    const groups = pool.stats().groups
    assert.deepEqual(groups.map(({ group }) => group).sort(), ['', 'one'])
    assert.ok(groups.every(({ waitP99Ms }) => (waitP99Ms !== null) === recordTiming))
    assert.ok(Math.abs(groups.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9)
  }
  assert.deepEqual(open({ filename }).stats().groups, [])
})

for (const name of ['groups', 'aging'])
  test(`the option '${name}' is refused beside 'queue'`, open => {
    const options = { groups: {}, aging: 1000 }
    assert.throws(
      () => open({ filename, queue: new PriorityQueue(), [name]: options[name] }),
      error => error instanceof InvalidOptionError && error.option === name && /'queue'/.test(error.message),
    )
  })

test('close({ force: true }) and destroy() reject tasks that wait for the limit of their group', async open => {
  for (const end of [pool => pool.close({ force: true }), pool => pool.destroy()]) {
    const pool = open({ filename, maxWorkers: 2, groups: { limit: 1 } })
    const answers = Array.from({ length: 5 }, () => pool.run(20, { group: 'one' }))
    const settled = Promise.allSettled(answers)
    await end(pool)
    assert.ok((await settled).filter(({ status }) => status === 'rejected').length >= 4)
  }
})
