import assert from 'node:assert/strict'
import { createHistogram } from 'node:perf_hooks'
import { test } from 'node:test'
import { seededRandom } from '../../testing/stand-ins.js'
import { DurationHistogram } from './histogram.js'

test('an empty histogram has count 0, mean NaN and percentile 0', () => {
  const empty = new DurationHistogram()
  assert.deepEqual([empty.count, empty.min, empty.max], [0, Number.POSITIVE_INFINITY, 0])
  assert.ok(Number.isNaN(empty.mean) && Number.isNaN(empty.stddev))
  assert.equal(empty.percentile(50), 0)
})

test('percentiles agree with the histogram of Node within half a percent', () => {
  const random = seededRandom(7)
  const ours = new DurationHistogram()
  const theirs = createHistogram()
  for (let record = 0; record < 20_000; record++) {
    const micros = 1 + random(2 ** (1 + random(31)))
    ours.record(micros / 1000)
    theirs.record(micros)
  }
  assert.equal(ours.count, theirs.count)
  assert.equal(ours.min, theirs.min / 1000)
  const isNear = (one: number, other: number) => Math.abs(one / other - 1) < 0.005
  assert.ok(isNear(ours.max, theirs.max / 1000) && isNear(ours.mean, theirs.mean / 1000))
  assert.ok(isNear(ours.stddev, theirs.stddev / 1000))
  for (const percent of [0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 100]) {
    const expected = theirs.percentile(percent) / 1000
    assert.ok(
      isNear(ours.percentile(percent), expected),
      `p${percent}: ${ours.percentile(percent)}, ${expected}`,
    )
  }
})

test('values below 1 µs, below 0 or above the range are counted as the nearest valid value', () => {
  const histogram = new DurationHistogram()
  for (const ms of [0, -5, 0.0001, 1e300, 2 ** 33]) histogram.record(ms)
  assert.equal(histogram.count, 5)
  assert.equal(histogram.min, 0.001)
  assert.equal(histogram.percentile(100), histogram.max)
  assert.equal(histogram.max, (2 ** 43 - 1) / 1000)
})

test('percentiles of durations above 71 minutes are exact to 0.4 %, and stay between min and max', () => {
  const histogram = new DurationHistogram()
  const minutes = [30, 71, 72, 100, 143, 144, 10_000]
  for (const each of minutes) histogram.record(each * 60_000)
  for (const [index, each] of minutes.entries()) {
    const found = histogram.percentile(((index + 0.5) / minutes.length) * 100) / 60_000
    assert.ok(Math.abs(found / each - 1) < 0.004, `${each}: ${found}`)
  }
  const narrow = new DurationHistogram()
  for (const ms of [1.025, 1.025, 1.03, 1.03]) narrow.record(ms)
  assert.ok(narrow.percentile(25) >= narrow.min && narrow.percentile(75) <= narrow.max)
  for (const ms of [1.024, 1.031]) {
    narrow.reset()
    for (let record = 0; record < 3; record++) narrow.record(ms)
    assert.equal(narrow.percentile(50), ms)
  }
})

test('reset() empties the histogram', () => {
  const histogram = new DurationHistogram()
  for (const ms of [2, 2, 3]) histogram.record(ms)
  histogram.reset()
  assert.deepEqual([histogram.count, histogram.percentile(50)], [0, 0])
  for (const ms of [1, 4, 4]) histogram.record(ms)
  assert.deepEqual([histogram.count, histogram.min, histogram.max, histogram.mean], [3, 1, 4, 3])
  assert.ok(Math.abs(histogram.stddev - Math.SQRT2) < 0.001 && histogram.percentile(50) > 3.9)
  histogram.reset()
  histogram.record(2)
  assert.deepEqual([histogram.min, histogram.stddev], [2, 0])
})

test('countsUpTo() counts the durations up to each bound, also beyond the first size of the array', () => {
  const histogram = new DurationHistogram()
  for (const ms of [0.01, 1, 5, 90, 70_000]) histogram.record(ms)
  assert.deepEqual(histogram.countsUpTo([0.005, 0.1, 2, 10, 100, 60_000, 1e9]), [0, 1, 2, 3, 4, 4, 5])
  assert.ok(Math.abs(histogram.sumMs - 70_096.01) < 0.01)
})

test('add() gives the same figures as one histogram of all durations', () => {
  const [all, one, other] = [new DurationHistogram(), new DurationHistogram(), new DurationHistogram()]
  for (let ms = 0.05; ms < 5000; ms *= 1.7) {
    for (const histogram of [all, ms < 20 ? one : other]) histogram.record(ms)
  }
  one.add(other)
  one.add(new DurationHistogram())
  assert.deepEqual([one.count, one.min, one.max], [all.count, all.min, all.max])
  assert.ok(Math.abs(one.mean - all.mean) < 1e-6 && Math.abs(one.stddev - all.stddev) < 1e-6)
  for (const percent of [1, 50, 90, 99]) assert.equal(one.percentile(percent), all.percentile(percent))
})
