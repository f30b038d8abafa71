// Plays many cases, several at the same time, each in its own pool. At the end, the process must have only what it had before.

import { openLedger } from './ledger.js'
import { verdictOf } from './oracle.js'
import { MomentMissed, play } from './play.js'

const MOST_PLAYS = 10
const MOST_SLOWNESS = 4

/**
 * @param onResult called with each `{ theCase, problems }`
 * @returns what is left in the process, as sentences
 */
export async function playAll(Pool, cases, { atOnce, limitMs, onResult }) {
  // The first case of each backend opens lasting resources, such as the standard streams.
  const first = new Map(cases.map(theCase => [theCase.backend, theCase]))
  for (const theCase of first.values()) await playWithin(Pool, theCase, limitMs)
  const ledger = await openLedger()
  const left = [...cases]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let theCase = left.shift(); theCase !== undefined; theCase = left.shift()) {
        onResult({ theCase, problems: await playWithin(Pool, theCase, limitMs) })
      }
    }),
  )
  return await ledger.whatIsLeft()
}

async function playWithin(Pool, theCase, limitMs) {
  let timer
  const limit = new Promise((_, reject) => {
    timer = setTimeout(reject, limitMs, new Error(`the case did not finish within ${limitMs} ms`))
  })
  try {
    return await Promise.race([playUntilForced(Pool, theCase), limit])
  } catch (failure) {
    return [String(failure?.stack ?? failure)]
  } finally {
    clearTimeout(timer)
  }
}

async function playUntilForced(Pool, theCase) {
  for (let plays = 1; ; plays++) {
    // A slow machine gets longer time limits, so that a later play reaches the moment that the first plays missed.
    const slowness = Math.min(2 ** (plays - 1), MOST_SLOWNESS)
    try {
      return await play(Pool, theCase, verdictOf(theCase), slowness)
    } catch (failure) {
      if (!(failure instanceof MomentMissed) || plays === MOST_PLAYS) throw failure
    }
  }
}
