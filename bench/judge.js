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
  const field = { subjectName, peerNames, read, whyNot, excuses }
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

/** Ours minus theirs, take by take. */
export function differencesWithinRounds(ours, theirs) {
  return ours
    .map((value, take) => [value, theirs[take] ?? null])
    .filter(([our, their]) => our !== null && their !== null)
    .map(([our, their]) => our - their)
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

/** The judged pool is lido, unless the bar names another `subject`. */
function findValue(bar, { subjectName, peerNames, read, whyNot, excuses }) {
  const nothing = reason => ({ name: null, value: null, reason })
  const excuse = name => `${name}: ${excuses[name] ?? 'was not measured'}`
  const subject = bar.subject ?? subjectName
  const figure = spread(read(subject))
  if (whyNot !== null) return nothing(whyNot)
  if (figure === null) return nothing(excuse(subject))
  if (bar.against === null) return { name: null, value: figure, reason: null }
  const opponents = bar.against === 'best peer' ? peerNames : [bar.against]
  const compare = bar.isDifference ? differencesWithinRounds : ratiosWithinRounds
  const values = opponents.map(name => ({ name, value: spread(compare(read(subject), read(name))) }))
  // Without this opponent's figure the best peer is unknown.
  const missing = values.find(({ value }) => value === null)
  if (missing !== undefined) return nothing(excuse(missing.name))
  return { ...hardest(values, bar), reason: null }
}

/** The best peer is the opponent with the worst ratio for the judged pool. */
function hardest(values, bar) {
  const sign = bar.atLeast === undefined ? -1 : 1
  return values.toSorted((a, b) => sign * (a.value.median - b.value.median))[0]
}

export function countBars(judged) {
  const verdicts = judged.flatMap(row => row.bars.map(bar => bar.isMet))
  const count = wanted => verdicts.filter(verdict => verdict === wanted).length
  return { met: count(true), missed: count(false), notMeasured: count(null) }
}
