// Bar P17: tasks that look a key up in a large shared table, against tasks that look it up in a table of the worker's own.
import { strictEqual } from 'node:assert/strict'
import { createTable } from '../handlers/table.js'

const warmUpTasks = 2000
/** A run takes some 20 ms, so one collection of garbage decides a single pair. */
const pairs = 31

export async function takeTurn(contestant, { entries, tasks }) {
  const pool = await contestant.start({ handlerName: 'table', workers: 1 })
  const shareStartedAt = performance.now()
  const table = pool.share(createTable(entries))
  const shareMs = performance.now() - shareStartedAt
  await pool.run(entries, undefined, 'makeOwn')
  const ways = {
    shared: index => pool.run({ table, key: keyOf(index) }, undefined, 'lookUp'),
    own: index => pool.run({ key: keyOf(index) }, undefined, 'lookUpOwn'),
  }
  const keyOf = index => `key ${(index * 7919) % entries}`
  for (const way of Object.values(ways)) await runAll(way, warmUpTasks)
  const ratios = []
  for (let pair = 0; pair < pairs; pair += 1) {
    const sharedMs = await runAll(ways.shared, tasks)
    ratios.push(sharedMs / (await runAll(ways.own, tasks)))
  }
  return { timesAsLong: ratios.sort((a, b) => a - b)[pairs >> 1], shareMs }

  async function runAll(way, count) {
    const startedAt = performance.now()
    const results = await Promise.all(Array.from({ length: count }, (_, index) => way(index)))
    const elapsedMs = performance.now() - startedAt
    for (const [index, score] of results.entries()) strictEqual(score, (index * 7919) % entries)
    return elapsedMs
  }
}
