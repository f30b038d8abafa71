// The clock of a worker. Uses `hrtime`, because a thread starts 1 ms sooner if it does not load `performance`.
import { makeClock } from '../../shared/platform/make-clock.js'

const { hrtime } = process

export const workerClock = makeClock(() => {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
})
