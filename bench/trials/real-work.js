// The rows `real`: real work on pools with more or fewer workers than tasks in flight. The pool of a process serves all turns.
import { strictEqual } from 'node:assert/strict'
import * as handlers from '../handlers/real-work.js'

const words = ['the', 'pool', 'runs', 'a', 'task', 'on', 'its', 'worker']
const sentence = (length, step) =>
  Array.from({ length }, (_, i) => words[(i * step) % words.length]).join(' ')
const page =
  '# Title\n\nSome *text* with `code` and a [link](https://example.org).\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n'

export const payloads = {
  levenshtein: { left: sentence(110, 3), right: sentence(110, 5) },
  markdown: { source: page.repeat(40) },
  thumbnail: { width: 1200, height: 800 },
}

let pool = null

export async function takeTurn(contestant, { work, workers, inFlight, warmUpMs, durationMs }) {
  pool ??= await contestant.start({ handlerName: 'real-work', workers })
  const { [work]: handler } = handlers
  const expected = await handler(payloads[work])
  const run = async () => strictEqual(await pool.run(payloads[work], undefined, work), expected)
  await load(run, { inFlight, durationMs: warmUpMs })
  const before = process.cpuUsage()
  const { millis, elapsedMs } = await load(run, { inFlight, durationMs })
  const { user, system } = process.cpuUsage(before)
  millis.sort((a, b) => a - b)
  return {
    tasksPerSecond: (millis.length * 1000) / elapsedMs,
    cpuMicrosPerTask: (user + system) / millis.length,
    taskMsP99: millis[Math.floor(millis.length * 0.99)],
  }
}

export async function leave() {
  await pool?.stop()
}

async function load(run, { inFlight, durationMs }) {
  const millis = []
  const startedAt = performance.now()
  const deadline = startedAt + durationMs
  async function call() {
    for (let now = performance.now(); now < deadline; ) {
      await run()
      const end = performance.now()
      millis.push(end - now)
      now = end
    }
  }
  await Promise.all(Array.from({ length: inFlight }, call))
  return { millis, elapsedMs: performance.now() - startedAt }
}
