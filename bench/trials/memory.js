// P11: memory of an idle worker. How much more the process holds when all workers have done some work and are idle,
// divided by their number.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import busy from '../handlers/busy.js'

const tasksPerWorker = 8
const rounds = 1_000_000 // a millisecond or some
const mebibyte = 2 ** 20

export async function takeTurn(contestant, { workers, calmMs, startLimitMs }) {
  const start = await contestant.prepare()
  const { state } = busy(rounds)
  await sleep(calmMs)
  const before = process.memoryUsage.rss()
  const pool = await start({ handlerName: 'busy', workers })
  const threadIds = new Set()
  const giveUpAt = performance.now() + startLimitMs
  while (threadIds.size < workers && performance.now() < giveUpAt) {
    const tasks = Array.from({ length: workers * tasksPerWorker }, () => pool.run(rounds))
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
