// What each worker is started with, as `worker_threads` takes it.

import { SHARE_ENV } from '../../shared/platform/host-node-modules.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { BackendKind } from '../backend/backend-kind.js'
import { inheritedFlags } from '../backend/process-surroundings.js'
import { boolean, plainObject, refuse, refuseUnknown, stringArray } from './option-checks.js'
import type { PoolOptions } from './options.js'

/** Below these Node ends the whole process, not the worker. */
const LEAST_STACK_MB = 1
const LEAST_OLD_GENERATION_MB = 4
/** So it does where much more is to be reserved, as with Infinity; less than this may fail a start. */
const MOST_RESERVED_MB = 2 ** 20

export function resolveWorkerOptions(options: PoolOptions, backend: BackendKind): Record<string, unknown> {
  if (backend === 'process') refuseForProcesses(options)
  const resolved: Record<string, unknown> = Object.assign(Object.create(null), { eval: false, name: 'lido' })
  if (options.env !== undefined && options.env !== SHARE_ENV) resolved.env = plainObject('env', options.env)
  else if (options.env !== undefined) resolved.env = SHARE_ENV
  if (options.argv !== undefined) {
    resolved.argv = Array.isArray(options.argv) ? options.argv : refuse('argv', options.argv, 'an array')
  }
  const execArgv =
    options.execArgv !== undefined
      ? stringArray('execArgv', options.execArgv)
      : backend === 'process'
        ? inheritedFlags(process.execArgv)
        : flagsOfThreads()
  if (execArgv !== undefined) resolved.execArgv = execArgv
  if (options.workerData !== undefined) resolved.workerData = options.workerData
  if (options.resourceLimits !== undefined) resolved.resourceLimits = resolveLimits(options.resourceLimits)
  if (options.trackUnmanagedFds !== undefined) {
    resolved.trackUnmanagedFds = boolean('trackUnmanagedFds', options.trackUnmanagedFds)
  }
  return resolved
}

/** Workers inherit the process's flags; the one that speaks of `--eval`'s text would keep them from starting a file. */
function flagsOfThreads(): string[] | undefined {
  const speaksOfText = (flag: string) => flag.startsWith('--input-type')
  return process.execArgv.some(speaksOfText)
    ? process.execArgv.filter(flag => !speaksOfText(flag))
    : undefined
}

/** What a thread can have and a process cannot: said before one is started without it. */
function refuseForProcesses({ env, resourceLimits }: PoolOptions): void {
  if (getBuiltinModule('node:sea').isSea()) {
    refuse('backend', 'process', "'thread' or 'inline' in a single executable: a process would run it anew")
  }
  if (env === SHARE_ENV) {
    refuse('env', 'SHARE_ENV', "an object with backend 'process': a process has an environment of its own")
  }
  const limits: Record<string, unknown> = Object.assign(Object.create(null), resourceLimits)
  for (const limit of ['stackSizeMb', 'codeRangeSizeMb']) {
    const value = limits[limit]
    if (value === undefined) continue
    refuse(
      `resourceLimits.${limit}`,
      value,
      "left out with backend 'process': only the heap of a process is limited",
    )
  }
}

function resolveLimits(given: unknown): Record<string, unknown> {
  const limits: Record<string, unknown> = Object.assign(
    Object.create(null),
    plainObject('resourceLimits', given),
  )
  const ranges: Record<string, [least: number, most: number]> = {
    stackSizeMb: [LEAST_STACK_MB, MOST_RESERVED_MB],
    maxOldGenerationSizeMb: [LEAST_OLD_GENERATION_MB, Number.POSITIVE_INFINITY],
    maxYoungGenerationSizeMb: [0, Number.POSITIVE_INFINITY],
    codeRangeSizeMb: [0, MOST_RESERVED_MB],
  }
  refuseUnknown('resourceLimits', limits, Object.keys(ranges))
  for (const [limit, [least, most]] of Object.entries(ranges)) {
    const value = limits[limit]
    if (value === undefined || (typeof value === 'number' && value >= least && value <= most)) continue
    refuse(
      `resourceLimits.${limit}`,
      value,
      `a number from ${least} to ${most}, or Node would end the process`,
    )
  }
  return limits
}
