// P8: what a worker gets done while the host's event loop is blocked, as a share of what it could do. What it could do is
// one task that needs nobody: the same bursts in the same thread, beside a host that is blocked as long.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { burn } from '../work.js'

const warmUpTasks = 100
const spareFactor = 2 // more than the worker can do in the time, so that it never runs dry

export async function takeTurn(contestant, { loops, blockMs }) {
  const words = new Int32Array(new SharedArrayBuffer(8))
  const pool = await contestant.start({ handlerName: 'work', workers: 1 })
  const state = burn(loops)
  const burstCount = Math.ceil(blockMs * spareFactor)

  async function send(times) {
    strictEqual((await pool.run({ loops, times })).state, state)
  }
  const sendMany = count => Array.from({ length: count }, () => send(1))

  /** How many bursts end while the host does nothing but wait, once `settle` has let it begin. */
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
