// Piscina's options: checked in its order with its texts, filled with its defaults, and said in the front door's terms.
import { createRequire, isBuiltin } from 'node:module'
import { availableParallelism } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WorkerOptions } from 'node:worker_threads'
import type { PoolOptions } from '../../index.js'
import type { PiscinaLoadBalancer } from './load-balancer.js'
import { isTaskQueue, type TaskQueue } from './task-queue.js'

export interface PiscinaOptions {
  filename?: string | null
  name?: string
  minThreads?: number
  maxThreads?: number
  idleTimeout?: number
  maxQueue?: number | 'auto'
  concurrentTasksPerWorker?: number
  /** `'disabled'`: tasks travel by messages alone. The others are one: workers of lido never block their event loop. */
  atomics?: 'sync' | 'async' | 'disabled'
  /** The name of `atomics` before Piscina 5. */
  useAtomics?: boolean
  resourceLimits?: WorkerOptions['resourceLimits']
  argv?: WorkerOptions['argv']
  execArgv?: string[]
  env?: WorkerOptions['env']
  workerData?: any
  taskQueue?: TaskQueue
  niceIncrement?: number
  trackUnmanagedFds?: boolean
  closeTimeout?: number
  recordTiming?: boolean
  loadBalancer?: PiscinaLoadBalancer
  workerHistogram?: boolean
  stricterFIFO?: boolean
}

export interface FilledOptions extends PiscinaOptions {
  filename: string | null
  name: string
  taskQueue: TaskQueue
  stricterFIFO: boolean
  workerHistogram: boolean
  atomics: 'sync' | 'async' | 'disabled'
  minThreads: number
  maxThreads: number
  idleTimeout: number
  maxQueue: number
  concurrentTasksPerWorker: number
  niceIncrement: number
  closeTimeout: number
  recordTiming: boolean
}

/** Piscina's own default is 0, with which a pool starts new threads for every burst. */
const IDLE_TIMEOUT_MS = 30_000
const CLOSE_TIMEOUT_MS = 30_000
const MOST_THREADS = 4096
const MOST_SLOTS = 65_536
const MOST_NICENESS = 100
const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb']

type Check = (value: any) => boolean

const isMissing: Check = value => value === null || value === undefined
const isBooleanOrAbsent: Check = value => value === undefined || typeof value === 'boolean'

function isNumberFrom(least: number): Check {
  return value => value === undefined || (typeof value === 'number' && !(value < least))
}

const checks: [keyof PiscinaOptions, Check, string][] = [
  ['filename', value => isMissing(value) || typeof value === 'string', 'must be a string or null'],
  ['name', value => isMissing(value) || typeof value === 'string', 'must be a string or null'],
  ['minThreads', isNumberFrom(0), 'must be a non-negative integer'],
  ['maxThreads', isNumberFrom(1), 'must be a positive integer'],
]

const laterChecks: [keyof PiscinaOptions, Check, string][] = [
  ['idleTimeout', isNumberFrom(0), 'must be a non-negative integer'],
  ['maxQueue', value => value === 'auto' || isNumberFrom(0)(value), 'must be a non-negative integer'],
  ['concurrentTasksPerWorker', isNumberFrom(1), 'must be a positive integer'],
  [
    'atomics',
    value => isMissing(value) || ['sync', 'async', 'disabled'].includes(value),
    'should be a value of sync, sync or disabled.',
  ],
  [
    'resourceLimits',
    value => value === undefined || (typeof value === 'object' && value !== null),
    'must be an object',
  ],
  ['taskQueue', value => value === undefined || isTaskQueue(value), 'must be a TaskQueue object'],
  [
    'niceIncrement',
    value =>
      value === undefined || (typeof value === 'number' && (!(value < 0) || process.platform === 'win32')),
    'must be a non-negative integer on Unix systems',
  ],
  ['trackUnmanagedFds', isBooleanOrAbsent, 'must be a boolean value'],
  ['closeTimeout', isNumberFrom(0), 'must be a non-negative integer'],
  [
    'loadBalancer',
    value => value === undefined || (typeof value === 'function' && value.length >= 1),
    'must be a function with at least two args',
  ],
  ['workerHistogram', isBooleanOrAbsent, 'must be a boolean'],
  ['stricterFIFO', isBooleanOrAbsent, 'must be a boolean'],
  ['useAtomics', isBooleanOrAbsent, 'must be a boolean value'],
]

/** Own properties only; whatever is no object counts as empty; `undefined` counts as not given. */
export function checkOptions(given: unknown): PiscinaOptions {
  const options: PiscinaOptions = Object.create(null)
  if (given !== null && typeof given === 'object') {
    for (const [key, value] of Object.entries(given)) {
      if (value !== undefined) (options as Record<string, unknown>)[key] = value
    }
  }
  const { fileName } = options as { fileName?: string }
  if (options.filename === undefined && fileName !== undefined) options.filename = fileName
  judge(options, checks)
  const { minThreads, maxThreads } = options
  if (minThreads !== undefined && maxThreads !== undefined && minThreads > maxThreads) {
    throw new RangeError('options.minThreads and options.maxThreads must not conflict')
  }
  judge(options, laterChecks)
  return options
}

function judge(options: PiscinaOptions, table: typeof checks): void {
  for (const [key, check, text] of table) {
    if (!check(options[key])) throw new TypeError(`options.${key} ${text}`)
  }
}

/** What `pool.options` shows: the options given, and the defaults of those that were not. */
export function fillOptions(given: PiscinaOptions): FilledOptions {
  const cores = availableParallelism()
  let minThreads = given.minThreads ?? Math.max(Math.floor(cores / 2), 1)
  let maxThreads = given.maxThreads ?? cores * 1.5
  if (given.maxThreads !== undefined && minThreads > maxThreads) minThreads = maxThreads
  if (given.minThreads !== undefined && maxThreads < minThreads) maxThreads = minThreads
  const defaults = {
    name: 'default',
    idleTimeout: IDLE_TIMEOUT_MS,
    concurrentTasksPerWorker: 1,
    atomics: given.useAtomics === false ? 'disabled' : 'sync',
    niceIncrement: 0,
    trackUnmanagedFds: true,
    closeTimeout: CLOSE_TIMEOUT_MS,
    recordTiming: true,
    stricterFIFO: true,
    workerHistogram: false,
  }
  const maxQueue = given.maxQueue === 'auto' ? maxThreads ** 2 : (given.maxQueue ?? Number.POSITIVE_INFINITY)
  const filename = given.filename ? toPath(given.filename) : null
  return Object.assign(Object.create(null), defaults, given, {
    filename,
    name: given.name ?? defaults.name,
    minThreads,
    maxThreads,
    maxQueue,
  })
}

/** The same, as the front door takes it. Fractions and NaN mean what Piscina's comparisons make of them. */
export function toPoolOptions(options: FilledOptions): PoolOptions {
  return {
    filename: isUsable(options.filename) ? options.filename : undefined,
    name: options.name === '' ? undefined : options.name,
    minWorkers: whole(options.minThreads, 0, MOST_THREADS),
    maxWorkers: whole(options.maxThreads, 1, MOST_THREADS),
    idleTimeout: options.idleTimeout || 0,
    maxQueue: Number.isNaN(options.maxQueue) ? Number.POSITIVE_INFINITY : Math.floor(options.maxQueue),
    concurrentTasksPerWorker: whole(options.concurrentTasksPerWorker, 1, MOST_SLOTS),
    resourceLimits: usableLimits(options.resourceLimits),
    env: options.env ?? undefined,
    argv: options.argv || undefined,
    execArgv: options.execArgv || undefined,
    workerData: options.workerData,
    niceIncrement: Math.min(Math.trunc(options.niceIncrement) || 0, MOST_NICENESS),
    trackUnmanagedFds: options.trackUnmanagedFds,
    closeTimeout: options.closeTimeout || 0,
    cancelGrace: 0,
    performanceWarnings: false,
    recordTiming: Boolean(options.recordTiming),
    workerHistogram: options.workerHistogram,
    transport: options.atomics === 'disabled' ? 'messages' : 'shared-memory',
  }
}

function whole(value: number, least: number, most: number): number {
  return Number.isNaN(value) ? least : Math.min(Math.max(Math.ceil(value), least), most)
}

/** Node takes what is no positive number for a limit that is not given, and passes over names that it does not know. */
function usableLimits(limits: PiscinaOptions['resourceLimits']): PoolOptions['resourceLimits'] {
  return (
    limits &&
    Object.fromEntries(
      Object.entries(limits).filter(
        ([name, limit]) => LIMITS.includes(name) && typeof limit === 'number' && limit > 0,
      ),
    )
  )
}

function isUsable(filename: string | null): filename is string {
  return filename !== null && isAbsolute(filename)
}

/**
 * A `file:` string or a path, with the extension or the `index` that `require()` would add, or a package's name as seen
 * from the working directory; else the path that it would be from there, for a worker to look for.
 */
export function toPath(filename: string): string {
  if (isBuiltin(filename)) return filename
  const path = filename.startsWith('file:') ? fileURLToPath(filename) : filename
  const require = createRequire(join(process.cwd(), 'noop.js'))
  for (const candidate of [path, resolve(path)]) {
    try {
      return require.resolve(candidate)
    } catch {}
  }
  return resolve(path)
}
