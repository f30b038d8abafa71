// Measures how late the event loop of this thread runs. node:perf_hooks records the time between two calls of its timer. Its interval
// is subtracted here, so that an idle loop shows about 0.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const resolutionMs = 5

export class EventLoopDelay {
  #histogram = monitorEventLoopDelay({ resolution: resolutionMs })

  // A reset also forgets the last call, so the next call records nothing. Work before that call would be missing.
  async start() {
    this.#histogram.enable()
    await sleep(2 * resolutionMs)
    this.#histogram.reset()
    await sleep(2 * resolutionMs)
  }

  // The timer must be called once more after the last block of work. Otherwise that block is missing.
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
