// The events of a pool: when the pool emits them, and how often.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { alive } from '../helpers/alive.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { set, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const filename = handler('tracked.js')

test('needsDrain is emitted once when the queue is full, and drain when the queue has room again', async open => {
  const track = new Track(4)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, maxQueue: 2 })
  const told = []
  pool.on('needsDrain', () => told.push('needsDrain'))
  pool.on('drain', () => told.push('drain'))
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  assert.equal(pool.needsDrain, false)
  answers.push(pool.run(track.task(2)))
  assert.equal(pool.needsDrain, true)
  await pool.run(track.task(3)).catch(() => {})
  assert.deepEqual(told, ['needsDrain'])
  const drained = once(pool, 'drain')
  track.release(0)
  await drained
  assert.equal(pool.needsDrain, false)
  track.releaseAll()
  await Promise.all(answers)
  assert.equal(told[1], 'drain')
  assert.equal(told.filter(event => event === 'needsDrain').length, 1)
})

test('needsDrain is emitted without maxQueue when as many tasks are queued as the pool has slots', async open => {
  const track = new Track(5)
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2 })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  assert.equal(pool.needsDrain, false)
  answers.push(pool.run(track.task(3)))
  assert.equal(pool.needsDrain, true)
  await once(pool, 'needsDrain')
  const drained = once(pool, 'drain')
  track.releaseAll()
  await Promise.all(answers)
  await drained
})

test('drain is emitted when the queue becomes empty', async open => {
  const track = new Track(2)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1 })
  const answers = [0, 1].map(index => pool.run(track.task(index)))
  const drained = once(pool, 'drain')
  track.releaseAll()
  await drained
  assert.equal(pool.queueSize, 0)
  await Promise.all(answers)
})

test('workerCreate and workerDestroy are emitted once for each worker', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 2, maxWorkers: 2 })
  const created = []
  const destroyed = []
  pool.on('workerCreate', worker => created.push(worker))
  pool.on('workerDestroy', worker => destroyed.push(worker))
  await pool.run(1)
  assert.deepEqual(created, pool.workers)
  assert.deepEqual(
    created.map(worker => worker.id),
    [1, 2],
  )
  const replaced = once(pool, 'workerCreate')
  await pool.workers[0].terminate()
  const [third] = await replaced
  assert.equal(third.id, 3)
  assert.deepEqual(
    destroyed.map(worker => worker.id),
    [1],
  )
  await pool.close()
  assert.deepEqual(destroyed.map(worker => worker.id).sort(), [1, 2, 3])
  assert.equal(created.length, 3)
})

test('a WorkerView stays the same object, and its fields stay current', async open => {
  const track = new Track(1)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, workerHistogram: true })
  const [worker] = pool.workers
  assert.equal(worker.state, 'spawning')
  const answer = pool.run(track.task(0))
  await track.startAt(0)
  assert.deepEqual([worker.usage, worker.slots, worker.isIdle], [1, 1, false])
  assert.equal(worker.threadId, worker.thread.threadId)
  assert.equal(pool.threads[0], worker.thread)
  track.releaseAll()
  await answer
  assert.deepEqual([worker.state, worker.usage, worker.isIdle, worker.histogram.count], ['ready', 0, true, 1])
  assert.equal(pool.workers[0], worker)
  await pool.close()
  assert.deepEqual([worker.state, pool.workers.length, pool.threads.length], ['exited', 0, 0])
})

test('the close event is emitted once', async open => {
  const pool = open({ filename: handler('echo.js') })
  let count = 0
  pool.on('close', () => count++)
  await Promise.all([pool.close(), pool.destroy(), pool.close()])
  await pool.close()
  assert.equal(count, 1)
})

test('idle workers above minWorkers exit after idleTimeout, and later tasks still run', async open => {
  const track = new Track(6)
  const pool = open({ filename, minWorkers: 1, maxWorkers: 3, idleTimeout: 20 })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  await track.starts(3)
  let ended = 0
  const twoEnded = new Promise(resolve => {
    for (const thread of pool.threads) thread.once('exit', () => ++ended === 2 && resolve())
  })
  track.releaseAll()
  await Promise.all(answers)
  await alive(twoEnded)
  assert.equal(pool.workers.length, 1)
  assert.deepEqual(await Promise.all([3, 4, 5].map(index => pool.run(track.task(index)))), [3, 4, 5])
})

test('a pool whose workers all exited after idleTimeout runs the next task', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 0, maxWorkers: 2, idleTimeout: 0 })
  for (let round = 0; round < 5; round++) {
    assert.equal(await pool.run(round), round)
    const [worker] = pool.threads
    if (worker !== undefined) await alive(once(worker, 'exit'))
    assert.equal(pool.workers.length, 0)
  }
})

test('an idle worker that dies causes an error event, and the pool works without a listener for it', async open => {
  for (const isHeard of [true, false]) {
    const words = sharedWords(1)
    const pool = open({ filename: handler('dying.js'), minWorkers: 1, maxWorkers: 1 })
    await pool.run({ words, message: 'in an idle worker' }, { name: 'uncaughtWhenIdle' })
    const told = []
    if (isHeard) pool.on('error', error => told.push(error.message))
    const gone = once(pool, 'workerDestroy')
    set(words, 0)
    await alive(gone)
    assert.equal(await pool.run('next', { name: 'fine' }), 'next')
    assert.deepEqual(told, isHeard ? ['in an idle worker'] : [])
  }
})

for (const backend of ['thread', 'process']) {
  test(`an exception in an idle worker is printed once to stderr without an error listener (backend: ${backend})`, async () => {
    const { exitCode, output, errors } = await runProgram(`
      import { once } from 'node:events'
      const pool = new Pool({ filename: handler('dying.js'), backend: '${backend}', minWorkers: 1, maxWorkers: 1 })
      const keepAlive = setInterval(() => {}, 1000)
      const destroyed = once(pool, 'workerDestroy')
      await pool.run({ words: new Int32Array([1]), message: 'thrown in a timer' }, { name: 'uncaughtWhenIdle' })
      await destroyed
      clearInterval(keepAlive)
      console.log(await pool.run('next', { name: 'fine' }))
      await pool.close()
    `)
    assert.deepEqual([exitCode, output], [0, 'next\n'], errors)
    assert.equal(errors.match(/lido worker 1 ended because of an uncaught exception/g)?.length, 1, errors)
    assert.equal(errors.match(/^Error: thrown in a timer$/gm)?.length, 1, errors)
  })
}
