// Values nested so deeply that a thread cannot write or read them: the task resolves or rejects, it never hangs, and
// neither side dies of it.
import assert from 'node:assert/strict'
import { NotCloneableError } from 'lido'
import makeDeep, { measure } from '../fixtures/handlers/deep.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'

const filename = handler('deep.js')
const depths = [1000, 2000, 4000, 5000, 6000, 8000, 10_000, 15_000, 30_000, 100_000]

function expectEither({ status, value, reason }, levels) {
  if (status === 'fulfilled') assert.equal(value, levels)
  else assert.ok(reason instanceof NotCloneableError, String(reason))
}

for (const levels of depths) {
  test(`a payload nested ${levels} levels deep is read or refused; the next task runs on the same worker`, async open => {
    const pool = open({ filename, minThreads: 1, maxThreads: 1 })
    const payload = makeDeep(levels)
    const calls = [pool.run(payload, { name: 'measure' }), pool.run('next', { name: 'fine' })]
    const [deep, next] = await Promise.allSettled(calls)
    expectEither(deep, levels)
    assert.equal(next.value, 'next')
    const [again] = await Promise.allSettled([pool.run(payload, { name: 'measure' })])
    expectEither(again, levels)
    assert.equal(pool.workers[0].id, 1)
  })

  test(`a result nested ${levels} levels deep is read or refused; the next task runs on the same worker`, async open => {
    const pool = open({ filename, minThreads: 1, maxThreads: 1 })
    const calls = [pool.run(levels).then(measure), pool.run('next', { name: 'fine' })]
    const [deep, next] = await Promise.allSettled(calls)
    expectEither(deep, levels)
    assert.equal(next.value, 'next')
    assert.equal(pool.workers[0].id, 1)
  })
}

test('deep values among others on one worker harm none of them', async open => {
  const pool = open({ filename, minThreads: 1, maxThreads: 1, concurrentTasksPerWorker: 4 })
  const calls = depths.flatMap(levels => [
    pool.run(levels, { name: 'fine' }),
    pool.run(makeDeep(levels), { name: 'measure' }),
    pool.run(levels).then(measure),
  ])
  const outcomes = await Promise.allSettled(calls)
  for (const [index, outcome] of outcomes.entries()) {
    const levels = depths[Math.floor(index / 3)]
    if (index % 3 === 0) assert.deepEqual(outcome, { status: 'fulfilled', value: levels })
    else expectEither(outcome, levels)
  }
})

for (const name of ['makeAndExit', 'makeAndExitAtOnce']) {
  test(`a deep result whose worker ends right behind it settles and leaves this side whole (${name})`, async open => {
    const pool = open({ filename, minThreads: 1, maxThreads: 1 })
    for (const levels of depths) {
      const calls = [pool.run(levels, { name }), pool.run('next', { name: 'fine' })]
      const [, next] = await Promise.allSettled(calls)
      assert.equal(next.value, 'next', String(next.reason))
    }
  })
}
