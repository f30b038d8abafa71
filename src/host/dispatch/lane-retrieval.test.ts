// What is called back while workers go on claiming.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LaneTasks } from '../supervisor/lane-tasks.js'
import type { Task } from '../task/task.js'
import type { LaneLoad } from './lane-load.js'
import type { LanePayloads } from './lane-payloads.js'
import { LaneRetrieval } from './lane-retrieval.js'

test('the last are recalled first, so that no worker finds a task whose older ones are gone', () => {
  const offered = [1, 2, 3, 4].map(slot => ({ slot, canBePostedAgain: true }) as Task)
  const asked: number[] = []
  const lane = {
    addresseeOf: () => 0,
    isByPort: () => false,
    // A worker has claimed the second meanwhile.
    takeBack: (slot: number) => asked.push(slot) > 0 && slot > 2,
  }
  const tasks = { lane, unclaimed: () => offered, release() {} } as unknown as LaneTasks
  const retrieval = new LaneRetrieval(
    tasks,
    { remove() {} } as unknown as LaneLoad,
    {} as LanePayloads,
    { withId: () => null } as never,
  )
  const slots = [...retrieval.recall(3)].map(({ slot }) => slot)
  assert.deepEqual({ asked, slots }, { asked: [4, 3, 2], slots: [3, 4] })
})
