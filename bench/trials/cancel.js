// Bar P12: compares the cost of cancelling one queued task in a short and in a long queue. Each task has its own
// signal. The order of the aborts favours neither end of the queue.
import { strictEqual } from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'

const warmUpShare = 0.2
const stride = 7919 // a prime, so the steps visit each task once if it does not divide the number of tasks

export async function takeTurn(contestant, { fewTasks, manyTasks }) {
  await measureCancel(contestant, Math.ceil(fewTasks * warmUpShare))
  const few = await measureCancel(contestant, fewTasks)
  const many = await measureCancel(contestant, manyTasks)
  return { fewMicros: few, manyMicros: many, growth: many / few }
}

async function measureCancel(contestant, taskCount) {
  strictEqual(taskCount % stride === 0, false)
  const words = new Int32Array(new SharedArrayBuffer(8))
  const pool = await contestant.start({ handlerName: 'work', workers: 1 })
  await pool.run({ words })
  pool.run({ hold: true }).catch(() => {})
  await turn()

  const outcomes = { run: 0, cancelled: 0 }
  const controllers = Array.from({ length: taskCount }, () => new AbortController())
  const tasks = controllers.map(({ signal }) =>
    pool.run({ loops: 1, times: 1 }, signal).then(
      () => {
        outcomes.run += 1
      },
      () => {
        outcomes.cancelled += 1
      },
    ),
  )
  await turn()
  const startedAt = performance.now()
  for (let i = 0; i < taskCount; i += 1) controllers[(i * stride) % taskCount].abort()
  await Promise.all(tasks)
  const micros = ((performance.now() - startedAt) * 1000) / taskCount
  strictEqual(outcomes.cancelled, taskCount)
  Promise.resolve(pool.cancelAll()).catch(() => {})
  return micros
}
