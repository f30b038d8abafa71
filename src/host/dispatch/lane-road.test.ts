// Tasks in the lane, where the test plays the workers' ends of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkerBell } from '../../shared/lane/doorbell.js'
import { laneIn } from '../../shared/lane/layout.js'
import { LaneClaims } from '../../shared/lane/task-lane.js'
import type { FakeLink } from '../../testing/fake-backend.js'
import { readyPool } from '../../testing/fake-pool.js'

test('a task for one worker alone wakes that one, though another went to sleep meanwhile', () => {
  const { links, run } = readyPool({ lane: true, maxThreads: 2 })
  const [first, second] = links.map(endOf)
  run(1)
  assert.ok(first!.claims.claim(0) >= 0)
  second!.bell.park(false)
  const bytes = new ArrayBuffer(8)
  const payload = {
    bytes,
    get read() {
      // It has answered, and found nothing more.
      first!.bell.park(false)
      return true
    },
  }
  run(payload, { transferList: [bytes] })
  assert.deepEqual(
    links[1]!.inbox.map(({ kind }) => kind),
    ['run', 'bell'],
  )
})

test('a worker that sleeps is not ended while a task that was moved to it is on offer', () => {
  const { links, backend, pool, run } = readyPool({ lane: true })
  const bytes = new ArrayBuffer(8)
  run(bytes, { transferList: [bytes] })
  endOf(links[0]!).bell.park(false)
  void pool.recycle()
  backend.newest.ready()
  const kinds = links[0]!.inbox.map(({ kind }) => kind)
  assert.deepEqual([kinds.includes('leave'), kinds.includes('end')], [true, false])
})

function endOf({ spec: { road } }: FakeLink) {
  if (road.kind !== 'lane') throw new Error('this worker takes its tasks from its port')
  const bell = new WorkerBell(road.desk)
  return { bell, claims: new LaneClaims(laneIn(road.lane), road.workerId, bell) }
}
