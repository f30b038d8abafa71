// Keeps the latencies of one run, in a histogram of microseconds.
import { createHistogram } from 'node:perf_hooks'

export class Latencies {
  #histogram = createHistogram()

  get count() {
    return this.#histogram.count
  }

  record(ms) {
    this.#histogram.record(Math.max(1, Math.round(ms * 1000)))
  }

  // As those would have waited who came while it was under way, one each millisecond: a caller that asks only when it has its
  // answer asks seldom while answers take long, and would hide it. autocannon does the same for loads of a given rate.
  recordArrivals(ms) {
    for (let left = ms; left > 0; left -= 1) this.record(left)
  }

  figures() {
    if (this.count === 0) return { p50: Number.NaN, p99: Number.NaN, max: Number.NaN }
    const read = percentile => this.#histogram.percentile(percentile) / 1000
    return { p50: read(50), p99: read(99), max: this.#histogram.max / 1000 }
  }
}
