// The options of workerpool, and their conversion to lido's options.
import type { ForkOptions } from 'node:child_process'
import { cpus as cpuList } from 'node:os'
import type { WorkerOptions as ThreadOptions } from 'node:worker_threads'
import type { PoolOptions } from '../../index.js'
import { adapterFile, ownFields } from '../../kit.js'
import type { WorkerOrder } from './orders.js'
import type { TaskQueue } from './queues.js'

/** What `onCreateWorker` and `onTerminateWorker` get. */
export interface WorkerArg {
  /** Arguments of worker processes. */
  forkArgs?: string[]
  /** The options of `fork()` for worker processes. */
  forkOpts?: ForkOptions
  workerOpts?: object
  /** The options of `new Worker()` for worker threads. */
  workerThreadOpts?: ThreadOptions
  script?: string
}

/** The options of `pool()`. */
export interface WorkerPoolOptions {
  /** Workers kept alive. `'max'`: `maxWorkers`. Default 0. */
  minWorkers?: number | 'max'
  /** Most workers. Default: the cores without one. */
  maxWorkers?: number
  /** Most queued tasks. */
  maxQueueSize?: number
  /** `'auto'` and `'thread'`: threads; `'process'`: processes. */
  workerType?: 'auto' | 'web' | 'process' | 'thread'
  /** The old name of `workerType`. */
  nodeWorker?: 'auto' | 'process' | 'thread'
  /** The order of queued tasks, or a queue of the program. Default `'fifo'`. */
  queueStrategy?: 'fifo' | 'lifo' | TaskQueue
  /** Has no effect. Give the script to `pool()`. */
  script?: string
  /** Milliseconds that a worker may take to end. Default 1,000. */
  workerTerminateTimeout?: number
  /** Arguments of worker processes. */
  forkArgs?: string[]
  /** The options of `fork()` for worker processes. */
  forkOpts?: ForkOptions
  /** For web workers. Has no effect in Node. */
  workerOpts?: object
  /** The options of `new Worker()` for worker threads. */
  workerThreadOpts?: ThreadOptions
  /** Has no effect: processes do not inherit the debugger. */
  debugPortStart?: number
  /** Gives the output of workers to the option `on` of the running tasks. */
  emitStdStreams?: boolean
  /** Called before a worker starts. May return other options for it. */
  onCreateWorker?: (arg: WorkerArg) => WorkerArg | undefined | null
  /** Called after a worker has ended. */
  onTerminateWorker?: (arg: WorkerArg) => void
}

/** As workerpool counts them. */
export const cpus: number = cpuList().length

const names = {
  forkOpts: [
    ...['cwd', 'detached', 'env', 'execPath', 'execArgv', 'gid', 'serialization', 'signal', 'killSignal'],
    ...['silent', 'stdio', 'uid', 'windowsVerbatimArguments', 'timeout'],
  ],
  workerThreadOpts: [
    ...['argv', 'env', 'eval', 'execArgv', 'stdin', 'stdout', 'stderr', 'workerData', 'trackUnmanagedFds'],
    ...['transferList', 'resourceLimits', 'name'],
  ],
}

export interface Settings
  extends Required<Pick<WorkerPoolOptions, 'forkArgs' | 'forkOpts' | 'workerThreadOpts'>> {
  script: string | null
  isProcess: boolean
  minWorkers: number
  maxWorkers: number
  maxQueueSize: number
  workerTerminateTimeout: number
  emitStdStreams: boolean
  workerOpts: object
}

/** @param options own fields */
export function readOptions(script: string | null, options: WorkerPoolOptions): Settings {
  let maxWorkers = Math.max((cpus || 4) - 1, 1)
  if ('maxWorkers' in options) {
    if (!isCount(options.maxWorkers, 1))
      throw new TypeError('Option maxWorkers must be an integer number >= 1')
    maxWorkers = options.maxWorkers
  }
  let minWorkers = 0
  if ('minWorkers' in options) {
    if (options.minWorkers === 'max') minWorkers = maxWorkers
    else {
      if (!isCount(options.minWorkers, 0))
        throw new TypeError('Option minWorkers must be an integer number >= 0')
      minWorkers = options.minWorkers
    }
  }
  return {
    script,
    isProcess: (options.workerType || options.nodeWorker) === 'process',
    minWorkers,
    maxWorkers: Math.max(minWorkers, maxWorkers),
    maxQueueSize: options.maxQueueSize || Number.POSITIVE_INFINITY,
    workerTerminateTimeout: options.workerTerminateTimeout || 1000,
    emitStdStreams: options.emitStdStreams || false,
    forkArgs: Object.freeze(options.forkArgs || []) as string[],
    forkOpts: Object.freeze(options.forkOpts || {}),
    workerOpts: Object.freeze(options.workerOpts || {}),
    workerThreadOpts: Object.freeze(options.workerThreadOpts || {}),
  }
}

/** Throws if an option for the start of workers is unknown. */
export function checkStartOptions({ isProcess, forkOpts, workerThreadOpts }: Settings): void {
  if (isProcess) checkNames(forkOpts, 'forkOpts')
  else checkNames(workerThreadOpts, 'workerThreadOpts')
}

function workerUrl(): URL {
  return adapterFile('workerpool', workerPath)
}

/** @vercel/nft finds the file by a path that starts with `__dirname`, but not in an arrow function. */
function workerPath(): string {
  return `${__dirname}/../../../esm/adapters/workerpool/in-worker.js`
}

export function toPoolOptions(settings: Settings): PoolOptions {
  return {
    filename: workerUrl(),
    label: 'workerpool',
    backend: settings.isProcess ? 'process' : 'thread',
    minWorkers: settings.minWorkers,
    maxWorkers: settings.maxWorkers,
    idleTimeout: Number.POSITIVE_INFINITY,
    cancelGrace: settings.workerTerminateTimeout,
    closeTimeout: Number.POSITIVE_INFINITY,
    setupTimeout: Number.POSITIVE_INFINITY,
    teardownTimeout: settings.workerTerminateTimeout,
    performanceWarnings: false,
    recordTiming: false,
  }
}

type StartArg = { script?: string | null } & Omit<WorkerArg, 'script'>

/**
 * The options for the start of a worker.
 * @param arg what `onCreateWorker` decided
 */
export function startOptions(
  { isProcess, emitStdStreams: emitsOutput }: Settings,
  workerOptions: Readonly<Record<string, unknown>>,
  { script = null, forkArgs, forkOpts = {}, workerThreadOpts = {} }: StartArg,
): Record<string, unknown> {
  if (!isProcess) {
    checkNames(workerThreadOpts, 'workerThreadOpts')
    const {
      eval: _,
      transferList: __,
      workerData,
      resourceLimits = {},
      ...given
    } = ownFields(workerThreadOpts)
    const order: WorkerOrder = { script, workerData, isJson: false, emitsOutput }
    return { ...workerOptions, ...given, resourceLimits: ownFields(resourceLimits), workerData: order }
  }
  checkNames(forkOpts, 'forkOpts')
  const { cwd, detached, env, execArgv = [], gid, uid, serialization = 'json' } = ownFields(forkOpts)
  const order: WorkerOrder = { script, workerData: null, isJson: serialization === 'json', emitsOutput }
  const heapFlags = process.execArgv.filter(flag => flag.includes('--max-old-space-size'))
  return {
    ...workerOptions,
    argv: forkArgs,
    env: env ?? process.env,
    execArgv: [...execArgv, ...heapFlags],
    workerData: order,
    spawnOptions: {
      serialization,
      ...(cwd === undefined ? {} : { cwd }),
      ...(detached === undefined ? {} : { detached }),
      ...(gid === undefined ? {} : { gid }),
      ...(uid === undefined ? {} : { uid }),
    },
  }
}

function checkNames(options: object, option: keyof typeof names): void {
  const unknown = Object.keys(options).find(name => !names[option].includes(name))
  if (unknown !== undefined) throw new Error(`Object "${option}" contains an unknown option "${unknown}"`)
}

function isCount(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least
}
