// An abort cancels its own task in every state and affects no other task.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { reached, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

test('the rejection of a cancelled task carries the reason of its signal', async open => {
  const track = new Track(1)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const running = pool.run(track.task(0))
  for (const reason of [undefined, null, 'text', 0, { code: 1 }]) {
    const controller = new AbortController()
    const task = pool.run(track.task(0), { signal: controller.signal })
    controller.abort(reason)
    assert.equal((await rejection(task)).reason, controller.signal.reason)
  }
  const timedOut = await rejection(pool.run(track.task(0), { signal: AbortSignal.timeout(1) }))
  assert.equal(timedOut.reason.name, 'TimeoutError')
  track.releaseAll()
  await running
})

test('a cancelled call whose file never finishes loading harms no other task', async open => {
  const loading = sharedWords(1)
  const pool = open({ minWorkers: 1, maxWorkers: 1, workerData: loading })
  const controller = new AbortController()
  const { signal } = controller
  const stuck = pool.run(null, { filename: handler('spins-at-load.js'), signal })
  await reached(loading, 0)
  controller.abort()
  await assert.rejects(stuck, { name: 'AbortError' })
  assert.equal(await pool.run('x', { filename: handler('echo.js') }), 'x')
})

test('a signal has one listener while 1,000 tasks use it, and none afterwards', async open => {
  const warnings = []
  const onWarning = warning => warnings.push(warning)
  process.on('warning', onWarning)
  const pool = open({ filename: handler('echo.js'), minWorkers: 2, maxWorkers: 2 })
  const { signal } = new AbortController()
  const answers = Array.from({ length: 1000 }, (_, index) => pool.run(index, { signal }))
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await Promise.all(answers)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  await new Promise(resolve => setImmediate(resolve))
  process.off('warning', onWarning)
  assert.deepEqual(warnings, [])
})

for (const transport of ['shared-memory', 'messages']) {
  const title =
    transport === 'shared-memory'
      ? 'tasks that are aborted right after run() start in order or never (transport: shared-memory)'
      : 'a second task never starts when 300 tasks are aborted right after run() (transport: messages)'
  test(title, async open => {
    const rounds = 20
    const pool = open({ filename, name: 'quick', minWorkers: 1, maxWorkers: 1, transport })
    for (let round = 0; round < rounds; round++) {
      const track = new Track(300)
      const probe = new Track(1)
      await pool.run(probe.task(0))
      const controller = new AbortController()
      const { signal } = controller
      const answers = Array.from({ length: 300 }, (_, index) => pool.run(track.task(index), { signal }))
      controller.abort()
      await rejections(answers)
      await pool.run(new Track(1).task(0))
      const { started } = track
      assert.ok(transport === 'shared-memory' || started <= 1, `${started} of the tasks began`)
      assert.deepEqual(await track.starts(started), [...Array(started).keys()])
    }
  })
}

test('an abort after the answer has no effect', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
  const controller = new AbortController()
  assert.equal(await pool.run('x', { signal: controller.signal }), 'x')
  controller.abort()
  assert.equal(await pool.run('y'), 'y')
  assert.deepEqual([pool.workers[0].id, pool.stats().tasks.cancelled], [1, 0])
})
