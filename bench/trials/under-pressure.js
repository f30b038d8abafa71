// Bar P20: a server that runs one loop of small tasks. @fastify/under-pressure refuses requests when the event loop is in use.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import underPressure from '@fastify/under-pressure'
import createFastify from 'fastify'

const unavailableStatus = 503

export async function takeTurn(contestant, { taskMs, requests, everyMs, maxEventLoopUtilization }) {
  const pool = await contestant.start({ handlerName: 'small-task', workers: 1 })
  const app = createFastify()
  await app.register(underPressure, { maxEventLoopUtilization, sampleInterval: 250 })
  app.get('/', async () => 'ok')
  await app.ready()

  let isOver = false
  let taskCount = 0
  async function runTasks() {
    while (!isOver) {
      strictEqual(await pool.run(taskMs), taskMs)
      taskCount += 1
    }
  }
  const job = runTasks()
  let refused = 0
  for (let count = 0; count < requests; count += 1) {
    await Promise.race([sleep(everyMs), job])
    const { statusCode } = await app.inject('/')
    if (statusCode === unavailableStatus) refused += 1
    else strictEqual(statusCode, 200)
  }
  isOver = true
  await job
  await app.close()
  return { refusedShare: refused / requests, taskCount }
}
