// A user's own queue may be lazy, forgetful or throw: calls settle all the same, and nothing runs that must not.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { openBusy, Track } from '../helpers/track.js'

const filename = handler('tracked.js')

/** A plain queue, with some of its ways changed. */
function queueWith(ways) {
  const tasks = []
  const queue = {
    push: task => tasks.push(task),
    shift: () => tasks.shift(),
    remove: task => tasks.splice(tasks.indexOf(task), 1),
    ...ways(tasks),
  }
  return Object.defineProperty(queue, 'size', { get: () => tasks.length })
}

test('a queue that keeps what it was told to remove brings no cancelled task back to life', async open => {
  const track = new Track(12)
  const { pool, busy } = await openBusy(open, track, { queue: queueWith(() => ({ remove() {} })) })
  const controller = new AbortController()
  const cancelled = [1, 2, 3, 4, 5].map(index => pool.run(track.task(index), { signal: controller.signal }))
  const kept = [6, 7, 8].map(index => pool.run(track.task(index)))
  controller.abort()
  await rejections(cancelled)
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, ...kept]), [0, 6, 7, 8])
  assert.deepEqual(await track.starts(4), [0, 6, 7, 8])
  assert.equal(track.started, 4)
  assert.deepEqual([pool.queueSize, pool.stats().tasks.waiting], [0, 0])
})

test('a queue whose remove throws loses no cancellation, and harms nobody', async open => {
  const track = new Track(6)
  const queue = queueWith(() => ({
    remove() {
      throw new Error('cannot remove')
    },
  }))
  const { pool, busy } = await openBusy(open, track, { queue })
  const controller = new AbortController()
  const cancelled = [1, 2, 3].map(index => pool.run(track.task(index), { signal: controller.signal }))
  const kept = [4, 5].map(index => pool.run(track.task(index)))
  const settled = rejections(cancelled)
  controller.abort()
  for (const error of await settled) assert.equal(error.name, 'AbortError')
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, ...kept]), [0, 4, 5])
  assert.equal(track.started, 3)
  await pool.close()
})

for (const [title, options, shift] of [
  ['a limit of time cancels', { queueTimeout: 1 }, tasks => tasks.shift()],
  ['the end of the pool rejects', {}, () => null],
  ['it has lost itself', {}, tasks => void tasks.shift()],
]) {
  test(`a queue whose remove aborts the very task that ${title} has it answered once`, async open => {
    const controller = new AbortController()
    const track = new Track(2)
    const queue = queueWith(tasks => ({
      shift: () => (tasks.length > 0 && tasks[0].signal === null ? tasks.shift() : shift(tasks)),
      remove(task) {
        if (tasks.includes(task)) tasks.splice(tasks.indexOf(task), 1)
        controller.abort()
      },
    }))
    const { pool, busy } = await openBusy(open, track, { queue })
    const cancelled = rejection(pool.run(track.task(1), { ...options, signal: controller.signal }))
    if (title.startsWith('a limit')) await cancelled
    track.releaseAll()
    assert.equal(await busy, 0)
    await pool.destroy()
    assert.equal((await cancelled).name, 'AbortError')
    assert.equal(pool.stats().tasks.cancelled, 1)
  })
}

test('a queue whose push throws rejects that call with its error, which leaves no trace', async open => {
  const failure = new Error('cannot push')
  let isBroken = false
  const queue = queueWith(tasks => ({
    push(task) {
      if (isBroken) throw failure
      tasks.push(task)
    },
  }))
  const track = new Track(3)
  const { pool, busy } = await openBusy(open, track, { queue })
  const { signal } = new AbortController()
  isBroken = true
  assert.equal(await rejection(pool.run(track.task(1), { signal })), failure)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  isBroken = false
  const kept = pool.run(track.task(2))
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, kept]), [0, 2])
  assert.deepEqual(pool.stats().tasks.waiting, 0)
  await pool.close()
  assert.equal(track.started, 2)
})

test('a queue that hands out a task twice runs it once', async open => {
  const queue = queueWith(tasks => ({
    push: task => tasks.push(task, task),
    remove(task) {
      while (tasks.includes(task)) tasks.splice(tasks.indexOf(task), 1)
    },
  }))
  const track = new Track(5)
  const { pool, busy } = await openBusy(open, track, { queue })
  const answers = [1, 2, 3, 4].map(index => pool.run(track.task(index)))
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, ...answers]), [0, 1, 2, 3, 4])
  await pool.close()
  assert.equal(track.started, 5)
})

test('a queue with tasks that hands out none does not spin, and its pool can be destroyed', async open => {
  const track = new Track(2)
  const queue = queueWith(() => ({ shift: () => null }))
  const pool = open({ filename, minThreads: 1, maxThreads: 1, queue })
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  const settled = rejections(answers)
  await pool.destroy()
  await settled
})

const breaches = {
  'promises what it gives': { shift: tasks => Promise.resolve(tasks.shift()) },
  'promises what it takes later': { shift: async tasks => await tasks.shift() },
  'takes later what it promises': { shift: tasks => Promise.resolve().then(() => tasks.shift()) },
  'looks and does not take': { shift: tasks => tasks[0] },
  'keeps copies': { push: (tasks, task) => tasks.push({ ...task }) },
  'keeps wrappers': { push: (tasks, task) => tasks.push({ task }) },
  'throws away what it takes': { shift: tasks => void tasks.shift() },
  'keeps the youngest alone': { push: (tasks, task) => tasks.splice(0, tasks.length, task) },
}

for (const [title, { shift, push }] of Object.entries(breaches)) {
  for (const lane of [true, false]) {
    test(`a queue that ${title} keeps no call waiting, nor the event loop (${lane ? 'lane' : 'port'})`, async open => {
      const queue = queueWith(tasks => ({
        ...(shift && { shift: () => shift(tasks) }),
        ...(push && { push: task => push(tasks, task) }),
        remove() {},
      }))
      const track = new Track(6)
      const pool = open({ filename, name: 'quick', minThreads: 1, maxThreads: 1, queue, lane })
      for (const first of [0, 3]) {
        const answers = [0, 1, 2].map(index => pool.run(track.task(first + index)))
        const lost = (await Promise.allSettled(answers)).filter(({ status }) => status === 'rejected')
        assert.ok(lost.length > 0)
        for (const { reason } of lost)
          assert.deepEqual([reason.name, reason.option], ['InvalidOptionError', 'queue'])
      }
      await pool.close()
    })
  }
}

for (const options of [{ lane: false }, { backend: 'process' }, {}]) {
  for (const hasUnshift of [true, false]) {
    const title = `${JSON.stringify(options)}, ${hasUnshift}`

    test(`a queue that looks at its pool while it is asked loses nothing (${title})`, async open => {
      let pool
      let asked = 0
      const queue = queueWith(tasks => ({
        shift() {
          asked++
          pool?.stats()
          return tasks.shift()
        },
        ...(hasUnshift && {
          unshift(task) {
            pool?.stats()
            tasks.unshift(task)
            pool?.stats()
          },
        }),
      }))
      pool = open({ filename: handler('echo.js'), maxThreads: 2, queue, ...options })
      const values = [1, 2, 3, 4, 5]
      const answers = values.map(value => pool.run(value))
      const { waiting, inFlight } = pool.stats().tasks
      assert.equal(waiting + inFlight, 5)
      assert.deepEqual(await Promise.all(answers), values)
      assert.ok(asked < 100, `${asked}`)
    })

    test(`a queue that has others cancelled while it is asked loses nothing (${title})`, async open => {
      const controller = new AbortController()
      const queue = queueWith(tasks => ({
        shift() {
          const task = tasks.shift()
          controller.abort()
          return task
        },
        ...(hasUnshift && { unshift: task => tasks.unshift(task) }),
      }))
      const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1, queue, ...options })
      const answer = pool.run(1)
      const cancelled = rejection(pool.run(2, { signal: controller.signal }))
      assert.ok(pool.queueSize <= 1)
      assert.deepEqual([await answer, (await cancelled).name], [1, 'AbortError'])
    })
  }
}
