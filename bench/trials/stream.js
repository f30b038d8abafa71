// Bar P16: reads a stream of buffers from one worker. With `pauseMs`, the reader pauses after the first chunk, and the trial
// measures how much the memory of the process grows during the pause.
import { strictEqual } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const warmUpShare = 0.1

export async function takeTurn(contestant, { chunks, bytes, pauseMs = 0 }) {
  const pool = await contestant.start({ handlerName: 'chunks', workers: 1 })
  await read(pool, { count: chunks * warmUpShare, bytes }, 0)
  return await read(pool, { count: chunks, bytes }, pauseMs)
}

async function read(pool, { count, bytes }, pauseMs) {
  const startedAt = performance.now()
  let seen = 0
  let growthMebibytes = 0
  for await (const chunk of pool.stream({ count: Math.ceil(count), bytes })) {
    strictEqual(chunk[0], seen % 256)
    strictEqual(chunk.length, bytes)
    seen += 1
    if (seen === 1 && pauseMs > 0) {
      const before = process.memoryUsage.rss()
      await sleep(pauseMs)
      growthMebibytes = (process.memoryUsage.rss() - before) / 2 ** 20
    }
  }
  strictEqual(seen, Math.ceil(count))
  const seconds = (performance.now() - startedAt) / 1000
  return { mebibytesPerSecond: (seen * bytes) / 2 ** 20 / seconds, growthMebibytes }
}
