// Checks Piscina's options in Piscina's order and with its texts, adds its defaults, and converts them to lido's
// options.
import { createRequire, isBuiltin } from 'node:module'
import { availableParallelism } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WorkerOptions } from 'node:worker_threads'
import type { PoolOptions } from '../../index.js'
import type { PiscinaLoadBalancer } from './load-balancer.js'
import { isTaskQueue, type TaskQueue } from './task-queue.js'

/** The options of Piscina 5.3. */
export interface PiscinaOptions {
  /** The module with the handler: a path, a `file:` string, or a package's name. Default `null`: each call gives its own. */
  filename?: string | null
  /** The name of the export that is the handler. Default `'default'`. */
  name?: string
  /** Threads kept alive. Default: half of the cores, at least 1. */
  minThreads?: number
  /** Most threads alive at once. Default: 1.5 times the cores. */
  maxThreads?: number
  /** Milliseconds after which an idle thread above `minThreads` stops. Default 30,000; in Piscina 0. */
  idleTimeout?: number
  /** Most tasks that may be queued. `'auto'` is the square of `maxThreads`. Default `Infinity`. */
  maxQueue?: number | 'auto'
  /** Tasks that one thread runs at once. Default 1. */
  concurrentTasksPerWorker?: number
  /**
   * `'disabled'`: sends all tasks by message. The other values are the same: workers of lido never block their event
   * loop.
   */
  atomics?: 'sync' | 'async' | 'disabled'
  /** The name of `atomics` before Piscina 5. */
  useAtomics?: boolean
  /** Heap and stack limits of each thread, as in `worker_threads`. */
  resourceLimits?: WorkerOptions['resourceLimits']
  /** Arguments appended to `process.argv` of each thread. */
  argv?: WorkerOptions['argv']
  /** Node's flags for each thread. */
  execArgv?: string[]
  /** The environment variables of each thread, as in `worker_threads`. */
  env?: WorkerOptions['env']
  /** A value that each thread gets as `workerData`. It is copied. */
  workerData?: any
  /** The object that holds the queued tasks. It belongs to one open pool at a time. */
  taskQueue?: TaskQueue
  /** Lowers the priority of the threads. Needs the package `@napi-rs/nice`. Default 0. */
  niceIncrement?: number
  /** Closes file descriptors that a thread leaves open. Default `true`. */
  trackUnmanagedFds?: boolean
  /** Milliseconds that `close()` waits for accepted tasks. Default 30,000. */
  closeTimeout?: number
  /** Keeps histograms of wait and run times. Default `true`. */
  recordTiming?: boolean
  /** Chooses the thread of each task. Default: the first free thread. */
  loadBalancer?: PiscinaLoadBalancer
  /** Keeps a histogram of run times for each thread. Default `false`. */
  workerHistogram?: boolean
  /** Has no effect: tasks always start in order. */
  stricterFIFO?: boolean
}

/** The value of `pool.options`: the given options and the defaults. */
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

/** The default of Piscina is 0, with which a pool starts new threads for every burst. */
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

/** Reads own properties only. A value that is not an object counts as `{}`; `undefined` counts as missing. */
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

/** Returns the value of `pool.options`: the user's options, and defaults for the others. */
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

/** Converts the options for lido. Fractions and NaN have the same effect as in Piscina's comparisons. */
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
    // Piscina has no such hook, so an export of this name is a handler.
    setupTimeout: 0,
    performanceWarnings: false,
    recordTiming: Boolean(options.recordTiming),
    workerHistogram: options.workerHistogram,
    transport: options.atomics === 'disabled' ? 'messages' : 'shared-memory',
    busyWait: options.atomics === 'disabled' ? false : 'auto',
  }
}

function whole(value: number, least: number, most: number): number {
  return Number.isNaN(value) ? least : Math.min(Math.max(Math.ceil(value), least), most)
}

/** Keeps the limits that Node would use. Node ignores unknown names and values that are not positive numbers. */
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
 * Resolves a `file:` string, a path or the name of a package as `require()` would in the working directory. If nothing
 * is found, returns the path relative to the working directory, so that the worker reports the missing file.
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
