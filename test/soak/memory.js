// Samples the memory of the process while no task runs. The memory must not grow after the first tenth of the run.
import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { heapByKind } from './heap-by-kind.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const MB = 2 ** 20

/** `npm run soak:memory` runs a second time without the optimizer. Then `heapUsed` measures what the program holds. */
const isOptimized = !process.execArgv.includes('--no-opt')

/**
 * Growth by more than `percent` of the first value plus `slackMb` is a leak. `held` and `compiled` are the two parts of the heap. A
 * function that is created for each exit would show in both. Resident memory depends on the allocator, and contains memory that
 * the last heap snapshot took.
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

/** Fits a straight line to the samples of each figure after the first tenth. A row has the first and the last value of the line. */
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

/** Counts threads of the operating system, where that is possible, and active resources of the event loop by kind. */
export function countHoldings() {
  const counts = { threads: countThreads() }
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** The kinds of which `after` has more than `before`. */
export function leftOver(before, after) {
  return Object.entries(after).filter(([kind, count]) => count > (before[kind] ?? 0))
}

function countThreads() {
  try {
    return readdirSync('/proc/self/task').length
  } catch {
    return 0
  }
}

/** The first and the last value of the straight line through the values, by least squares. */
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
