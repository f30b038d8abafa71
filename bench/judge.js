// From samples to verdicts: medians over the rounds, ratios taken within a round, bars met or not. Plain functions over
// plain data. `samples[poolName]` is a list with an entry per take: the trial's figures, or null where the pool failed.

/** One row: what each pool reached, how lido stands to it, and every bar with its verdict. */
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

/** ours / theirs, take by take: both were taken seconds apart, so a slow round is slow for both. */
export function ratiosWithinRounds(ours, theirs) {
  return ours
    .map((value, take) => [value, theirs[take] ?? null])
    .filter(([our, their]) => our !== null && their !== null && their !== 0)
    .map(([our, their]) => our / their)
}

/** The median with the least and the most; null where there is nothing to take it of. */
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
  const excuse = name => `${name}: ${excuses[name] ?? 'did not play'}`
  if (whyNot !== null) return nothing(whyNot)
  if (!pools[subjectName]) return nothing(excuse(subjectName))
  if (bar.against === null) return { name: null, value: pools[subjectName], reason: null }
  const opponents = bar.against === 'best peer' ? peerNames : [bar.against]
  // Who is missing might have been the best.
  const missing = opponents.find(name => !pools[name]?.ratio)
  if (missing !== undefined) return nothing(excuse(missing))
  const name = hardestOpponent(opponents, pools, bar)
  return { name, value: pools[name].ratio, reason: null }
}

/** The best peer is the one that leaves us the worst ratio. */
function hardestOpponent(names, pools, bar) {
  const sign = bar.atLeast === undefined ? -1 : 1
  return names.toSorted((a, b) => sign * (pools[a].ratio.median - pools[b].ratio.median))[0]
}

/** How many bars are met, missed, and not measured. */
export function countBars(judged) {
  const verdicts = judged.flatMap(row => row.bars.map(bar => bar.isMet))
  const count = wanted => verdicts.filter(verdict => verdict === wanted).length
  return { met: count(true), missed: count(false), notMeasured: count(null) }
}
