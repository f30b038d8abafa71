// A load balancer chooses the worker of each task. A wrong choice costs only its task.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { openBusy, Track } from '../helpers/track.js'

const filename = handler('echo.js')
const one = { filename, minWorkers: 1, maxWorkers: 1 }
const idle = (_task, workers) => workers.find(worker => worker.isIdle) ?? null

test('a load balancer chooses the worker of each task', async open => {
  const seen = []
  const loadBalancer = (task, workers) => {
    seen.push(task.payload)
    return workers.find(worker => worker.id === 2 && worker.isIdle) ?? null
  }
  const options = { minWorkers: 2, maxWorkers: 2, workerHistogram: true }
  const pool = open({ filename, loadBalancer, ...options })
  const values = Array.from({ length: 10 }, (_, index) => index)
  assert.deepEqual(await Promise.all(values.map(value => pool.run(value))), values)
  assert.deepEqual(
    pool.workers.map(worker => worker.histogram.count),
    [0, 10],
  )
  assert.ok(seen.length >= 10)
})

test('a task stays queued while the load balancer returns null, and a full queue refuses the next task', async open => {
  const track = new Track(3)
  const { pool, busy } = await openBusy(open, track, { loadBalancer: idle, maxQueue: 1 })
  const waiting = pool.run(track.task(1))
  assert.equal((await rejection(pool.run(track.task(2)))).code, 'ERR_LIDO_QUEUE_FULL')
  assert.equal(track.started, 1)
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, waiting]), [0, 1])
})

const failure = new Error('no idea')
const wrong = {
  throws: [
    () => {
      throw failure
    },
    error => assert.equal(error, failure),
  ],
  'returns an object that is no worker': [() => ({}), error => assert.match(error.code, /^ERR_LIDO_/)],
  'returns a promise': [
    (_task, workers) => Promise.resolve(workers[0]),
    error => assert.match(error.code, /^ERR_LIDO_/),
  ],
}

for (const [what, [choose, check]] of Object.entries(wrong)) {
  test(`a load balancer that ${what} rejects only that task`, async open => {
    const loadBalancer = (task, workers) =>
      task.payload === 'bad' ? choose(task, workers) : idle(task, workers)
    const pool = open({ ...one, loadBalancer })
    const calls = ['before', 'bad', 'after'].map(payload => pool.run(payload))
    const [before, bad, after] = await Promise.allSettled(calls)
    assert.deepEqual([before.value, after.value], ['before', 'after'])
    check(bad.reason)
  })
}

test('a task stays queued while the load balancer returns a worker without a free slot', async open => {
  const track = new Track(2)
  const loadBalancer = (_task, workers) => workers[0]
  const { pool, busy } = await openBusy(open, track, { loadBalancer })
  const waiting = pool.run(track.task(1))
  assert.equal(pool.queueSize, 1)
  track.releaseAll()
  assert.deepEqual(await Promise.all([busy, waiting]), [0, 1])
})
