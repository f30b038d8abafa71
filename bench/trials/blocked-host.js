// Bar P8: counts the bursts that a worker finishes while the host's event loop is blocked. Compares the count with that
// of one long task, which burns the same bursts in the same thread while the host is blocked for the same time.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { burn } from '../work.js'

const warmUpTasks = 100
const spareFactor = 2 // twice the tasks that the worker can finish, so that the queue never becomes empty

export async function takeTurn(contestant, { loops, blockMs }) {
  const words = new Int32Array(new SharedArrayBuffer(8))
  const pool = await contestant.start({ handlerName: 'work', workers: 1 })
  const state = burn(loops)
  const burstCount = Math.ceil(blockMs * spareFactor)

  async function send(times) {
    strictEqual((await pool.run({ loops, times })).state, state)
  }
  const sendMany = count => Array.from({ length: count }, () => send(1))

  /** Counts the bursts that finish while the host is blocked. `settle` waits first until five bursts are finished. */
  async function countWhileBlocked(submit, settle) {
    const before = Atomics.load(words, 0)
    const tasks = submit()
    if (settle) while (Atomics.load(words, 0) < before + 5) await sleep(1)
    const from = Atomics.load(words, 0)
    block(blockMs)
    const count = Atomics.load(words, 0) - from
    await Promise.all(tasks)
    return count
  }

  await pool.run({ words })
  await Promise.all(sendMany(warmUpTasks))
  const alone = () => [send(burstCount)]
  const queued = () => sendMany(burstCount)
  const couldBefore = await countWhileBlocked(alone, true)
  const whenRunning = await countWhileBlocked(queued, true)
  const whenSubmitting = await countWhileBlocked(queued, false)
  const couldAfter = await countWhileBlocked(alone, true)

  const could = (couldBefore + couldAfter) / 2
  return {
    couldDo: could,
    shareWhenRunning: whenRunning / could,
    shareWhenSubmitting: whenSubmitting / could,
  }
}

function block(ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}
