// Repeats an attempt until it succeeds, for a change that no event announces. The time limit of the test ends it.
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
