// What the process holds when nothing is under way, sample by sample: it must not grow once the run has warmed up.
import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { heapByKind } from './heap-by-kind.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const MB = 2 ** 20

/** `npm run soak:memory` runs a second time without: what is left is what the program holds, by another way of measuring. */
const isOptimized = !process.execArgv.includes('--no-opt')

/**
 * Growth beyond `percent` of what there was first and `slackMb` on top is a leak. `held` and `compiled` are the heap, in
 * two; a function made for each of many ends would show in both. Resident memory follows the allocator's moods, and holds what
 * the last look at the heap took.
 */
export const limits = {
  held: { percent: 5, slackMb: 0 },
  compiled: { percent: 25, slackMb: 0.5 },
  heapUsed: isOptimized ? { percent: 10, slackMb: 1 } : { percent: 5, slackMb: 0 },
  external: { percent: 10, slackMb: 6 },
  arrayBuffers: { percent: 10, slackMb: 6 },
  rss: { percent: 20, slackMb: 48 },
}

export async function takeSample() {
  for (let round = 0; round < 4; round++) {
    collectGarbage()
    await turn()
  }
  return { ...process.memoryUsage(), ...heapByKind() }
}

/** One row a figure: where it begins and ends after the first tenth, by the straight line that is nearest to the samples. */
export function judge(samples) {
  const warm = samples.slice(Math.ceil(samples.length / 10))
  if (warm.length < 6) return { rows: {}, violations: [] }
  const rows = {}
  const violations = []
  for (const [figure, { percent, slackMb }] of Object.entries(limits)) {
    const [first, last] = endsOfLine(warm.map(sample => sample[figure]))
    const limit = first * (1 + percent / 100) + slackMb * MB
    rows[figure] = { firstMb: inMb(first), lastMb: inMb(last), limitMb: inMb(limit) }
    if (last > limit) {
      violations.push(`${figure} grew from ${inMb(first)} MB to ${inMb(last)} MB (limit ${inMb(limit)} MB)`)
    }
  }
  return { rows, violations }
}

/** Threads of the operating system, where they can be counted, and what keeps the event loop busy, by kind. */
export function countHoldings() {
  const counts = { threads: countThreads() }
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** What there is more of than there was. */
export function leftBehind(before, after) {
  return Object.entries(after).filter(([kind, count]) => count > (before[kind] ?? 0))
}

function countThreads() {
  try {
    return readdirSync('/proc/self/task').length
  } catch {
    return 0
  }
}

/** By least squares. */
function endsOfLine(values) {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let covariance = 0
  let variance = 0
  for (const [index, value] of values.entries()) {
    covariance += (index - middle) * (value - mean)
    variance += (index - middle) ** 2
  }
  const slope = covariance / variance
  return [mean - slope * middle, mean + slope * middle]
}

export function inMb(bytes) {
  return Math.round((bytes / MB) * 100) / 100
}
