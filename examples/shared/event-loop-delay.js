// Keeps the measure of how late the event loop of this thread runs. node:perf_hooks records the time between two
// firings of its timer; the timer's own interval is taken off here, so that an idle loop shows about 0.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const resolutionMs = 5

export class EventLoopDelay {
  #histogram = monitorEventLoopDelay({ resolution: resolutionMs })

  // A reset forgets the last firing too, so the next one measures nothing: work that came before it would not be seen.
  async start() {
    this.#histogram.enable()
    await sleep(2 * resolutionMs)
    this.#histogram.reset()
    await sleep(2 * resolutionMs)
  }

  // The timer must fire once more after the last block of work, or that block is not counted.
  async stop() {
    await sleep(4 * resolutionMs)
    this.#histogram.disable()
    return { p50: this.#lateMs(50), p99: this.#lateMs(99), max: this.#lateMs(100) }
  }

  #lateMs(percentile) {
    if (this.#histogram.count === 0) return 0
    return Math.max(0, this.#histogram.percentile(percentile) / 1e6 - resolutionMs)
  }
}
