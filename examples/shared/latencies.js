// The latencies of one run, in a histogram of microseconds.
import { createHistogram } from 'node:perf_hooks'

export class Latencies {
  #histogram = createHistogram()

  get count() {
    return this.#histogram.count
  }

  record(ms) {
    this.#histogram.record(Math.max(1, Math.round(ms * 1000)))
  }

  // Counts a latency for each millisecond of the wait, as if another request had arrived in each. A caller that sends its next request
  // only after a response sends few requests while responses are slow. autocannon does the same for loads with a given rate.
  recordArrivals(ms) {
    for (let left = ms; left > 0; left -= 1) this.record(left)
  }

  figures() {
    if (this.count === 0) return { p50: Number.NaN, p99: Number.NaN, max: Number.NaN }
    const read = percentile => this.#histogram.percentile(percentile) / 1000
    return { p50: read(50), p99: read(99), max: this.#histogram.max / 1000 }
  }
}
