// Finds out how many cores this process may use: the cores of the system, limited by the CPU quota of its control
// groups.

import { availableParallelism } from '../../shared/platform/host-node-modules.js'
import { readFileSync } from '../../shared/platform/node-modules.js'

export interface SizingSources {
  availableParallelism(): number
  /** The text of a file; `undefined` if it cannot be read. */
  readText(path: string): string | undefined
}

const systemSources: SizingSources = {
  availableParallelism,
  readText(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  },
}

export function usableCores(sources: SizingSources = systemSources): number {
  const cores = sources.availableParallelism()
  const quota = cpuQuota(sources)
  return quota === undefined ? cores : Math.max(1, Math.min(cores, Math.ceil(quota)))
}

/** The share of one process if several processes of a program share the cores, as with `node:cluster`. At least 1. */
export function shareOfCores(cores: number, processes: number): number {
  return Math.max(1, Math.floor(cores / processes))
}

/**
 * The lowest CPU quota in cores of the control groups that this process is in; `undefined` without a quota. A group has
 * a quota of its own and those of its parents. A systemd unit has its own group, and so has a container.
 */
function cpuQuota({ readText }: SizingSources): number | undefined {
  const quotas: number[] = []
  const note = (quota: number | undefined) => quota !== undefined && quotas.push(quota)
  const { version2, version1 } = cpuGroups(readText)
  for (const folder of version2) {
    const [quota, period] = readText(`${folder}/cpu.max`)?.trim().split(' ') ?? []
    note(quotient(quota, period))
  }
  for (const folder of version1) {
    const quota = readText(`${folder}/cpu.cfs_quota_us`)?.trim()
    if (quota !== undefined && quota !== '-1')
      note(quotient(quota, readText(`${folder}/cpu.cfs_period_us`)?.trim()))
  }
  return quotas.length === 0 ? undefined : Math.min(...quotas)
}

interface Groups {
  version2: string[]
  version1: string[]
}

/** The folders of the own group and of its parents, in each version of control groups. */
function cpuGroups(readText: SizingSources['readText']): Groups {
  const groups: Groups = { version2: ['/sys/fs/cgroup'], version1: ['/sys/fs/cgroup/cpu'] }
  const paths = readText('/proc/self/cgroup')
  const mounts = readText('/proc/self/mountinfo')
  if (paths === undefined || mounts === undefined) return groups
  for (const line of mounts.split('\n')) {
    // As `32 31 0:29 /root /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`. The kernel writes a space in a path as `\040`.
    const [place, system] = line.split(' - cgroup')
    if (system === undefined) continue
    const isVersion2 = system.startsWith('2 ')
    const controllers = isVersion2 ? '' : 'cpu'
    if (!isVersion2 && !system.split(/[ ,]/).includes('cpu')) continue
    const [root, folder] = place!.split(' ').slice(3, 5).map(unescapePath)
    // A later mount hides an earlier one.
    groups[isVersion2 ? 'version2' : 'version1'] = foldersFrom(folder!, root!, pathIn(paths, controllers))
  }
  return groups
}

/** The path of the own group in `/proc/self/cgroup`, which has lines as `3:cpu,cpuacct:/system.slice` and `0::/`. */
function pathIn(paths: string, controller: string): string {
  for (const line of paths.split('\n')) {
    const [, controllers = '', ...rest] = line.split(':')
    if (rest.length > 0 && controllers.split(',').includes(controller)) return rest.join(':')
  }
  return '/'
}

/**
 * @param folder where the control groups are mounted
 * @param root the group that the folder shows. A container often shows its own group.
 */
function foldersFrom(folder: string, root: string, path: string): string[] {
  const start = root === '/' ? '' : root
  // Outside the mounted groups, as with a path `/../other`: then the folder shows what there is.
  const isInside = (path === root || path.startsWith(`${start}/`)) && !path.split('/').includes('..')
  const names = isInside ? path.slice(start.length).split('/').filter(Boolean) : []
  return [folder, ...names.map((_, index) => [folder, ...names.slice(0, index + 1)].join('/'))]
}

function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
}

function quotient(
  quotaMicroseconds: string | undefined,
  periodMicroseconds: string | undefined,
): number | undefined {
  const cores = Number(quotaMicroseconds) / Number(periodMicroseconds)
  return Number.isFinite(cores) && cores > 0 ? cores : undefined
}
