// How many cores this process may use, with the files of control groups played by hand.
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import { shareOfCores, usableCores } from './sizing.js'

function cores(system: number, files: Record<string, string> = {}): number {
  return usableCores({ availableParallelism: () => system, readText: path => files[path] })
}

const v2 = (text: string) => ({ '/sys/fs/cgroup/cpu.max': text })
const v1 = (quota: string, period: string) => ({
  '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': quota,
  '/sys/fs/cgroup/cpu/cpu.cfs_period_us': period,
})

describe('usable cores', () => {
  const cases: [string, number, Record<string, string>, number][] = [
    ['without control groups, what the system offers', 8, {}, 8],
    ['v2: a quota of two cores', 8, v2('200000 100000\n'), 2],
    ['v2: a part of a core counts as one', 8, v2('150000 100000\n'), 2],
    ['v2: never less than one', 8, v2('1000 100000\n'), 1],
    ['v2: a quota above the system changes nothing', 4, v2('1600000 100000\n'), 4],
    ['v2: max is no limit', 8, v2('max 100000\n'), 8],
    ['v2: another period', 8, v2('60000 20000\n'), 3],
    ['v2: an empty file is no limit', 8, v2(''), 8],
    ['v2: nonsense is no limit', 8, v2('a lot\n'), 8],
    ['v2: a period of zero is no limit', 8, v2('100000 0\n'), 8],
    ['v1: a quota of three cores', 8, v1('300000\n', '100000\n'), 3],
    ['v1: -1 is no limit', 8, v1('-1\n', '100000\n'), 8],
    ['v1: a part of a core counts as one', 8, v1('50000\n', '100000\n'), 1],
    [
      'v1: a quota without its period is no limit',
      8,
      { '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '100000\n' },
      8,
    ],
    ['where both speak, v2 is right', 8, { ...v1('100000', '100000'), ...v2('400000 100000') }, 4],
  ]
  for (const [title, system, files, expected] of cases) {
    test(title, () => assert.equal(cores(system, files), expected))
  }

  test('here, at least one and no more than the system offers', () => {
    const here = usableCores()
    assert.ok(Number.isInteger(here) && here >= 1 && here <= availableParallelism(), String(here))
  })
})

describe('the share of one of several processes', () => {
  for (const [all, processes, share] of [
    [8, 1, 8],
    [8, 2, 4],
    [8, 3, 2],
    [2, 4, 1],
  ] as const) {
    test(`of ${all} cores for ${processes} is ${share}`, () =>
      assert.equal(shareOfCores(all, processes), share))
  }
})
