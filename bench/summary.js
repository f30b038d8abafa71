// From samples to figures: medians over the rounds, and ratios to each peer taken within a round.
// Plain functions over plain data.
export const subjectName = 'lido'
const barPeerName = 'piscina'
export const bar = 0.95

/** One row a cell: what each pool reached, how it stands to lido, and whether lido meets the bar. */
export function summarize(samples, cells, poolNames) {
  return cells.map(cell => {
    const row = samples[cell.id]
    const figures = Object.fromEntries(poolNames.map(name => [name, summarizePool(row, name)]))
    const barRatio = figures[barPeerName]?.subjectRatio ?? null
    return {
      cellId: cell.id,
      label: cell.label,
      pools: figures,
      barRatio,
      isBarMet: barRatio === null ? null : barRatio.median >= bar,
    }
  })
}

function summarizePool(row, poolName) {
  const played = row[poolName].filter(sample => sample !== null)
  if (played.length === 0) return null
  return {
    tasksPerSecond: spread(played.map(tasksPerSecond)),
    hostCpuMicrosPerTask: spread(played.map(sample => sample.hostCpuMicros / sample.taskCount)),
    subjectRatio: poolName === subjectName ? null : ratioToPeer(row, poolName),
  }
}

/** lido's rate over the peer's, round by round: both were taken a second apart, so a slow round is slow for both. */
function ratioToPeer(row, peerName) {
  const ratios = (row[subjectName] ?? [])
    .map((sample, round) => [sample, row[peerName][round]])
    .filter(([ours, theirs]) => ours !== null && theirs !== null)
    .map(([ours, theirs]) => tasksPerSecond(ours) / tasksPerSecond(theirs))
  return ratios.length === 0 ? null : spread(ratios)
}

function tasksPerSecond({ taskCount, elapsedMs }) {
  return (taskCount * 1000) / elapsedMs
}

function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: median(sorted), min: sorted[0], max: sorted.at(-1), count: sorted.length }
}

function median(sorted) {
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
