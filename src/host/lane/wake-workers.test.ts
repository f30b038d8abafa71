import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../shared/platform/clock.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PostedTasks } from './posted-tasks.js'
import { WorkerWaker } from './wake-workers.js'

/** A pool of parked workers. Worker 0 slept first. `awake` more workers are awake and run long tasks. */
function poolOf({ parked = 4, awake = 0, cores = 2, unclaimed = 1 }) {
  const woken: number[] = []
  const worker = (id: number, isParked: boolean) => {
    const bell = {
      isParked,
      ring() {
        bell.isParked = false
        return true
      },
    }
    return {
      isReady: true,
      isLeaving: false,
      isIdle: isParked,
      hasReachedTaskLimit: false,
      idleSince: id,
      tasks: { bell },
      link: { post: () => woken.push(id) },
    } as unknown as Worker
  }
  const workers = Array.from({ length: parked + awake }, (_, id) => worker(id, id < parked))
  const timers: { delayMs: number; callback: () => void }[] = []
  let now = 0
  const clock = {
    now: () => now,
    nextTurn: (callback: () => void) => clock.after(0, callback),
    after(delayMs: number, callback: () => void) {
      const timer = { delayMs, callback }
      timers.push(timer)
      return { cancel: () => timers.splice(timers.indexOf(timer), 1) }
    },
  }
  const posted = { queue: { unclaimed, first: 7 }, longRunning: new Set<object>(), slots: { perWorker: 1 } }
  const group = { workers, cores: { share() {} } }
  const waker = new WorkerWaker(
    clock as unknown as Clock,
    group as unknown as WorkerGroup,
    posted as unknown as PostedTasks,
    cores,
  )
  const passMs = (ms: number) => {
    now += ms
    const due = timers.splice(0)
    for (const { callback } of due) callback()
  }
  return { waker, posted, woken, timers, passMs }
}

describe('WorkerWaker', () => {
  test('the host wakes the worker that slept last', () => {
    const { waker, posted, woken } = poolOf({ parked: 4 })
    posted.longRunning.add({})
    waker.wake()
    assert.deepEqual(woken, [3])
  })

  test('a pool with a free core wakes another worker in the next turn for a task that nobody claims', () => {
    const { waker, woken, timers, passMs } = poolOf({ parked: 2, awake: 1, cores: 2 })
    waker.wake()
    assert.deepEqual(woken, [])
    assert.equal(timers[0]!.delayMs, 0)
    passMs(0.2)
    assert.deepEqual(woken, [1])
  })

  test('a pool without a free core gives an awake worker 20 ms to claim a task', () => {
    const { waker, woken, timers, passMs } = poolOf({ parked: 2, awake: 2, cores: 2 })
    waker.wake()
    assert.equal(timers[0]!.delayMs, 20)
    passMs(1)
    assert.deepEqual(woken, [])
    passMs(20)
    assert.deepEqual(woken, [1])
  })

  test('a closed pool checks no more', () => {
    const { waker, timers } = poolOf({ parked: 2, awake: 2, cores: 2 })
    waker.wake()
    waker.end()
    assert.deepEqual(timers, [])
  })
})
