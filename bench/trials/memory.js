// P11: memory of an idle worker. How much more the process holds when all workers have done some work and are idle,
// divided by their number.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { burn } from '../work.js'

const tasksPerWorker = 8
const mebibyte = 2 ** 20

export async function takeTurn(contestant, { loops, workers, calmMs, startLimitMs }) {
  const start = await contestant.prepare()
  const state = burn(loops)
  await sleep(calmMs)
  const before = process.memoryUsage.rss()
  const pool = await start({ handlerName: 'work', workers })
  const threadIds = new Set()
  const giveUpAt = performance.now() + startLimitMs
  while (threadIds.size < workers && performance.now() < giveUpAt) {
    const tasks = Array.from({ length: workers * tasksPerWorker }, () => pool.run({ loops, times: 1 }))
    for (const result of await Promise.all(tasks)) {
      strictEqual(result.state, state)
      threadIds.add(result.threadId)
    }
  }
  strictEqual(threadIds.size, workers, 'every worker has worked')
  await sleep(calmMs)
  const workerMebibytes = (process.memoryUsage.rss() - before) / mebibyte / workers
  return { workerMebibytes }
}
