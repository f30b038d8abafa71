// Bar P9: runs tasks of 1 ms on one worker for each core, and compares the rate with the ideal.
// The ideal is the rate of as many threads without a pool. They run in the same process before and after each spell of
// the pool. The figure is the median of the spells.
import { strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { burn } from '../work.js'

const callersPerWorker = 16
// With tasks of 1 ms, V8 would need half a minute to compile the pools, on cores that the workers need.
// The warm-up therefore runs shorter tasks.
const warmUpLoopShare = 1 / 20
const settleShare = 1 / 4 // of the warm-up time, with tasks of the measured length
const bareShare = 0.5 // of the pool's time, before and after each spell
const spells = 3

export async function takeTurn(contestant, { loops, workers, warmUpMs, durationMs }) {
  const pool = await contestant.start({ handlerName: 'work', workers })
  const threads = Array.from({ length: workers }, startBareThread)
  const measureBare = () => countBare(threads, { loops, durationMs: durationMs * bareShare })

  await countPooled(pool, { loops: Math.ceil(loops * warmUpLoopShare), workers, durationMs: warmUpMs })
  await countPooled(pool, { loops, workers, durationMs: warmUpMs * settleShare })
  await measureBare()
  const measured = []
  let idealBefore = await measureBare()
  for (let spell = 0; spell < spells; spell += 1) {
    const tasksPerSecond = await countPooled(pool, { loops, workers, durationMs })
    const idealAfter = await measureBare()
    const idealPerSecond = (idealBefore + idealAfter) / 2
    measured.push({ tasksPerSecond, idealPerSecond, shareOfIdeal: tasksPerSecond / idealPerSecond })
    idealBefore = idealAfter
  }
  return measured.sort((a, b) => a.shareOfIdeal - b.shareOfIdeal)[spells >> 1]
}

function startBareThread() {
  return new Worker(new URL('../handlers/bare-work.js', import.meta.url))
}

async function countBare(threads, plan) {
  const answers = await Promise.all(
    threads.map(async thread => {
      thread.postMessage(plan)
      const [{ count, elapsedMs }] = await once(thread, 'message')
      return (count * 1000) / elapsedMs
    }),
  )
  return answers.reduce((sum, rate) => sum + rate, 0)
}

/** Counts the tasks that finish while all workers are busy. The first and the last tasks do not count. */
async function countPooled(pool, { loops, workers, durationMs }) {
  const state = burn(loops)
  let taskCount = 0
  let isOver = false

  async function call() {
    while (!isOver) {
      strictEqual((await pool.run({ loops, times: 1 })).state, state)
      taskCount += 1
    }
  }

  const calls = Promise.all(Array.from({ length: workers * callersPerWorker }, call))
  // A wrong answer rejects `calls` and so ends the wait early.
  const wait = ms => Promise.race([sleep(ms), calls])
  await wait(durationMs * 0.1)
  const from = { count: taskCount, at: performance.now() }
  await wait(durationMs)
  const rate = ((taskCount - from.count) * 1000) / (performance.now() - from.at)
  isOver = true
  await calls
  return rate
}
