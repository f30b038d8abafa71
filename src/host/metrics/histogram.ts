// A histogram of durations in milliseconds: count, minimum, maximum, mean and percentiles. Up to 256 µs each
// microsecond has a bucket. Above that, each doubling has 128 buckets, so a percentile is off by at most 0.4 %. The
// buckets are a plain array. A record in Node's own histogram is a call of native code, which takes as long as a small
// task.

const MICROSECONDS = 1000
const FIRST_BITS = 8
const FIRST_BUCKETS = 2 ** FIRST_BITS
const HALF = FIRST_BUCKETS / 2
/** About 100 days. A longer duration counts as 100 days. */
const MOST_BITS = 43
const MOST_MICROSECONDS = 2 ** MOST_BITS - 1

/** The array of a histogram has durations up to 32 ms. It grows when a longer one comes. */
const FIRST_DOUBLINGS = 7
const NO_COUNTS = new Float64Array(0)

import type { DurationSummary } from '../../api/durations.js'
import type { RecordedDurations } from '../../api/figures.js'

export class DurationHistogram implements DurationSummary, RecordedDurations {
  /** Created by the first duration. */
  #counts = NO_COUNTS
  #count = 0
  #min = Number.POSITIVE_INFINITY
  #max = 0
  #mean = 0
  /** The sum of the squared distances from the mean. */
  #spread = 0

  record(durationMs: number): void {
    const rounded = Math.round(durationMs * MICROSECONDS)
    const value = rounded < 1 ? 1 : rounded > MOST_MICROSECONDS ? MOST_MICROSECONDS : rounded
    const bucket = bucketOf(value)
    if (bucket >= this.#counts.length) this.#grow(bucket)
    this.#counts[bucket]!++
    this.#count++
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
    const distance = value - this.#mean
    this.#mean += distance / this.#count
    this.#spread += distance * (value - this.#mean)
  }

  #grow(bucket: number): void {
    const doublings = Math.max(Math.ceil((bucket + 1 - FIRST_BUCKETS) / HALF), FIRST_DOUBLINGS)
    const counts = new Float64Array(FIRST_BUCKETS + doublings * HALF)
    counts.set(this.#counts)
    this.#counts = counts
  }

  reset(): void {
    this.#counts.fill(0)
    this.#count = 0
    this.#min = Number.POSITIVE_INFINITY
    this.#max = 0
    this.#mean = 0
    this.#spread = 0
  }

  get count(): number {
    return this.#count
  }

  get min(): number {
    return this.#min / MICROSECONDS
  }

  get max(): number {
    return this.#max / MICROSECONDS
  }

  get mean(): number {
    return this.#count === 0 ? Number.NaN : this.#mean / MICROSECONDS
  }

  get stddev(): number {
    return this.#count === 0 ? Number.NaN : Math.sqrt(this.#spread / this.#count) / MICROSECONDS
  }

  get sumMs(): number {
    return (this.#mean * this.#count) / MICROSECONDS
  }

  percentile(percent: number): number {
    const rank = Math.max(Math.ceil((percent / 100) * this.#count), 1)
    if (rank >= this.#count) return this.max
    let passed = 0
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      passed += this.#counts[bucket]!
      if (passed >= rank) return Math.min(Math.max(middleOf(bucket), this.#min), this.#max) / MICROSECONDS
    }
    return this.max
  }

  countsUpTo(boundsMs: readonly number[]): number[] {
    let bucket = 0
    let passed = 0
    return boundsMs.map(boundMs => {
      const bound = boundMs * MICROSECONDS
      while (bucket < this.#counts.length && middleOf(bucket) <= bound) passed += this.#counts[bucket++]!
      return passed
    })
  }

  /** Adds the durations of another histogram. */
  add(other: DurationHistogram): void {
    if (other.#count === 0) return
    if (other.#counts.length > this.#counts.length) this.#grow(other.#counts.length - 1)
    for (let bucket = 0; bucket < other.#counts.length; bucket++)
      this.#counts[bucket]! += other.#counts[bucket]!
    const count = this.#count + other.#count
    const distance = other.#mean - this.#mean
    this.#spread += other.#spread + (distance ** 2 * this.#count * other.#count) / count
    this.#mean += (distance * other.#count) / count
    this.#count = count
    this.#min = Math.min(this.#min, other.#min)
    this.#max = Math.max(this.#max, other.#max)
  }
}

function bucketOf(value: number): number {
  if (value < FIRST_BUCKETS) return value
  // From 2^31 on, the upper 32 bits give the number of bits.
  const bits = value < 2 ** 31 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / 2 ** 32)
  const shift = bits - FIRST_BITS
  return FIRST_BUCKETS + (shift - 1) * HALF + (Math.floor(value / 2 ** shift) - HALF)
}

/** The value in the middle of the bucket. */
function middleOf(bucket: number): number {
  if (bucket < FIRST_BUCKETS) return bucket
  const shift = Math.floor((bucket - FIRST_BUCKETS) / HALF) + 1
  const place = ((bucket - FIRST_BUCKETS) % HALF) + HALF
  return (place + 0.5) * 2 ** shift
}
