import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../shared/platform/clock.js'
import { readMap } from './map-options.js'
import { MapRun, type MapRunner } from './map-run.js'

test('a slow input lets the event loop turn where the map may pause, and is read at once with concurrency', async () => {
  const readIn = async (mayPause: boolean, concurrency: number | undefined) => {
    let time = 0
    let turns = 0
    const nextTurn = (callback: () => void) => {
      turns++
      return realClock.nextTurn(callback)
    }
    const runner: MapRunner<null> = {
      clock: { ...realClock, now: () => time, nextTurn },
      slots: 1,
      hasQueueLimit: false,
      itemLimit: 1000,
      mayPause,
      room: () => Promise.resolve(),
      submit(given) {
        given.settle(given.item)
        return null
      },
      cancel() {},
    }
    const items = Array.from({ length: 200 }, (_, n) => n)
    function* slowly() {
      for (const item of items) {
        time++
        yield item
      }
    }
    const { settings } = readMap({ concurrency })
    assert.deepEqual(await new MapRun(slowly(), settings, runner), items)
    return turns
  }
  assert.ok((await readIn(true, undefined)) > 2)
  assert.equal(await readIn(false, undefined), 0)
  assert.equal(await readIn(true, 1000), 0)
})
