// What a process holds: descriptors, threads, handles, listeners, heap.
import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, pause, until } from './expect.js'

let collect

export async function collectGarbage() {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc')
  }
  for (let round = 0; round < 4; round++) {
    collect()
    await pause(5)
  }
}

export async function measureHeap() {
  await collectGarbage()
  return process.memoryUsage().heapUsed
}

function countEntries(folder) {
  try {
    return readdirSync(folder).length
  } catch {
    return 0
  }
}

/** Each a number that a leak makes larger. Ask always from the same kind of moment: what asks is counted too. */
function countHandles() {
  const handles = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  return {
    descriptors: countEntries('/proc/self/fd'),
    threads: countEntries('/proc/self/task'),
    listeners,
    ...handles,
  }
}

export async function measureHandles() {
  // The platform opens them for its first worker, and keeps them.
  for (const stream of [process.stdout, process.stderr]) stream.writableLength
  let counts
  await until(() => {
    counts = countHandles()
    return true
  }, '')
  return counts
}

/** Waits until nothing more is held than before: what ends needs a moment. */
export async function expectNoMoreThan(before) {
  let more
  const isSo = () => {
    const now = countHandles()
    more = Object.keys(now).filter(kind => now[kind] > (before[kind] ?? 0))
    more = more.map(kind => `${kind} ${before[kind] ?? 0} → ${now[kind]}`)
    return more.length === 0
  }
  await until(isSo, () => `left behind: ${more.join(', ')}`, 5_000)
}

/** Heap that is kept is kept in every measurement: the least of several counts. */
export async function expectHeapGrowthBelow(limitBytes, before) {
  let growth = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5 && growth >= limitBytes; round++) {
    growth = Math.min(growth, (await measureHeap()) - before)
  }
  expect(growth < limitBytes, `the heap grew by ${(growth / 2 ** 20).toFixed(1)} MiB`)
}
