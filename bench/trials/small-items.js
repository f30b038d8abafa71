// Bar P15b: maps integers in order, with two workers, with items of about 1 µs or of 5 ms. A pool without a map of its own gets a window of
// 64 tasks, written by hand. With long items, `idleItems` is the time in which the first idle worker waited for the other one at the end,
// divided by the time of an item.
import { strictEqual } from 'node:assert/strict'
import { mapInWindow } from '../callers.js'

const workers = 2
const warmUpShare = 0.1
const longItemMs = 5

/** `loops`: the number of rounds that takes 1 ms, for items of 5 ms; `null`: items of about 1 µs. */
export async function takeTurn(contestant, { itemCount, loops }) {
  const pool = await contestant.start({ handlerName: 'small-item', workers })
  const map = pool.map ?? (source => mapInWindow(pool.run, source))
  const mapItems = loops === null ? mapShort : (map, count) => mapLong(map, count, loops)
  await mapItems(map, Math.round(itemCount * warmUpShare))
  return await mapItems(map, itemCount)
}

async function mapShort(map, itemCount) {
  const items = Array.from({ length: itemCount }, (_, n) => n)
  const startedAt = performance.now()
  let count = 0
  for await (const result of map(items)) {
    if (result !== count) strictEqual(result, count)
    count += 1
  }
  strictEqual(count, itemCount)
  return { tasksPerSecond: (count * 1000) / (performance.now() - startedAt) }
}

async function mapLong(map, itemCount, loops) {
  const items = new Array(itemCount).fill(-loops * longItemMs)
  const lastEnds = new Map()
  const startedAt = performance.now()
  for await (const { threadId, endedAt } of map(items)) {
    lastEnds.set(threadId, Math.max(endedAt, lastEnds.get(threadId) ?? 0))
  }
  const elapsedMs = performance.now() - startedAt
  strictEqual(lastEnds.size, workers)
  const idleMs = Math.max(...lastEnds.values()) - Math.min(...lastEnds.values())
  return { tasksPerSecond: (itemCount * 1000) / elapsedMs, idleItems: idleMs / longItemMs }
}
