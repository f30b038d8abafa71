// Who plays when: in a round every pool has a fresh process, and each cell is played by all pools one after another.
// The order changes from round to round, so that a drift of the machine, and the neighbour before, hits all alike.
import { Contestant } from './contestant.js'

/** `samples[cellId][poolName][round]` is what a turn took, or null where the pool failed. */
export async function play({ poolNames, cells, rounds, onTurn, ...times }) {
  const samples = createSamples(cells, poolNames, rounds)
  const versions = {}
  const failures = []

  async function playRound(round) {
    const contestants = await enter(round)
    for (const [cellIndex, cell] of rotate(cells, round).entries()) {
      for (const contestant of orderTurns(contestants, round, cellIndex)) {
        onTurn({ round, cell, poolName: contestant.poolName })
        await takeTurn(contestant, cell, round)
      }
    }
    await Promise.all(contestants.map(contestant => contestant.stop()))
  }

  /** Starts and warms up everyone, one by one; who does not get up is out for the round. */
  async function enter(round) {
    const contestants = []
    for (const poolName of poolNames) {
      const contestant = new Contestant(poolName)
      try {
        versions[poolName] = await contestant.start()
        await contestant.warmUp(cells, times.processWarmUpMs)
        contestants.push(contestant)
      } catch (error) {
        failures.push({ round, cellId: 'start', poolName, message: error.message })
      }
    }
    return contestants
  }

  async function takeTurn(contestant, cell, round) {
    const { poolName } = contestant
    try {
      samples[cell.id][poolName][round] = await contestant.takeTurn({ cell, ...times })
    } catch (error) {
      failures.push({ round, cellId: cell.id, poolName, message: error.message })
    }
  }

  for (let round = 0; round < rounds; round += 1) await playRound(round)
  return { samples, versions, failures }
}

function createSamples(cells, poolNames, rounds) {
  const createRow = () => Object.fromEntries(poolNames.map(name => [name, Array(rounds).fill(null)]))
  return Object.fromEntries(cells.map(cell => [cell.id, createRow()]))
}

/** Everyone is first as often as last, and every second round runs backwards: nobody has always the same neighbour. */
function orderTurns(contestants, round, cellIndex) {
  const order = rotate(contestants, round + cellIndex)
  return round % 2 === 0 ? order : order.reverse()
}

function rotate(list, count) {
  const start = list.length === 0 ? 0 : count % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}
