// Contestants that misbehave. A crash, a hang or a wrong answer costs one turn and is reported with its reason. The other turns
// run. A contestant that failed a cell twice does not run it again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { play } from '../../bench/tournament.js'

// Long enough for a process to start on a busy machine. A turn that hangs takes all of it.
const limitMs = 4_000

function createMatch(ways, rest = {}) {
  return {
    trialName: '../../test/bench/misbehaving-trial',
    cells: ways.map(way => ({ id: way, settings: { way } })),
    poolNames: ['lido'],
    isLasting: false,
    takes: 1,
    launch: {},
    limitMs,
    warmUpMs: 0,
    ...rest,
  }
}

async function playMatch(match, rounds = 1) {
  const turns = []
  const played = await play({ matches: [match], rounds, onTurn: turn => turns.push(turn) })
  return { ...played, turns }
}

test('a contestant that crashes, hangs, blocks or throws is reported, and later turns run', async () => {
  const { samples, failures } = await playMatch(createMatch(['crash', 'hang', 'block', 'throw', 'well']))
  assert.deepEqual(
    failures.map(({ cellId, message }) => [cellId, message]),
    [
      ['crash', 'its process exited (3)'],
      ['hang', `no answer within ${limitMs} ms`],
      ['block', `no answer within ${limitMs} ms`],
      ['throw', 'expected 8, got 7'],
    ],
  )
  for (const { cellId } of failures) assert.deepEqual(samples[cellId].lido, [null])
  assert.deepEqual(samples.well.lido, [{ turnCount: 1 }])
})

test('a lasting contestant that crashed gets a new process for its next turn', async () => {
  const match = createMatch(['well', 'crash'], { isLasting: true })
  match.cells.push({ id: 'after', settings: { way: 'well' } })
  const { samples, failures } = await playMatch(match)
  assert.equal(failures.length, 1)
  assert.deepEqual(samples.after.lido, [{ turnCount: 1 }])
})

test('a contestant that failed a cell twice does not run the cell again', async () => {
  const { failures, turns } = await playMatch(createMatch(['crash']), 4)
  assert.equal(failures.length, 2)
  assert.equal(turns.length, 2)
})

test('an unavailable contestant runs once in three rounds and is reported as unavailable', async () => {
  const { failures } = await playMatch(createMatch(['unavailable']), 3)
  assert.deepEqual(failures, [
    { take: 0, cellId: 'unavailable', poolName: 'lido', message: 'no such option', isUnavailable: true },
  ])
})

test('the order of turns changes from round to round', async () => {
  const poolNames = ['lido', 'piscina', 'tinypool']
  const { turns } = await playMatch(createMatch(['well'], { poolNames }), 2)
  const order = take => turns.filter(turn => turn.take === take).map(turn => turn.poolName)
  assert.deepEqual(order(0).toSorted(), poolNames)
  assert.notDeepEqual(order(0), order(1))
})
