// Where some tasks run alone, free slots are not enough: they must be one worker's.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WorkerBell } from '../../shared/lane/doorbell.js'
import { createDesk } from '../../shared/lane/layout.js'
import { ALONE, LaneClaims } from '../../shared/lane/task-lane.js'
import { makeTask, seededRandom } from '../../testing/stand-ins.js'
import type { Task } from '../task/task.js'
import { Crew } from '../workers/crew.js'
import { LaneTasks } from '../workers/lane-tasks.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import { LaneLoad } from './lane-load.js'
import { LanePlaces } from './lane-places.js'

function setUp(workers: number, slots: number) {
  const tasks = new LaneTasks(workers * slots, 16)
  const crew = new Crew(0)
  const load = new LaneLoad(tasks, crew, slots)
  const ends: { id: number; claims: LaneClaims; held: Task[] }[] = []
  let lastId = 0
  const start = () => {
    const id = ends.length + 1
    const holding = { allowSpin() {} }
    crew.add({ id, slots, isReady: true, isLeaving: false, holding } as unknown as WorkerHandle)
    const bell = new WorkerBell(createDesk().memory)
    ends.push({ id, claims: new LaneClaims(tasks.layout, id, bell), held: [] })
  }
  for (let count = 0; count < workers; count++) start()
  const post = (isExclusive = false) => {
    const task = makeTask(++lastId, { isExclusive })
    const flags = isExclusive ? ALONE : 0
    tasks.post(task, { taskId: task.id, handlerId: 1, flags, from: 0, to: 0, int: 0, addressee: 0 })
    load.add(task)
    return task
  }
  const claim = (worker: number) => {
    const { claims, held } = ends[worker]!
    if (held.length >= slots || held.some(task => task.isExclusive)) return
    const ticket = claims.claim(held.length)
    if (ticket >= 0) held.push(tasks.at(ticket, claims.read(ticket).taskId)!)
  }
  const answer = (worker: number) => {
    const task = ends[worker]!.held.shift()
    if (task === undefined) return
    tasks.release(task)
    load.remove(task)
  }
  const takeBack = (task: Task | undefined) => {
    if (task === undefined || !tasks.lane.takeBack(task.slot)) return
    tasks.release(task)
    load.remove(task)
  }
  return { tasks, crew, load, ends, start, post, claim, answer, takeBack }
}

describe('what waits in the lane', () => {
  test('is a task that runs alone while no worker is free, and not the tasks that are in its way', () => {
    const { load, post, claim, answer } = setUp(1, 4)
    for (let count = 0; count < 3; count++) {
      post()
      claim(0)
    }
    post(true)
    assert.deepEqual([load.size, load.ahead], [4, 1])
    for (let count = 0; count < 3; count++) answer(0)
    assert.deepEqual([load.size, load.ahead], [1, 0])
    claim(0)
    post(true)
    assert.deepEqual([load.size, load.ahead], [2, 1])
  })

  test('is all that stands behind such a task', () => {
    const { load, post, claim } = setUp(2, 2)
    for (const worker of [0, 1]) {
      post()
      claim(worker)
    }
    const alone = makeTask(9, { isExclusive: true })
    assert.deepEqual([load.hasPlaceFor(alone), load.hasPlaceFor(makeTask(10))], [false, true])
    post(true)
    assert.equal(load.hasPlaceFor(makeTask(10)), false)
    for (let count = 0; count < 10; count++) post()
    assert.deepEqual([load.size, load.ahead], [13, 11])
  })

  test('has a place as soon as one more worker is there', () => {
    const { load, start, post, claim } = setUp(1, 2)
    post()
    claim(0)
    post(true)
    assert.equal(load.ahead, 1)
    start()
    assert.equal(load.ahead, 0)
  })
})

for (const seed of [1, 2, 3, Date.now() >>> 0]) {
  test(`what was counted before is counted anew when something has changed (seed ${seed})`, () => {
    const random = seededRandom(seed)
    const { tasks, crew, load, ends, start, post, claim, answer, takeBack } = setUp(2, 3)
    for (let step = 0; step < 2000; step++) {
      const worker = random(ends.length)
      const what = random(100)
      if (what < 40) {
        if (tasks.lane.hasRoom) post(random(4) === 0)
      } else if (what < 70) claim(worker)
      else if (what < 90) answer(worker)
      else if (what < 98) takeBack(tasks.unclaimed()[random(4)])
      else if (ends.length < 6) start()
      else if (!crew.workers[0]!.isLeaving) crew.letLeave(crew.workers[0]!)
      const isAnyAlone = tasks
        .claimed()
        .concat(tasks.unclaimed())
        .some(task => task.isExclusive)
      if (isAnyAlone && random(3) > 0) assert.equal(load.ahead, new LanePlaces(tasks, crew).ahead)
    }
  })
}

test('more than the workers have slots for occupies no more than these; what is cancelled waits for none', () => {
  const { crew, load, post, claim } = setUp(1, 1)
  const held = post()
  claim(0)
  post()
  assert.deepEqual([load.occupied, load.ahead, load.freeSlots], [1, 1, -1])
  load.condemn()
  crew.remove(crew.workers[0]!)
  assert.deepEqual([load.occupied, load.ahead], [0, 1])
  load.removeCondemned(held)
  assert.deepEqual([load.size, load.ahead, load.freeSlots], [1, 1, -1])
})

test('a worker that takes no more has the slots that it fills, the others all of theirs', () => {
  const { crew, load, post, claim } = setUp(3, 2)
  for (const worker of [0, 0, 1]) {
    post()
    claim(worker)
  }
  crew.letLeave(crew.workers[1]!)
  assert.deepEqual([load.slots, load.freeSlots], [5, 2])
})
