// The arithmetic of the benchmark: medians, ratios within a round, and bars that are met or missed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countBars, judgeRow, ratiosWithinRounds, spread } from '../../bench/judge.js'

const row = { id: 'P0', bar: 'P0', title: 'a row', cellId: 'cell', figure: 'speed', unit: 'per second' }
const createSamples = speeds =>
  Object.fromEntries(
    Object.entries(speeds).map(([name, list]) => [
      name,
      list.map(speed => (speed === null ? null : { speed })),
    ]),
  )

function judge(bars, speeds, rest = {}) {
  const peerNames = Object.keys(speeds).filter(name => name.startsWith('peer'))
  return judgeRow({ ...row, bars }, createSamples(speeds), { subjectName: 'ours', peerNames, ...rest })
}

describe('spread()', () => {
  test('spread() returns median, minimum and maximum of an odd or even number of figures', () => {
    assert.deepEqual(spread([9, 1, 5]), { median: 5, min: 1, max: 9, count: 3 })
    assert.deepEqual(spread([10, 2, 4, 8]), { median: 6, min: 2, max: 10, count: 4 })
  })

  test('spread() orders figures as numbers, not as text', () => {
    assert.equal(spread([100, 9, 20]).median, 20)
  })

  test('spread() leaves out missing figures, and returns null when all are missing', () => {
    assert.equal(spread([null, 3, null]).count, 1)
    assert.equal(spread([null, null]), null)
  })

  test('spread() counts 0 as a figure', () => {
    assert.equal(spread([0, 0, 1]).median, 0)
  })
})

describe('ratios', () => {
  test('a ratio is the median of the ratios within rounds, not the ratio of the medians', () => {
    const judged = judge([], { ours: [10, 40, 90], peer: [10, 10, 30] })
    assert.deepEqual(judged.pools.peer.ratio, { median: 3, min: 1, max: 4, count: 3 })
    assert.equal(judged.pools.ours.median / judged.pools.peer.median, 4)
  })

  test('ratiosWithinRounds() skips rounds that one of the two pools did not finish', () => {
    assert.deepEqual(ratiosWithinRounds([10, null, 30], [5, 5, null]), [2])
  })

  test('ratiosWithinRounds() skips rounds with the divisor 0', () => {
    assert.deepEqual(ratiosWithinRounds([1, 2], [0, 1]), [2])
  })

  test('the judged pool has no ratio to itself', () => {
    assert.equal(judge([], { ours: [1] }).pools.ours.ratio, null)
  })
})

describe('bars', () => {
  const onlyBar = (bar, speeds, rest) => judge([bar], speeds, rest).bars[0]

  test("a bar with 'atLeast' is met at its limit and missed below it", () => {
    const bar = { against: 'peer', atLeast: 2 }
    assert.equal(onlyBar(bar, { ours: [20], peer: [10] }).isMet, true)
    assert.equal(onlyBar(bar, { ours: [19], peer: [10] }).isMet, false)
  })

  test("a bar with 'atMost' is met at its limit and missed above it", () => {
    const bar = { against: 'peer', atMost: 0.25 }
    assert.equal(onlyBar(bar, { ours: [1], peer: [4] }).isMet, true)
    assert.equal(onlyBar(bar, { ours: [1.1], peer: [4] }).isMet, false)
  })

  test('a bar without an opponent judges the figure itself', () => {
    const verdict = onlyBar({ against: null, atMost: 10 }, { ours: [9, 12, 8] })
    assert.equal(verdict.isMet, true)
    assert.equal(verdict.value.median, 9)
  })

  test('a bar against the best peer uses the peer that is hardest to beat', () => {
    const rates = { ours: [30], 'peer-a': [10], 'peer-b': [15], bare: [60] }
    const more = onlyBar({ against: 'best peer', atLeast: 2 }, rates)
    assert.equal(more.opponent, 'peer-b')
    assert.equal(more.isMet, true)
    const times = { ours: [3], 'peer-a': [10], 'peer-b': [4] }
    const less = onlyBar({ against: 'best peer', atMost: 0.5 }, times)
    assert.equal(less.opponent, 'peer-b')
    assert.equal(less.isMet, false)
  })

  test('a bar against the best peer is not measured while a peer is missing', () => {
    const verdict = onlyBar(
      { against: 'best peer', atLeast: 2 },
      { ours: [30], 'peer-a': [10], 'peer-b': [null] },
    )
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, 'peer-b: was not measured')
  })

  test('a bar of another pool compares that pool with the opponent', () => {
    const verdict = onlyBar(
      { subject: 'door', against: 'peer', atLeast: 2 },
      { ours: [1], door: [30], peer: [10] },
    )
    assert.equal(verdict.value.median, 3)
    assert.equal(verdict.isMet, true)
  })

  test('a bar on a difference subtracts within each round', () => {
    const bar = { against: 'peer', atMost: 0.15, isDifference: true }
    const verdict = onlyBar(bar, { ours: [0.5, 0.4], peer: [0.25, 0] })
    assert.deepEqual(verdict.value, { median: 0.325, min: 0.25, max: 0.4, count: 2 })
    assert.equal(verdict.isMet, false)
  })

  test('a bar is not measured when its row cannot run, and has that reason', () => {
    const verdict = onlyBar({ against: null, atLeast: 1 }, { ours: [5] }, { whyNot: '1 core' })
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, '1 core')
  })

  test('a bar is not measured when its opponent failed, and has the reason of the opponent', () => {
    const excuses = { peer: 'no answer within 10 ms' }
    const verdict = onlyBar({ against: 'peer', atLeast: 1 }, { ours: [5], peer: [null] }, { excuses })
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, 'peer: no answer within 10 ms')
  })

  test('a bar is not measured when the judged pool failed', () => {
    const verdict = onlyBar({ against: 'peer', atLeast: 1 }, { ours: [null], peer: [3] })
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, 'ours: was not measured')
  })
})

test('countBars() counts bars that are met, missed and not measured', () => {
  const bars = [
    { against: null, atLeast: 1 },
    { against: null, atLeast: 9 },
    { against: 'peer', atLeast: 1 },
  ]
  assert.deepEqual(countBars([judge(bars, { ours: [5] })]), { met: 1, missed: 1, notMeasured: 1 })
})
