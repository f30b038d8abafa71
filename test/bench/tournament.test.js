// Keeps what the benchmark promises of contestants that misbehave: a crash, a hang or a wrong answer costs that turn and
// names its reason, the others play on, and who has failed a cell twice plays it no more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { play } from '../../bench/tournament.js'

// Long enough for a process to start on a busy machine; what hangs waits for all of it.
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

test('a contestant that crashes, hangs, blocks or errs is named, and the others play on', async () => {
  const { samples, failures } = await playMatch(createMatch(['crash', 'hang', 'block', 'throw', 'well']))
  assert.deepEqual(
    failures.map(({ cellId, message }) => [cellId, message]),
    [
      ['crash', 'its process ended (3)'],
      ['hang', `no answer within ${limitMs} ms`],
      ['block', `no answer within ${limitMs} ms`],
      ['throw', 'expected 8, got 7'],
    ],
  )
  for (const { cellId } of failures) assert.deepEqual(samples[cellId].lido, [null])
  assert.deepEqual(samples.well.lido, [{ turnCount: 1 }])
})

test('a lasting contestant that died gets a new process for its next turn', async () => {
  const match = createMatch(['well', 'crash'], { isLasting: true })
  match.cells.push({ id: 'after', settings: { way: 'well' } })
  const { samples, failures } = await playMatch(match)
  assert.equal(failures.length, 1)
  assert.deepEqual(samples.after.lido, [{ turnCount: 1 }])
})

test('a contestant that failed a cell twice plays the cell no more', async () => {
  const { failures, turns } = await playMatch(createMatch(['crash']), 4)
  assert.equal(failures.length, 2)
  assert.equal(turns.length, 2)
})

test('a contestant that cannot play is asked once, and that is no failure of its pool', async () => {
  const { failures } = await playMatch(createMatch(['unavailable']), 3)
  assert.deepEqual(failures, [
    { take: 0, cellId: 'unavailable', poolName: 'lido', message: 'no such option', isUnavailable: true },
  ])
})

test('turns change their order from round to round', async () => {
  const poolNames = ['lido', 'piscina', 'tinypool']
  const { turns } = await playMatch(createMatch(['well'], { poolNames }), 2)
  const order = take => turns.filter(turn => turn.take === take).map(turn => turn.poolName)
  assert.deepEqual(order(0).toSorted(), poolNames)
  assert.notDeepEqual(order(0), order(1))
})
