// Tasks start in the order of their submission. Each task records its start and waits for its own gate, so the order does
// not depend on timing.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { reached, set, sharedWords } from '../helpers/shared-words.js'
import { Track } from '../helpers/track.js'

const taskCount = 12

const releaseOrders = {
  'newest first': running => running.at(-1),
  'in a fixed random order': (running, step) =>
    running[[0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1][step] % running.length],
}

/** Opens the gates one by one. After each gate, the next submitted task must start. */
async function expectInOrder(track, slots, choose) {
  const first = await track.starts(slots)
  assert.deepEqual(
    [...first].sort((one, other) => one - other),
    Array.from({ length: slots }, (_, index) => index),
  )
  const running = [...first]
  for (let next = slots; next < track.size; next++) {
    const freed = choose(running, next - slots)
    running.splice(running.indexOf(freed), 1)
    track.release(freed)
    assert.equal(await track.startAt(next), next)
    running.push(next)
  }
  track.releaseAll()
}

async function warm(pool, workers) {
  const track = new Track(workers)
  const held = Array.from({ length: workers }, (_, index) => pool.run(track.task(index)))
  await track.starts(workers)
  track.releaseAll()
  await Promise.all(held)
}

for (const [what, choose] of Object.entries(releaseOrders)) {
  test(`12 tasks on 2 ready workers start in order when they finish ${what}`, async open => {
    const track = new Track(taskCount)
    const pool = open({ filename: handler('tracked.js'), minWorkers: 2, maxWorkers: 2 })
    await warm(pool, 2)
    const answers = Array.from({ length: taskCount }, (_, index) => pool.run(track.task(index)))
    await expectInOrder(track, 2, choose)
    await Promise.all(answers)
  })

  test(`12 tasks that are submitted before a worker is ready start in order when they finish ${what}`, async open => {
    const track = new Track(taskCount)
    const pool = open({ filename: handler('tracked.js'), minWorkers: 0, maxWorkers: 2 })
    const answers = Array.from({ length: taskCount }, (_, index) => pool.run(track.task(index)))
    await expectInOrder(track, 2, choose)
    await Promise.all(answers)
  })
}

test('12 tasks start in order on 2 workers with 2 slots each', async open => {
  const track = new Track(taskCount)
  const options = { name: 'patient', minWorkers: 2, maxWorkers: 2, concurrentTasksPerWorker: 2 }
  const pool = open({ filename: handler('tracked.js'), ...options })
  await warm(pool, 2)
  const answers = Array.from({ length: taskCount }, (_, index) => pool.run(track.task(index)))
  await expectInOrder(track, 4, releaseOrders['in a fixed random order'])
  await Promise.all(answers)
})

test('a ready worker runs the tasks of a slowly loading worker in order', async open => {
  const loading = sharedWords(2)
  const track = new Track(6)
  const pool = open({
    filename: handler('slow-to-load.js'),
    minWorkers: 2,
    maxWorkers: 2,
    workerData: loading,
  })
  const answers = Array.from({ length: track.size }, (_, index) => pool.run(track.task(index)))
  await reached(loading, 0)
  const first = await track.startAt(0)
  assert.ok(first < 2)
  const order = [first, 1 - first, 2, 3, 4, 5]
  for (let place = 0; place < order.length; place++) {
    assert.equal(await track.startAt(place), order[place])
    track.release(order[place])
  }
  set(loading, 1)
  await Promise.all(answers)
})
