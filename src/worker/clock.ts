// The worker's door to time. A thread starts a millisecond sooner when it need not load `performance`.
import { makeClock } from '../shared/platform/make-clock.js'

const { hrtime } = process

export const realClock = makeClock(() => {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
})
