// The number of usable cores. Each test provides the texts of the control group files.
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

describe('usableCores()', () => {
  const cases: [string, number, Record<string, string>, number][] = [
    ['the number is that of the system without control groups', 8, {}, 8],
    ['a v2 quota of two cores gives 2', 8, v2('200000 100000\n'), 2],
    ['a v2 quota of 1.5 cores is rounded up to 2', 8, v2('150000 100000\n'), 2],
    ['a v2 quota of 0.01 cores gives 1', 8, v2('1000 100000\n'), 1],
    ['a v2 quota above the cores of the system changes nothing', 4, v2('1600000 100000\n'), 4],
    ["the v2 quota 'max' is no limit", 8, v2('max 100000\n'), 8],
    ['a v2 quota is divided by its period', 8, v2('60000 20000\n'), 3],
    ['an empty v2 file is no limit', 8, v2(''), 8],
    ['a v2 file without a number is no limit', 8, v2('a lot\n'), 8],
    ['a v2 period of 0 is no limit', 8, v2('100000 0\n'), 8],
    ['a v1 quota of three cores gives 3', 8, v1('300000\n', '100000\n'), 3],
    ['a v1 quota of -1 is no limit', 8, v1('-1\n', '100000\n'), 8],
    ['a v1 quota of half a core is rounded up to 1', 8, v1('50000\n', '100000\n'), 1],
    [
      'a v1 quota without its period is no limit',
      8,
      { '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '100000\n' },
      8,
    ],
    ['a v2 quota wins over a v1 quota', 8, { ...v1('100000', '100000'), ...v2('400000 100000') }, 4],
  ]
  for (const [title, system, files, expected] of cases) {
    test(title, () => assert.equal(cores(system, files), expected))
  }

  test('the number on this machine is from 1 to the cores of the system', () => {
    const here = usableCores()
    assert.ok(Number.isInteger(here) && here >= 1 && here <= availableParallelism(), String(here))
  })
})

describe('shareOfCores()', () => {
  for (const [all, processes, share] of [
    [8, 1, 8],
    [8, 2, 4],
    [8, 3, 2],
    [2, 4, 1],
  ] as const) {
    test(`the share of ${all} cores for each of ${processes} processes is ${share}`, () =>
      assert.equal(shareOfCores(all, processes), share))
  }
})
