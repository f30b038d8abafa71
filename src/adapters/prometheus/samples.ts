// Adds up the figures of pools: by metric, and by labels. Pools with the same label give one series.
import type { RecordedDurations } from '../../kit.js'
import type { Labels, MetricValue } from './register.js'

interface Series {
  readonly labels: Labels
  value: number
  /** The sum of the weights of a mean. */
  weight: number
}

interface HistogramSeries {
  readonly labels: Labels
  readonly counts: number[]
  count: number
  sum: number
}

export class Samples {
  readonly #bounds: readonly number[]
  readonly #boundsMs: readonly number[]
  readonly #series = new Map<string, Map<string, Series>>()
  readonly #histograms = new Map<string, Map<string, HistogramSeries>>()

  /** @param bounds the upper bounds of the buckets, in seconds */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#boundsMs = bounds.map(bound => bound * 1000)
  }

  /** Equal labels are added up. */
  add(name: string, labels: Labels, value: number): void {
    this.#at(name, labels, 0).value += value
  }

  /** The largest value of equal labels counts. */
  max(name: string, labels: Labels, value: number): void {
    const series = this.#at(name, labels, value)
    series.value = Math.max(series.value, value)
  }

  mean(name: string, labels: Labels, value: number, weight: number): void {
    if (weight <= 0) return
    const series = this.#at(name, labels, 0)
    series.weight += weight
    series.value += ((value - series.value) * weight) / series.weight
  }

  durations(name: string, labels: Labels, recorded: RecordedDurations): void {
    const { count, sumMs } = recorded
    this.#addHistogram(name, {
      labels,
      counts: recorded.countsUpTo(this.#boundsMs),
      count,
      sum: sumMs / 1000,
    })
  }

  /** Adds the totals of these metrics. */
  addTotals(other: Samples, names: Iterable<string>): void {
    for (const name of names) {
      for (const { labels, value } of other.#series.get(name)?.values() ?? []) this.add(name, labels, value)
      for (const series of other.#histograms.get(name)?.values() ?? []) this.#addHistogram(name, series)
    }
  }

  /** @param shownName the name with the prefix */
  values(name: string, shownName: string): MetricValue[] {
    const plain = [...(this.#series.get(name)?.values() ?? [])]
    const histograms = [...(this.#histograms.get(name)?.values() ?? [])]
    return [
      ...plain.map(({ labels, value }) => ({ labels, value })),
      ...histograms.flatMap(series => this.#shown(series, shownName)),
    ]
  }

  #shown({ labels, counts, count, sum }: HistogramSeries, name: string): MetricValue[] {
    const bucket = (le: string | number, value: number) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value,
    })
    return [
      ...this.#bounds.map((bound, index) => bucket(bound, counts[index]!)),
      bucket('+Inf', count),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }

  #at(name: string, labels: Labels, first: number): Series {
    return entryOf(this.#series, name, labels, () => ({ labels, value: first, weight: 0 }))
  }

  #addHistogram(name: string, { labels, counts, count, sum }: HistogramSeries): void {
    const series = entryOf(this.#histograms, name, labels, () => ({
      labels,
      counts: counts.map(() => 0),
      count: 0,
      sum: 0,
    }))
    for (const [index, value] of counts.entries()) series.counts[index]! += value
    series.count += count
    series.sum += sum
  }
}

function entryOf<Entry>(
  all: Map<string, Map<string, Entry>>,
  name: string,
  labels: Labels,
  make: () => Entry,
): Entry {
  let entries = all.get(name)
  if (entries === undefined) {
    entries = new Map()
    all.set(name, entries)
  }
  const key = JSON.stringify(Object.values(labels))
  let entry = entries.get(key)
  if (entry === undefined) {
    entry = make()
    entries.set(key, entry)
  }
  return entry
}
