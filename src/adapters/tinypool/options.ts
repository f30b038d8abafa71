// The options of Tinypool: their defaults, and their conversion to lido's options.
import type { SerializationType } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { WorkerOptions } from 'node:worker_threads'
import type { PoolOptions } from '../../index.js'
import { adapterFile, ownFields } from '../../kit.js'
import type { WorkerOrder } from './orders.js'
import { emptyQueue, type TaskQueue } from './task-queue.js'

/** The options of Tinypool 2.2. */
export interface Options {
  /** The module with the functions. Default `null`: each call gives its own. */
  filename?: string | URL | null
  /** Where tasks run. Default `'worker_threads'`. */
  runtime?: 'worker_threads' | 'child_process'
  /** The name of the function. Default `'default'`. */
  name?: string
  /** Workers kept alive. A number below 1 is a share of the cores. Default: half of the cores. */
  minThreads?: number
  /** Most workers alive at once. A number below 1 is a share of the cores. Default: the cores. */
  maxThreads?: number
  /** Milliseconds after which an idle worker above `minThreads` stops. Default 30,000; in Tinypool 0. */
  idleTimeout?: number
  /** Milliseconds after which a worker that does not end is an error. Default: no limit. */
  terminateTimeout?: number
  /** Most tasks that may be queued. `'auto'` is the square of `maxThreads`. Default `Infinity`. */
  maxQueue?: number | 'auto'
  /** Tasks that one worker runs at once. Default 1. */
  concurrentTasksPerWorker?: number
  /** With `false`, idle threads never busy-wait. Workers of lido never block their event loop. Default `true`. */
  useAtomics?: boolean
  /** Heap and stack limits of each worker. */
  resourceLimits?: WorkerOptions['resourceLimits']
  /** Bytes of memory above which the pool replaces a worker. */
  maxMemoryLimitBeforeRecycle?: number
  /** Arguments appended to `process.argv` of each worker. */
  argv?: string[]
  /** Node's flags for each worker. */
  execArgv?: string[]
  /** The environment variables of each worker. */
  env?: Record<string, string>
  /** A value that each thread gets in `workerData[1]`. */
  workerData?: any
  /** The object that holds the queued tasks. */
  taskQueue?: TaskQueue
  /** Closes file descriptors that a thread leaves open. Default `true`. */
  trackUnmanagedFds?: boolean
  /** Each task gets a new worker. Default `false`. */
  isolateWorkers?: boolean
  /** The name of a function of `filename` that a worker calls before it ends. */
  teardown?: string
  /** How processes exchange messages with a channel. `'json'`, the default, also converts tasks and results. */
  serialization?: SerializationType
}

/** The value of `pool.options`. */
export interface FilledOptions extends Options {
  filename: string | null
  name: string
  runtime: NonNullable<Options['runtime']>
  minThreads: number
  maxThreads: number
  idleTimeout: number
  maxQueue: number
  concurrentTasksPerWorker: number
  useAtomics: boolean
  taskQueue: TaskQueue
}

/** With Tinypool's default of 0, a pool starts new workers for every burst. */
const IDLE_TIMEOUT_MS = 30_000
const MOST_THREADS = 4096
const LEAST_MEMORY_MB = 4
const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb']
/** Only the heap of a process is limited. */
const PROCESS_LIMITS = LIMITS.slice(0, 2)

export function fillOptions(given: Options): FilledOptions {
  const cores = availableParallelism()
  const options = ownFields(given)
  for (const key of ['minThreads', 'maxThreads'] as const) {
    const share = options[key]
    if (share !== undefined && share > 0 && share < 1) options[key] = Math.max(1, Math.floor(share * cores))
  }
  const { minThreads, maxThreads } = options
  if (minThreads !== undefined && maxThreads !== undefined && minThreads > maxThreads) {
    throw new RangeError('options.minThreads and options.maxThreads must not conflict')
  }
  const most = maxThreads ?? Math.max(cores, minThreads ?? 0)
  const filled = Object.assign(Object.create(null), {
    name: 'default',
    runtime: 'worker_threads',
    idleTimeout: IDLE_TIMEOUT_MS,
    concurrentTasksPerWorker: 1,
    useAtomics: true,
    trackUnmanagedFds: true,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  })
  return Object.assign(filled, {
    filename: options.filename ? toPath(options.filename) : null,
    minThreads: Math.min(minThreads ?? Math.max(cores / 2, 1), most),
    maxThreads: most,
    maxQueue: options.maxQueue === 'auto' ? most ** 2 : (options.maxQueue ?? Number.POSITIVE_INFINITY),
    taskQueue: options.taskQueue ?? emptyQueue,
  })
}

function workerUrl(): URL {
  return adapterFile('tinypool', workerPath)
}

/** @vercel/nft finds the file by a path that starts with `__dirname`, but not in an arrow function. */
function workerPath(): string {
  return `${__dirname}/../../../esm/adapters/tinypool/in-worker.js`
}

export function toPoolOptions(options: FilledOptions): PoolOptions {
  const isProcess = options.runtime === 'child_process'
  const most = Math.min(Math.max(Math.ceil(options.maxThreads), 1), MOST_THREADS)
  const memory = options.maxMemoryLimitBeforeRecycle
  return {
    filename: workerUrl(),
    label: 'Tinypool',
    backend: isProcess ? 'process' : 'thread',
    minWorkers: Math.min(Math.max(Math.ceil(options.minThreads), 0), most),
    maxWorkers: most,
    idleTimeout: options.idleTimeout,
    maxQueue: options.maxQueue,
    concurrentTasksPerWorker: options.concurrentTasksPerWorker,
    resourceLimits: usableLimits(options.resourceLimits, isProcess ? PROCESS_LIMITS : LIMITS),
    argv: options.argv,
    execArgv: options.execArgv,
    trackUnmanagedFds: options.trackUnmanagedFds,
    maxWorkerMemoryMb: memory ? Math.max(memory / 2 ** 20, LEAST_MEMORY_MB) : Number.POSITIVE_INFINITY,
    closeTimeout: Number.POSITIVE_INFINITY,
    // An abort ends the worker at once.
    cancelGrace: 0,
    setupTimeout: Number.POSITIVE_INFINITY,
    ...(options.terminateTimeout ? { teardownTimeout: options.terminateTimeout } : {}),
    performanceWarnings: false,
    recordTiming: false,
    busyWait: options.useAtomics ? 'auto' : false,
  }
}

/** The options for the start of a worker. */
export function startOptions(
  options: FilledOptions,
  workerOptions: Readonly<Record<string, unknown>>,
  workerId: number,
): Record<string, unknown> {
  const { filename, name, teardown = null, isolateWorkers = false, serialization = 'json' } = options
  const order: WorkerOrder = {
    workerId,
    filename,
    name,
    teardown,
    isIsolated: isolateWorkers,
    isJson: options.runtime === 'child_process' && serialization === 'json',
  }
  const started = { ...workerOptions, workerData: [order, options.workerData] }
  if (options.runtime !== 'child_process')
    return options.env === undefined ? started : { ...started, env: options.env }
  return {
    ...started,
    workerData: [order, undefined],
    env: { ...(options.env ?? process.env), TINYPOOL_WORKER_ID: String(workerId) },
    spawnOptions: { serialization },
  }
}

/** Keeps the limits that Node would use. Node ignores unknown names and values that are not positive numbers. */
function usableLimits(limits: Options['resourceLimits'], names: string[]): PoolOptions['resourceLimits'] {
  return (
    limits &&
    Object.fromEntries(
      Object.entries(limits).filter(
        ([name, limit]) => names.includes(name) && typeof limit === 'number' && limit > 0,
      ),
    )
  )
}

/** A path, or the address of a module that is no file. */
export function toPath(filename: string | URL): string {
  const text = String(filename)
  return text.startsWith('file:') ? fileURLToPath(text) : text
}
