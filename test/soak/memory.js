// What the process holds when nothing is under way, sample by sample: it must not grow once the run has warmed up.
import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const MB = 2 ** 20

/** Growth beyond `percent` of the first samples and `slackMb` on top is a leak. Resident memory follows the allocator's moods. */
export const limits = {
  heapUsed: { percent: 10, slackMb: 3 },
  external: { percent: 10, slackMb: 6 },
  arrayBuffers: { percent: 10, slackMb: 6 },
  rss: { percent: 20, slackMb: 48 },
}

export async function takeSample() {
  for (let round = 0; round < 4; round++) {
    collectGarbage()
    await turn()
  }
  return process.memoryUsage()
}

/** One row a figure: its first and last value after the first tenth, each the median of three samples. */
export function judge(samples) {
  const warm = samples.slice(Math.ceil(samples.length / 10))
  if (warm.length < 6) return { rows: {}, violations: [] }
  const rows = {}
  const violations = []
  for (const [figure, { percent, slackMb }] of Object.entries(limits)) {
    const first = median(warm.slice(0, 3).map(sample => sample[figure]))
    const last = median(warm.slice(-3).map(sample => sample[figure]))
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

function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]
}

function inMb(bytes) {
  return Math.round((bytes / MB) * 10) / 10
}
