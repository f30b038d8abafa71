// Finds out how many cores this process may use: the cores of the system, limited by the CPU quota of the container.

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
 * The CPU quota of the container in cores; `undefined` without a quota. Reads control groups, version 2 first, then 1.
 */
function cpuQuota({ readText }: SizingSources): number | undefined {
  const limits = readText('/sys/fs/cgroup/cpu.max')?.trim().split(' ')
  if (limits !== undefined) return quotient(limits[0], limits[1])
  return quotient(
    readText('/sys/fs/cgroup/cpu/cpu.cfs_quota_us')?.trim(),
    readText('/sys/fs/cgroup/cpu/cpu.cfs_period_us')?.trim(),
  )
}

function quotient(
  quotaMicroseconds: string | undefined,
  periodMicroseconds: string | undefined,
): number | undefined {
  const cores = Number(quotaMicroseconds) / Number(periodMicroseconds)
  return Number.isFinite(cores) && cores > 0 ? cores : undefined
}
