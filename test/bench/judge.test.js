// Holds the benchmark's arithmetic to given numbers: medians, ratios within a round, bars met or not.
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

describe('a spread', () => {
  test('is the median with the least and the most, of an odd and of an even number', () => {
    assert.deepEqual(spread([9, 1, 5]), { median: 5, min: 1, max: 9, count: 3 })
    assert.deepEqual(spread([10, 2, 4, 8]), { median: 6, min: 2, max: 10, count: 4 })
  })

  test('orders numbers as numbers', () => {
    assert.equal(spread([100, 9, 20]).median, 20)
  })

  test('leaves out what is missing, and is null where nothing is left', () => {
    assert.equal(spread([null, 3, null]).count, 1)
    assert.equal(spread([null, null]), null)
  })

  test('takes a zero for a figure', () => {
    assert.equal(spread([0, 0, 1]).median, 0)
  })
})

describe('a ratio', () => {
  test('is taken within a round, and its median is not that of the medians', () => {
    const judged = judge([], { ours: [10, 40, 90], peer: [10, 10, 30] })
    assert.deepEqual(judged.pools.peer.ratio, { median: 3, min: 1, max: 4, count: 3 })
    assert.equal(judged.pools.ours.median / judged.pools.peer.median, 4)
  })

  test('skips rounds that one of both did not finish', () => {
    assert.deepEqual(ratiosWithinRounds([10, null, 30], [5, 5, null]), [2])
  })

  test('to a zero is no ratio', () => {
    assert.deepEqual(ratiosWithinRounds([1, 2], [0, 1]), [2])
  })

  test('is not given for ourselves', () => {
    assert.equal(judge([], { ours: [1] }).pools.ours.ratio, null)
  })
})

describe('a bar', () => {
  const onlyBar = (bar, speeds, rest) => judge([bar], speeds, rest).bars[0]

  test('of at least is met at its limit and missed below it', () => {
    const bar = { against: 'peer', atLeast: 2 }
    assert.equal(onlyBar(bar, { ours: [20], peer: [10] }).isMet, true)
    assert.equal(onlyBar(bar, { ours: [19], peer: [10] }).isMet, false)
  })

  test('of at most is met at its limit and missed above it', () => {
    const bar = { against: 'peer', atMost: 0.25 }
    assert.equal(onlyBar(bar, { ours: [1], peer: [4] }).isMet, true)
    assert.equal(onlyBar(bar, { ours: [1.1], peer: [4] }).isMet, false)
  })

  test('against nobody judges the figure itself', () => {
    const verdict = onlyBar({ against: null, atMost: 10 }, { ours: [9, 12, 8] })
    assert.equal(verdict.isMet, true)
    assert.equal(verdict.value.median, 9)
  })

  test('against the best peer is held against the one that is hardest for us', () => {
    const rates = { ours: [30], 'peer-a': [10], 'peer-b': [15], bare: [60] }
    const more = onlyBar({ against: 'best peer', atLeast: 2 }, rates)
    assert.equal(more.opponent, 'peer-b')
    assert.equal(more.isMet, true)
    const times = { ours: [3], 'peer-a': [10], 'peer-b': [4] }
    const less = onlyBar({ against: 'best peer', atMost: 0.5 }, times)
    assert.equal(less.opponent, 'peer-b')
    assert.equal(less.isMet, false)
  })

  test('against the best peer is not measured while a peer is missing, which might be the best', () => {
    const verdict = onlyBar(
      { against: 'best peer', atLeast: 2 },
      { ours: [30], 'peer-a': [10], 'peer-b': [null] },
    )
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, 'peer-b: did not play')
  })

  test('is not measured where the row cannot be played, with the reason', () => {
    const verdict = onlyBar({ against: null, atLeast: 1 }, { ours: [5] }, { whyNot: '1 core' })
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, '1 core')
  })

  test('is not measured where the opponent failed, with its excuse', () => {
    const excuses = { peer: 'no answer within 10 ms' }
    const verdict = onlyBar({ against: 'peer', atLeast: 1 }, { ours: [5], peer: [null] }, { excuses })
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, 'peer: no answer within 10 ms')
  })

  test('is not measured where we failed ourselves, however well the others did', () => {
    const verdict = onlyBar({ against: 'peer', atLeast: 1 }, { ours: [null], peer: [3] })
    assert.equal(verdict.isMet, null)
    assert.equal(verdict.reason, 'ours: did not play')
  })
})

test('bars are counted as met, missed and not measured', () => {
  const bars = [
    { against: null, atLeast: 1 },
    { against: null, atLeast: 9 },
    { against: 'peer', atLeast: 1 },
  ]
  assert.deepEqual(countBars([judge(bars, { ours: [5] })]), { met: 1, missed: 1, notMeasured: 1 })
})
