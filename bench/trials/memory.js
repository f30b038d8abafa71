// Bar P11: measures the memory of an idle worker. All workers run some tasks and become idle. The figure is the growth
// of the process divided by the number of workers.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import busy from '../handlers/busy.js'

const tasksPerWorker = 8
const rounds = 1_000_000 // takes about 1 ms
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
  strictEqual(threadIds.size, workers, `only ${threadIds.size} of ${workers} workers ran a task`)
  await sleep(calmMs)
  const workerMebibytes = (process.memoryUsage.rss() - before) / mebibyte / workers
  return { workerMebibytes }
}
