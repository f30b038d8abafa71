// What is called back while workers go on claiming.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Task } from '../task/task.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { LaneLoad } from './lane-load.js'
import type { LanePayloads } from './lane-payloads.js'
import { LaneRetrieval } from './lane-retrieval.js'

function retrievalOf(offered: Task[], lane: object): LaneRetrieval {
  const tasks = { lane, unclaimed: () => offered, release() {} } as unknown as LaneTasks
  const load = { remove() {} } as unknown as LaneLoad
  return new LaneRetrieval(tasks, load, {} as LanePayloads, { withId: () => null } as never)
}

test('the last are recalled first, so that no worker finds a task whose older ones are gone', () => {
  const offered = [1, 2, 3, 4].map(slot => ({ slot, canBePostedAgain: true }) as Task)
  const asked: number[] = []
  const lane = {
    addresseeOf: () => 0,
    isByPort: () => false,
    // A worker has claimed the second meanwhile.
    takeBack: (slot: number) => asked.push(slot) > 0 && slot > 2,
  }
  const retrieval = retrievalOf(offered, lane)
  const slots = [...retrieval.recall(3)].map(({ slot }) => slot)
  assert.deepEqual({ asked, slots }, { asked: [4, 3, 2], slots: [3, 4] })
  assert.deepEqual([...retrieval.recall(0)], [])
})

test('what was sent to one worker is recalled, unless it was moved there', () => {
  const offered = [1, 2, 3, 4].map(slot => ({ slot, canBePostedAgain: slot % 2 === 0 }) as Task)
  const lane = {
    addresseeOf: (slot: number) => (slot > 2 ? 1 : 0),
    isByPort: () => false,
    takeBack: () => true,
  }
  const slots = [...retrievalOf(offered, lane).recall(4)].map(({ slot }) => slot)
  assert.deepEqual(slots, [1, 2, 4])
})
