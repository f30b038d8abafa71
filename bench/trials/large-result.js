// Bar P14: measures how long a large result blocks the host's event loop, and how long the result takes to arrive.
import { strictEqual } from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { largeValues, outlineOf } from '../large-values.js'

const warmUpShare = 0.1
const warmUpResults = 3

export async function takeTurn(contestant, { kind, bytes, results, calmMs }) {
  const pool = await contestant.start({ handlerName: 'large', workers: 1 })
  const payload = { kind, bytes }
  const smaller = { kind, bytes: bytes * warmUpShare }
  for (let count = 0; count < warmUpResults; count += 1) {
    check(await pool.run(smaller), smaller)
  }
  // The first call lets the worker create the value.
  check(await pool.run(payload), payload)
  const delays = []
  const times = []
  for (let count = 0; count < results; count += 1) {
    await sleep(calmMs)
    const { delayMs, resultMs, result } = await watch(() => pool.run(payload))
    check(result, payload)
    delays.push(delayMs)
    times.push(resultMs)
  }
  return { delayMsMax: Math.max(...delays), resultMs: times.sort((a, b) => a - b)[results >> 1] }
}

const outlines = new Map()
function check(result, { kind, bytes }) {
  const key = `${kind} ${bytes}`
  if (!outlines.has(key)) outlines.set(key, outlineOf(largeValues[kind].create(bytes)))
  strictEqual(outlineOf(result), outlines.get(key))
}

async function watch(action) {
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  monitor.enable()
  const startedAt = performance.now()
  const result = await action()
  const resultMs = performance.now() - startedAt
  // The monitor records the last delay in the next turns of the event loop.
  await sleep(5)
  monitor.disable()
  return { delayMs: monitor.max / 1e6, resultMs, result }
}
