// Asks again until it works: for what becomes possible at a moment nobody announces. The test's own limit bounds it.
import { setTimeout as pause } from 'node:timers/promises'

const pauseMs = 50

export async function untilItWorks(attempt) {
  for (;;) {
    try {
      return await attempt()
    } catch {
      await pause(pauseMs)
    }
  }
}
