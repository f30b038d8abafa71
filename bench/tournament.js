// Runs the matches. Each round runs every match. In a match, all pools take their turns on a cell before the next cell.
// The order changes in each round, so that a slow phase of the machine affects all pools alike.
import { Contestant } from './contestant.js'

// A pool that failed a cell twice skips that cell, because a pool that hangs costs minutes in each round.
const mostFailures = 2

/** `samples[cellId][poolName][take]` has the figures of a turn, or null. `failures` gives the reason for each null. */
export async function play({ matches, rounds, onTurn }) {
  const samples = {}
  const failures = []
  for (const match of matches) {
    for (const { id } of match.cells) {
      const createTakes = name => [name, Array(rounds * match.takes).fill(null)]
      samples[id] = Object.fromEntries(match.poolNames.map(createTakes))
    }
  }

  for (let round = 0; round < rounds; round += 1) {
    for (const match of matches) await playMatch(match, round)
  }
  return { samples, failures }

  function playMatch(match, round) {
    return match.isLasting ? playLasting(match, round) : playFresh(match, round)
  }

  async function playLasting(match, round) {
    const contestants = match.poolNames.map(name => new Contestant(name, match.launch))
    for (const contestant of contestants) await warmUp(match, contestant)
    for (const [cellIndex, cell] of rotate(match.cells, round).entries()) {
      for (const contestant of orderTurns(contestants, round, cellIndex)) {
        await takeTurn(match, cell, contestant, round)
      }
    }
    await Promise.all(contestants.map(contestant => contestant.stop()))
  }

  async function playFresh(match, round) {
    for (const [cellIndex, cell] of rotate(match.cells, round).entries()) {
      for (let take = 0; take < match.takes; take += 1) {
        for (const name of orderTurns(match.poolNames, round + take, cellIndex)) {
          const contestant = new Contestant(name, match.launch)
          await takeTurn(match, cell, contestant, round * match.takes + take)
          await contestant.stop()
        }
      }
    }
  }

  async function warmUp(match, contestant) {
    for (const cell of match.cells) {
      if (!isStillIn(cell.id, contestant.poolName)) continue
      const durationMs = match.warmUpMs / match.cells.length
      const settings = { ...cell.settings, warmUpMs: 0, durationMs }
      // A failure here happens again in the measured turn, which reports it.
      await contestant.takeTurn({ ...match, settings }).catch(() => {})
    }
  }

  async function takeTurn(match, cell, contestant, take) {
    const { poolName } = contestant
    if (!isStillIn(cell.id, poolName)) return
    onTurn({ take, cellId: cell.id, poolName })
    try {
      samples[cell.id][poolName][take] = await contestant.takeTurn({ ...match, settings: cell.settings })
    } catch (error) {
      const isUnavailable = error.isUnavailable === true
      failures.push({ take, cellId: cell.id, poolName, message: error.message, isUnavailable })
    }
  }

  function isStillIn(cellId, poolName) {
    const own = failures.filter(failure => failure.cellId === cellId && failure.poolName === poolName)
    return own.length < mostFailures && !own.some(failure => failure.isUnavailable)
  }
}

/** Each pool comes first as often as last. Every second round reverses the order, so that the neighbours change. */
function orderTurns(contestants, round, cellIndex) {
  const order = rotate(contestants, round + cellIndex)
  return round % 2 === 0 ? order : order.reverse()
}

function rotate(list, count) {
  const start = list.length === 0 ? 0 : count % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}
