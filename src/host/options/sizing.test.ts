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

function procOf(cgroup: string, ...mounts: string[]): Record<string, string> {
  const others = ['22 1 0:21 / / rw - ext4 /dev/sda1 rw', '24 22 0:22 / /proc rw - proc proc rw']
  return { '/proc/self/cgroup': cgroup, '/proc/self/mountinfo': [...others, ...mounts, ''].join('\n') }
}

const unified = '30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate'
const split = '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct'
const cpuset = '33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset'
const hybrid = '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw'
const slice = '/sys/fs/cgroup/system.slice'

interface Place {
  proc: Record<string, string>
  quotas: Record<string, [quota: string | number, period: number]>
}

const nested: [title: string, place: Place, expected: number][] = [
  [
    'the v2 quota of a systemd unit counts',
    {
      proc: procOf('0::/system.slice/app.service\n', unified),
      quotas: { [`${slice}/app.service`]: [200, 100], [slice]: ['max', 100] },
    },
    2,
  ],
  [
    'the lower v2 quota of a parent group counts',
    {
      proc: procOf('0::/system.slice/app.service\n', unified),
      quotas: { [`${slice}/app.service`]: [600, 100], [slice]: [300, 100] },
    },
    3,
  ],
  [
    'a v2 quota of another group does not count',
    {
      proc: procOf('0::/system.slice/app.service\n', unified),
      quotas: { [`${slice}/other.service`]: [100, 100] },
    },
    8,
  ],
  [
    'the v1 quota of a nested group counts',
    {
      proc: procOf('4:memory:/m\n3:cpu,cpuacct:/a/b\n2:cpuset:/c\n0::/\n', split, cpuset),
      quotas: { '/sys/fs/cgroup/cpu,cpuacct/a/b': [400, 100], '/sys/fs/cgroup/cpu,cpuacct/a': [250, 100] },
    },
    3,
  ],
  [
    'a v1 quota counts beside a v2 group without the cpu controller',
    {
      proc: procOf('3:cpu,cpuacct:/a\n0::/a\n', split, hybrid),
      quotas: { '/sys/fs/cgroup/cpu,cpuacct/a': [200, 100] },
    },
    2,
  ],
  [
    'the quota of a container counts that sees the groups of the host (--cgroupns=host, v2)',
    { proc: procOf('0::/docker/a:b\n', unified), quotas: { '/sys/fs/cgroup/docker/a:b': [100, 100] } },
    1,
  ],
  [
    'the quota of a container counts whose mount shows only its own group (--cgroupns=host, v1)',
    {
      proc: procOf(
        '3:cpu:/docker/ab\n',
        '32 31 0:29 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
      ),
      quotas: { '/sys/fs/cgroup/cpu': [200, 100] },
    },
    2,
  ],
  [
    'the quota of the nested group counts in a container with a mount of its own',
    {
      proc: procOf(
        '3:cpu:/docker/ab/in\n',
        '32 31 0:29 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
      ),
      quotas: { '/sys/fs/cgroup/cpu/in': [200, 100], '/sys/fs/cgroup/cpu': [300, 100] },
    },
    2,
  ],
  [
    'the quota of a container with its own namespace counts',
    { proc: procOf('0::/\n', unified), quotas: { '/sys/fs/cgroup': [200, 100] } },
    2,
  ],
  [
    'a group outside the namespace leaves the mounted group',
    { proc: procOf('0::/../other\n', unified), quotas: { '/sys/fs/cgroup': [300, 100] } },
    3,
  ],
  [
    'a later mount hides an earlier mount at the same place',
    {
      proc: procOf('3:cpu,cpuacct:/a\n', split, split.replace('0:29 / ', '0:29 /a ')),
      quotas: { '/sys/fs/cgroup/cpu,cpuacct': [200, 100] },
    },
    2,
  ],
  [
    'a mount in a folder with a space is found',
    {
      proc: procOf('0::/a b\n', unified.replace('/sys/fs/cgroup', '/my\\040groups')),
      quotas: { '/my groups/a b': [200, 100] },
    },
    2,
  ],
]

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
    ['the lower of a v1 and a v2 quota counts', 8, { ...v1('300000', '100000'), ...v2('400000 100000') }, 3],
  ]
  for (const [title, system, files, expected] of cases) {
    test(title, () => assert.equal(cores(system, files), expected))
  }

  for (const [title, { proc, quotas }, expected] of nested) {
    const files: Record<string, string> = { ...proc }
    for (const [folder, [quota, period]] of Object.entries(quotas)) {
      files[`${folder}/cpu.max`] = `${quota} ${period}\n`
      files[`${folder}/cpu.cfs_quota_us`] = `${quota}\n`
      files[`${folder}/cpu.cfs_period_us`] = `${period}\n`
    }
    test(title, () => assert.equal(cores(8, files), expected))
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
