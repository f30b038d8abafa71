// A worker may die at any moment: what it was running fails with the cause, and everything else goes on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WorkerExitError, WorkerStartError } from 'lido'
import { alive } from '../helpers/alive.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { startProgram } from '../helpers/program.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { untilItWorks } from '../helpers/retry.js'
import { set, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const filename = handler('dying.js')
const one = { minThreads: 1, maxThreads: 1 }

test('process.exit() in a handler rejects its task with the exit code, and the next one runs', async open => {
  for (const [name, code] of [
    ['default', 0],
    ['default', 7],
    ['exitLater', 7],
  ]) {
    const pool = open({ filename, ...one })
    const [death, next] = await Promise.allSettled([
      pool.run(code, { name }),
      pool.run('next', { name: 'fine' }),
    ])
    assert.ok(death.reason instanceof WorkerExitError)
    assert.deepEqual(
      [death.reason.code, death.reason.exitCode, death.reason.workerId],
      ['ERR_LIDO_WORKER_EXIT', code, 1],
    )
    assert.match(death.reason.message, /process\.exit\(\)/)
    assert.equal(next.value, 'next')
  }
})

test('an uncaught exception while a task runs is that task’s very error', async open => {
  const pool = open({ filename, ...one })
  const error = await rejection(pool.run('its own words', { name: 'uncaught' }))
  assert.ok(error instanceof RangeError)
  assert.deepEqual(
    [error.message, error.code, error.detail],
    ['its own words', 'ERR_OWN', { of: 'the handler' }],
  )
  assert.equal(await pool.run('next', { name: 'fine' }), 'next')
})

test('a floating rejection while a task runs is that task’s very error', async open => {
  const pool = open({ filename, ...one })
  const error = await rejection(pool.run('floating', { name: 'floating' }))
  assert.ok(error instanceof TypeError)
  assert.equal(error.message, 'floating')
  assert.equal(await pool.run('next', { name: 'fine' }), 'next')
})

for (const name of ['uncaughtUnreadable', 'floatingDeep']) {
  test(`an error that the runtime could not hand over ends its worker, and not this process (${name})`, async open => {
    const pool = open({ filename, ...one })
    const error = await rejection(pool.run('late', { name }))
    assert.equal(error.message, 'late')
    assert.equal(await pool.run('next', { name: 'fine' }), 'next')
  })
}

test('what a listener of the worker throws at its exit is told as an error of its teardown', async open => {
  const pool = open({ filename, ...one })
  await pool.run(null, { name: 'throwsAtExit' })
  const told = once(pool, 'error')
  await pool.close()
  const [error] = await told
  assert.match(error.message, /at exit/)
})

test('listeners of the file hear what ends their thread', async () => {
  const { output } = await startProgram(`
    const pool = new Pool({ filename: handler('dying.js'), maxThreads: 1 })
    await pool.run('nobody catches', { name: 'uncaughtAndWatched' }).catch(() => {})
    await pool.close()
  `).ended
  assert.equal(output, 'uncaughtException: nobody catches\n')
})

test('a worker that dies while idle costs nobody a task; the error event tells of it', async open => {
  for (const name of ['uncaughtWhenIdle', 'exitWhenIdle']) {
    const words = sharedWords(1)
    const pool = open({ filename, ...one })
    assert.equal(await pool.run({ words, message: 'in an idle worker' }, { name }), 'answered')
    const replaced = new Promise(resolve => pool.once('workerCreate', resolve))
    const failure = new Promise(resolve => pool.once('error', resolve))
    set(words, 0)
    const error = await alive(failure)
    if (name === 'exitWhenIdle') assert.equal(error.exitCode, 3)
    else assert.equal(error.message, 'in an idle worker')
    await replaced
    assert.equal(await pool.run('next', { name: 'fine' }), 'next')
  }
})

test('without a listener for errors an idle death ends nothing but the worker', async open => {
  const words = sharedWords(1)
  const pool = open({ filename, ...one })
  await pool.run({ words, message: 'nobody listens' }, { name: 'uncaughtWhenIdle' })
  const gone = new Promise(resolve => pool.once('workerDestroy', resolve))
  set(words, 0)
  await alive(gone)
  assert.equal(await pool.run('next', { name: 'fine' }), 'next')
})

test('a thread terminated from outside rejects its task at once, and the queue goes on', async open => {
  const track = new Track(3)
  const pool = open({ filename: handler('tracked.js'), ...one })
  const answers = [0, 1, 2].map(index => pool.run(track.task(index)))
  await track.startAt(0)
  pool.threads[0].terminate()
  assert.ok((await rejection(answers[0])) instanceof WorkerExitError)
  track.releaseAll()
  assert.deepEqual(await Promise.all(answers.slice(1)), [1, 2])
})

test('a worker ended through its view rejects its task; what it had not begun goes back to its place', async open => {
  const track = new Track(6)
  const pool = open({ filename: handler('tracked.js'), ...one })
  const answers = Array.from({ length: 6 }, (_, index) => pool.run(track.task(index)))
  await track.startAt(0)
  const ended = pool.workers[0].terminate()
  assert.ok((await rejection(answers[0])) instanceof WorkerExitError)
  await ended
  track.releaseAll()
  assert.deepEqual(await Promise.all(answers.slice(1)), [1, 2, 3, 4, 5])
  assert.deepEqual(await track.starts(6), [0, 1, 2, 3, 4, 5])
})

test('a worker ended while it loads hands its task on or says why not', async open => {
  const pool = open({ filename: handler('echo.js'), ...one })
  const answer = pool.run('x')
  await pool.workers[0].terminate()
  assert.equal(await answer, 'x')
  const again = open({ filename: handler('echo.js'), ...one })
  const second = again.run('y')
  again.threads[0].terminate()
  const [outcome] = await Promise.allSettled([second])
  if (outcome.status === 'fulfilled') assert.equal(outcome.value, 'y')
  else assert.ok(outcome.reason instanceof WorkerStartError)
  assert.equal(await untilItWorks(() => again.run('z')), 'z')
})

test('all workers die under load: only what ran fails, the queue is served', async open => {
  const track = new Track(20)
  const pool = open({ filename: handler('tracked.js'), minThreads: 2, maxThreads: 2 })
  const answers = Array.from({ length: 20 }, (_, index) => pool.run(track.task(index)))
  await track.starts(2)
  for (const thread of pool.threads) thread.terminate()
  await rejections(answers.slice(0, 2))
  track.releaseAll()
  assert.equal((await Promise.all(answers.slice(2))).length, 18)
  assert.equal(track.started, 20)
})

test('several tasks on a worker that dies all get the cause; later ones run', async open => {
  const pool = open({ filename, ...one, concurrentTasksPerWorker: 4 })
  const deaths = ['uncaught', 'uncaught', 'uncaught'].map(name => pool.run('together', { name }))
  for (const error of await rejections(deaths)) assert.match(error.message, /together/)
  assert.equal(await pool.run('next', { name: 'fine' }), 'next')
})

for (const name of ['answerAndExit', 'answerAndThrow', 'logAnswerAndExit']) {
  test(`an answer given right before the end of its worker is kept, and charged to nobody (${name})`, async open => {
    const pool = open({ filename, ...one })
    for (let round = 0; round < 10; round++) {
      const [last, next] = await Promise.allSettled([
        pool.run(round, { name }),
        pool.run('next', { name: 'fine' }),
      ])
      assert.deepEqual(last, { status: 'fulfilled', value: round })
      assert.deepEqual(next, { status: 'fulfilled', value: 'next' })
    }
  })
}

test('a poison task 30 times in a row never bricks the pool: good tasks run between', async open => {
  const pool = open({ filename, minThreads: 2, maxThreads: 2 })
  for (let round = 0; round < 30; round++) {
    const name = ['default', 'uncaught', 'floating'][round % 3]
    const [poison, good] = await Promise.allSettled([
      pool.run(1, { name }),
      pool.run(round, { name: 'fine' }),
    ])
    assert.equal(poison.status, 'rejected')
    assert.equal(good.value, round)
  }
})

test('after deaths the pool is back at its minimum, never above its maximum', async open => {
  const pool = open({ filename, minThreads: 2, maxThreads: 3 })
  let most = 0
  pool.on('workerCreate', () => {
    most = Math.max(most, pool.workers.length)
  })
  for (let round = 0; round < 8; round++) await rejections([1, 2, 3].map(code => pool.run(code)))
  await pool.run('fine', { name: 'fine' })
  assert.ok(pool.workers.length >= 2 && most <= 3, `${pool.workers.length} workers, ${most} at most`)
})
