// Bar P15: maps integers in order, with one worker whose handler returns its payload. A pool without a map of its own gets a window of
// 64 tasks, written by hand. The growth of the memory is the peak at the end minus the peak after half of the run.
import { strictEqual } from 'node:assert/strict'
import { mapInWindow } from '../callers.js'

const warmUp = { mostItems: 1_000_000, mostMs: 1000 }
const itemsPerLook = 256

export async function takeTurn(contestant, { isAsync = false, ...limits }) {
  const pool = await contestant.start({ handlerName: 'echo', workers: 1 })
  const map = pool.map ?? (source => mapInWindow(pool.run, source))
  await mapNumbers(map, warmUp, isAsync)
  return await mapNumbers(map, limits, isAsync)
}

async function mapNumbers(map, { mostItems = Infinity, mostMs = Infinity }, isAsync) {
  const startedAt = performance.now()
  let peakBefore = null
  function* numbers() {
    for (let n = 0; n < mostItems; n += 1) {
      if (n % itemsPerLook === 0) {
        const elapsedMs = performance.now() - startedAt
        if (elapsedMs >= mostMs) return
        if (n >= mostItems / 2 || elapsedMs >= mostMs / 2) peakBefore ??= peakMebibytes()
      }
      yield n
    }
  }
  async function* asyncNumbers() {
    yield* numbers()
  }

  let count = 0
  for await (const result of map(isAsync ? asyncNumbers() : numbers())) {
    if (result !== count) strictEqual(result, count)
    count += 1
  }
  return {
    itemCount: count,
    tasksPerSecond: (count * 1000) / (performance.now() - startedAt),
    growthMebibytes: peakMebibytes() - (peakBefore ?? 0),
    peakMebibytes: peakMebibytes(),
  }
}

function peakMebibytes() {
  return process.resourceUsage().maxRSS / 1024
}
