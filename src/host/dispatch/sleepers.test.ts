import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LaneClaims } from '../../shared/lane/task-lane.js'
import { ManualClock } from '../../testing/manual-clock.js'
import { makeTask } from '../../testing/stand-ins.js'
import { Crew } from '../workers/crew.js'
import { LaneDesk } from '../workers/lane-desk.js'
import { LaneTasks } from '../workers/lane-tasks.js'
import { WorkerHandle } from '../workers/worker-handle.js'
import { LaneLoad } from './lane-load.js'
import { Sleepers } from './sleepers.js'

const QUICK = 1
const LONG = 2
const UNKNOWN = 3

/** Workers that all sleep, and handlers of which one is known to be quick, and one to take 10 ms. */
function setUp(count: number, { slots = 1, spinCores = 0 } = {}) {
  const clock = new ManualClock()
  const crew = new Crew(spinCores)
  const tasks = new LaneTasks(count * slots, 64)
  const rung: number[] = []
  const workers = Array.from({ length: count }, (_, index) => {
    const id = index + 1
    const holding = new LaneDesk(id, slots, tasks)
    holding.bell.park(false)
    const link = { post: () => rung.push(id) }
    const state = { isReady: true, isLeaving: false, isSpent: false }
    return { ...state, id, slots, holding, link, isIdle: true }
  })
  for (const worker of workers) crew.add(worker as unknown as WorkerHandle)
  const load = new LaneLoad(tasks, crew, slots)
  const sleepers = new Sleepers({ clock, crew, load, tasks, slotsPerWorker: slots })
  for (let answers = 0; answers < 500; answers++) sleepers.runTimes.note(QUICK, 0)
  sleepers.runTimes.note(LONG, 10)
  let lastId = 0
  const post = (handlerId: number, many = 1) => {
    for (let posted = 0; posted < many; posted++) {
      const task = makeTask(++lastId, { handlerId })
      tasks.post(task, { taskId: task.id, handlerId, flags: 0, from: 0, to: 0, int: 0, addressee: 0 })
      load.add(task)
      sleepers.onPosted(task)
      sleepers.wake()
    }
  }
  /** Who was rung since the last time. */
  const woken = () => rung.splice(0)
  const claim = () => new LaneClaims(tasks.layout, 1, workers[0]!.holding.bell).claim(0)
  /** The worker has what was on offer. */
  const begin = (index: number) => {
    claim()
    workers[index]!.isIdle = false
    sleepers.wake()
  }
  const turn = (milliseconds = 0) => {
    clock.advance(milliseconds)
    clock.turn()
    return woken()
  }
  return { clock, crew, workers, sleepers, load, post, woken, claim, begin, turn }
}

describe('of workers that sleep are woken', () => {
  test('one for quick tasks, which does them all', () => {
    const { post, woken } = setUp(4)
    post(QUICK, 20)
    assert.deepEqual(woken(), [1])
  })

  test('as many as the host can feed, where tasks take as long as a few that it hands over', () => {
    const { post, woken, sleepers } = setUp(4)
    sleepers.runTimes.note(QUICK, 0.005)
    post(QUICK, 64)
    assert.deepEqual(woken(), [1, 2, 3])
  })

  test('as many as there is work for, where tasks take longer or nothing is known of them', () => {
    for (const handlerId of [LONG, UNKNOWN]) {
      const { post, woken } = setUp(4)
      post(handlerId, 3)
      assert.deepEqual(woken(), [1, 2, 3])
    }
  })

  test('as many where one of them takes longer, until nothing is on offer', () => {
    const { post, woken, claim, sleepers, workers } = setUp(3)
    post(LONG)
    post(QUICK)
    assert.deepEqual(woken(), [1, 2])
    while (claim() >= 0);
    sleepers.wake()
    workers[1]!.holding.bell.park(false)
    post(QUICK)
    assert.deepEqual(woken(), [])
  })

  test('all, where those who have several slots may have to leave it to another', () => {
    const { post, woken } = setUp(3, { slots: 2 })
    post(LONG)
    assert.deepEqual(woken(), [1, 2, 3])
  })

  test('as many as have nothing to do yet, where those awake are at work', () => {
    const { post, woken, workers } = setUp(3)
    post(LONG)
    workers[0]!.isIdle = false
    post(LONG)
    assert.deepEqual(woken(), [1, 2, 3])
  })

  test('another, while who is awake has a long one in hand', () => {
    const { post, woken, begin, load } = setUp(3)
    post(LONG)
    begin(0)
    post(QUICK)
    assert.deepEqual(woken(), [1, 2])
    begin(1)
    load.remove([...load.long][0]!)
    post(QUICK)
    assert.deepEqual(woken(), [])
  })

  test('another, where one awake has claimed a long one and does not say so yet', () => {
    const { post, woken, claim } = setUp(3)
    post(LONG)
    claim()
    post(LONG)
    assert.deepEqual(woken(), [1, 2])
  })

  test('another, where one awake has begun all that it may, and its word of that is on its way', () => {
    const { post, woken, workers, begin } = setUp(3)
    post(QUICK)
    begin(0)
    const spent = new WorkerHandle(1, 1, workers[0]!.holding, false, 2, 0, async () => {})
    spent.answers = 1
    assert.equal(spent.isSpent, false)
    spent.answers = 2
    Object.assign(workers[0]!, { isIdle: true, isSpent: spent.isSpent })
    post(QUICK)
    assert.deepEqual(woken(), [1, 2])
  })

  test('one for each task of which nothing is known, also where they come one by one', () => {
    const { post, woken, begin } = setUp(4)
    for (let index = 0; index < 4; index++) {
      post(UNKNOWN)
      begin(index)
    }
    assert.deepEqual(woken(), [1, 2, 3, 4])
  })

  test('none that start or leave', () => {
    const { post, woken, workers } = setUp(3)
    workers[0]!.isReady = false
    workers[1]!.isLeaving = true
    post(LONG, 3)
    assert.deepEqual(woken(), [3])
  })
})

describe('of those left asleep', () => {
  test('as many as there is work for are woken when nobody takes what is on offer', () => {
    const { post, woken, turn, clock } = setUp(4)
    post(QUICK, 3)
    assert.deepEqual(woken(), [1])
    assert.deepEqual(turn(0.05), [])
    assert.deepEqual(turn(0.06), [2, 3, 4])
    assert.equal(clock.awaitsTurn, false)
  })

  test('nobody is woken while the lane moves, and nobody looks when it is empty', () => {
    const { post, woken, turn, claim, clock } = setUp(4)
    post(QUICK, 3)
    woken()
    for (let left = 3; left > 0; left--) {
      assert.ok(claim() >= 0)
      assert.deepEqual(turn(0.09), [])
    }
    assert.deepEqual(turn(1), [])
    assert.equal(clock.awaitsTurn, false)
  })

  test('nobody needs a core: the host looks out, and who is awake spins', () => {
    const { crew, workers, post, sleepers } = setUp(2, { spinCores: 2 })
    assert.equal(crew.mayPoll, false)
    post(QUICK)
    assert.equal(crew.mayPoll, true)
    post(LONG)
    assert.equal(crew.mayPoll, false)
    workers[0]!.holding.bell.park(true)
    sleepers.wake()
    assert.equal(crew.mayPoll, false, 'it was woken again for what is on offer')
  })
})
