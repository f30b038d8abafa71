// P9: tasks of 1 ms of CPU on as many workers as there are cores, as a share of the ideal. The ideal is as many bare
// threads that burn without a pool, measured before and after each spell of the pool's in the same process; the median of the
// spells counts.
import { strictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { burn } from '../work.js'

const callersPerWorker = 16
// Tasks of 1 ms are so few a second that the runtime would be compiling the pools, on cores of the workers', for half a minute.
const warmUpLoopShare = 1 / 20
const settleShare = 1 / 4 // of the warm-up, with tasks as they will be measured
const bareShare = 0.5 // of the pool's time, on each side
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

/** Counts what ends between two moments at which all workers are busy: neither the first tasks nor the last. */
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
  // Who answers wrongly ends the wait for the clock.
  const wait = ms => Promise.race([sleep(ms), calls])
  await wait(durationMs * 0.1)
  const from = { count: taskCount, at: performance.now() }
  await wait(durationMs)
  const rate = ((taskCount - from.count) * 1000) / (performance.now() - from.at)
  isOver = true
  await calls
  return rate
}
