// P12: very many tasks submitted at once while the only worker is held, so that all of them wait; then all cancelled by
// ending the pool. Not by a signal: as many signals cost more than the tasks, and one signal with as many listeners
// takes time by the square, before a pool has its say.
import { strictEqual } from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { burn } from '../work.js'

const warmUpTasks = 2000
const warmUpPayload = { loops: 100, times: 1 }

export async function takeTurn(contestant, { taskCount }) {
  const words = new Int32Array(new SharedArrayBuffer(8))
  const pool = await contestant.start({ handlerName: 'work', workers: 1 })
  await pool.run({ words })
  await warmUp(pool)

  let cancelledCount = 0
  const cancelled = Promise.withResolvers?.() ?? createResolvers()
  const onCancel = () => {
    cancelledCount += 1
    if (cancelledCount === taskCount) cancelled.resolve()
  }
  const onResult = () => cancelled.reject(new Error('a task ran that must stay queued'))

  pool.run({ hold: true }).then(onResult, () => {})
  await turn()
  const rssBefore = process.memoryUsage.rss()
  const submitStartedAt = performance.now()
  for (let i = 0; i < taskCount; i += 1) pool.run({ a: i, b: i + 1 }).then(onResult, onCancel)
  // With what it put off until the turn's end.
  await turn()
  const submitMicros = ((performance.now() - submitStartedAt) * 1000) / taskCount
  const peakBytes = (process.resourceUsage().maxRSS * 1024 - rssBefore) / taskCount
  strictEqual(cancelledCount, 0)

  const cancelStartedAt = performance.now()
  Promise.resolve(pool.cancelAll()).catch(() => {})
  await cancelled.promise
  const cancelMicros = ((performance.now() - cancelStartedAt) * 1000) / taskCount
  return { submitMicros, peakBytes, cancelMicros }
}

async function warmUp(pool) {
  const state = burn(warmUpPayload.loops)
  const tasks = Array.from({ length: warmUpTasks }, () => pool.run(warmUpPayload))
  for (const result of await Promise.all(tasks)) strictEqual(result.state, state)
}

function createResolvers() {
  const resolvers = {}
  resolvers.promise = new Promise((resolve, reject) => Object.assign(resolvers, { resolve, reject }))
  return resolvers
}
