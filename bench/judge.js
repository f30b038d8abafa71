// Computes verdicts from samples: the median of the rounds, the ratios within each round, and whether each bar is met.
// `samples[poolName]` has one entry for each take: the figures of the trial, or null if the pool failed.

/** Judges one row: the figure of each pool, the ratio of lido to that pool, and a verdict for each bar. */
export function judgeRow(row, samples, { subjectName, peerNames, whyNot = null, excuses = {} }) {
  const read = name => (samples[name] ?? []).map(figures => figures?.[row.figure] ?? null)
  const ours = read(subjectName)
  const pools = Object.fromEntries(
    Object.keys(samples).map(name => {
      const theirs = read(name)
      const ratio = name === subjectName ? null : spread(ratiosWithinRounds(ours, theirs))
      return [name, describePool(spread(theirs), ratio)]
    }),
  )
  const field = { subjectName, peerNames, pools, whyNot, excuses }
  return { ...row, whyNot, pools, bars: row.bars.map(bar => judgeBar(bar, field)) }
}

function describePool(figure, ratio) {
  return figure === null ? null : { ...figure, ratio }
}

/** Ours divided by theirs, take by take. Both figures are measured seconds apart, so a slow round is slow for both. */
export function ratiosWithinRounds(ours, theirs) {
  return ours
    .map((value, take) => [value, theirs[take] ?? null])
    .filter(([our, their]) => our !== null && their !== null && their !== 0)
    .map(([our, their]) => our / their)
}

/** Median, minimum and maximum of the values that are not null; null if all are. */
export function spread(values) {
  const sorted = values.filter(value => value !== null).sort((a, b) => a - b)
  if (sorted.length === 0) return null
  return { median: median(sorted), min: sorted[0], max: sorted.at(-1), count: sorted.length }
}

function median(sorted) {
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function judgeBar(bar, field) {
  const { name, value, reason } = findValue(bar, field)
  const isMet = value === null ? null : meets(value.median, bar)
  return { ...bar, opponent: name, value, isMet, reason }
}

function meets(value, { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }) {
  return value >= atLeast && value <= atMost
}

function findValue(bar, { subjectName, peerNames, pools, whyNot, excuses }) {
  const nothing = reason => ({ name: null, value: null, reason })
  const excuse = name => `${name}: ${excuses[name] ?? 'was not measured'}`
  if (whyNot !== null) return nothing(whyNot)
  if (!pools[subjectName]) return nothing(excuse(subjectName))
  if (bar.against === null) return { name: null, value: pools[subjectName], reason: null }
  const opponents = bar.against === 'best peer' ? peerNames : [bar.against]
  // Without this opponent's figure the best peer is unknown.
  const missing = opponents.find(name => !pools[name]?.ratio)
  if (missing !== undefined) return nothing(excuse(missing))
  const name = hardestOpponent(opponents, pools, bar)
  return { name, value: pools[name].ratio, reason: null }
}

/** The best peer is the opponent with the worst ratio for lido. */
function hardestOpponent(names, pools, bar) {
  const sign = bar.atLeast === undefined ? -1 : 1
  return names.toSorted((a, b) => sign * (pools[a].ratio.median - pools[b].ratio.median))[0]
}

export function countBars(judged) {
  const verdicts = judged.flatMap(row => row.bars.map(bar => bar.isMet))
  const count = wanted => verdicts.filter(verdict => verdict === wanted).length
  return { met: count(true), missed: count(false), notMeasured: count(null) }
}
