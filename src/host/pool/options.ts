// What a user may say of a pool, and what it becomes: settings in which everything is present and valid. Resolved once;
// only own properties are read, so a polluted prototype changes nothing.
import type { WorkerOptions } from 'node:worker_threads'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import type { ErrorClass, ErrorClasses } from '../../shared/errors/serialize-error.js'
import type { Handler } from '../../shared/messages/handler.js'
import type { BackendKind } from '../backend/backend-kind.js'
import type { LoadBalancer } from '../dispatch/load-balancer.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import type { TaskQueue } from '../queue/task-queue.js'
import type { RetrySettings } from '../task/retry.js'
import type { Limits } from '../task/time-limits.js'
import type { LifeSettings } from '../workers/worker-limits.js'
import { resolveBackend } from './backend-options.js'
import { ownOptions } from './call-options.js'
import { resolveErrorClasses } from './error-class-option.js'
import { HandlerFileProblem, resolvePoolFile } from './handler-file.js'
import { type LifeOptions, lifeOptionNames, resolveLife } from './life-options.js'
import { boolean, durationMs, integer, refuse, text } from './option-checks.js'
import { shareOfCores, usableCores } from './sizing.js'
import { resolveLimits } from './time-options.js'
import { resolveWorkerOptions } from './worker-options.js'

export interface PoolOptions extends LifeOptions {
  /** The module with the handler: an absolute path, a `file:` string, a `URL`, or a package's name. */
  filename?: string | URL | undefined
  /** Which export is the handler. Default `'default'`. */
  name?: string | undefined
  /** Workers kept alive. Default: half of the usable cores, at least 1. */
  minThreads?: number | undefined
  /** Most workers alive at once. Default: the usable cores (available parallelism, or the container's CPU quota). */
  maxThreads?: number | undefined
  /**
   * How many processes of this program share the machine, each with such a pool, as under `node:cluster`: the defaults of
   * `maxThreads` and `minThreads` are then of so many-th a part of the cores, at least one. Default 1.
   */
  processes?: number | undefined
  /** Milliseconds after which an idle worker above `minThreads` ends; `Infinity`: never. Default 30,000. */
  idleTimeout?: number | undefined
  /** Most tasks that may wait; `'auto'` is `maxThreads²`. Default `Infinity`. */
  maxQueue?: number | 'auto' | undefined
  /** Tasks a worker holds at once, 1 to 65,536. Above 1 it helps handlers that await. Default 1. */
  concurrentTasksPerWorker?: number | undefined
  resourceLimits?: WorkerOptions['resourceLimits'] | undefined
  env?: WorkerOptions['env'] | undefined
  argv?: WorkerOptions['argv'] | undefined
  execArgv?: string[] | undefined
  workerData?: unknown
  /** Lowers the workers' priority; needs the package `@napi-rs/nice`. Default 0. */
  niceIncrement?: number | undefined
  trackUnmanagedFds?: boolean | undefined
  /** Milliseconds from the moment a worker begins a task, after which it is cancelled. Default `Infinity`: no limit. */
  timeout?: number | undefined
  /** Milliseconds from the call, within which a worker must have begun a task. Default `Infinity`: no limit. */
  queueTimeout?: number | undefined
  /**
   * Milliseconds that the handler of a cancelled task gets to end by itself before its worker is ended; 0: none,
   * `Infinity`: its worker is never ended for it. Default 100.
   */
  cancelGrace?: number | undefined
  /**
   * Calls handlers with a second argument, by which they hear that their task is cancelled. `false`: with the payload
   * alone, for functions that take something else there. Default `true`.
   */
  context?: boolean | undefined
  /** Milliseconds that `close()` waits for accepted tasks and for the workers' teardowns. Default 30,000. */
  closeTimeout?: number | undefined
  /** Classes of your own that errors of handlers are revived as, found by name; their constructors do not run. */
  errorClasses?: readonly ErrorClass[] | undefined
  /** Adds to the stack of each rejection where `run()` was called. Costs each call some microseconds. Default `false`. */
  callerStack?: boolean | undefined
  /** Chooses the worker of a task; `null` lets it wait until a slot is freed. */
  loadBalancer?: LoadBalancer | undefined
  /** Where tasks wait. Default: a `FifoQueue`. */
  queue?: TaskQueue | undefined
  /** Keeps the histograms of wait and run times, and measures what handlers cost. Default `true`. */
  recordTiming?: boolean | undefined
  /**
   * Warns, once for each handler, by `process.emitWarning`, when what was measured says that a worker is of no use to it: it
   * waits, or it is over sooner than it is handed over. Default `true`.
   */
  worthWarnings?: boolean | undefined
  /** Keeps a histogram of run times for each worker. Default `false`. */
  workerHistogram?: boolean | undefined
  /**
   * While short tasks follow each other, and the host and the workers that are awake have a core each, lets a worker look up
   * to 100 µs for its next task before it sleeps, and the host look for answers in each turn of its event loop. Without the
   * lane all workers count as awake. Default `true`.
   */
  spin?: boolean | undefined
  /**
   * Lets tasks and answers travel through memory that the threads share. `false`: by messages alone. A pool with a
   * `loadBalancer`, or where there is no SharedArrayBuffer, goes without by itself. Default `true`.
   */
  lane?: boolean | undefined
  /**
   * Where workers live: `'thread'` of this process; `'process'` of its own, which survives crashes of native code and gives
   * its memory back; or `'inline'`, on this very thread, for debugging, tests and tiny work. Default `'thread'`.
   */
  backend?: BackendKind | undefined
}

export interface PoolSettings extends LifeSettings {
  /** `null`: a task is run once. */
  readonly retry: RetrySettings | null
  readonly filename: string | null
  readonly name: string
  /** The two together: what workers load before they say they are ready. `null` without a file. */
  readonly handler: Handler | null
  readonly minThreads: number
  readonly maxThreads: number
  readonly processes: number
  readonly idleTimeout: number
  readonly maxQueue: number
  readonly concurrentTasksPerWorker: number
  readonly niceIncrement: number
  readonly timeout: number
  readonly queueTimeout: number
  /** The two together, for calls that say nothing else; `null` where neither limits anything. */
  readonly limits: Limits | null
  readonly cancelGrace: number
  readonly context: boolean
  readonly closeTimeout: number
  readonly errorClasses: ErrorClasses
  readonly callerStack: boolean
  readonly loadBalancer: LoadBalancer | null
  readonly queue: TaskQueue
  readonly recordTiming: boolean
  readonly worthWarnings: boolean
  readonly workerHistogram: boolean
  /** Workers spin while fewer of them than this are awake; 0: never. */
  readonly spinCores: number
  readonly lane: boolean
  readonly backend: BackendKind
  /** What each worker is started with. */
  readonly workerOptions: Readonly<Record<string, unknown>>
}

const DEFAULT_IDLE_TIMEOUT_MS = 30_000
/** Some turns of a busy worker's event loop; a caller that cancelled a loop does not wait long for its thread. */
const DEFAULT_CANCEL_GRACE_MS = 100
const DEFAULT_CLOSE_TIMEOUT_MS = 30_000
const MOST_THREADS = 4096
const MOST_SLOTS = 65_536
const MOST_PROCESSES = 4096

const knownOptions = [
  'filename',
  'name',
  'minThreads',
  'maxThreads',
  'processes',
  'idleTimeout',
  'maxQueue',
  'concurrentTasksPerWorker',
  'resourceLimits',
  'env',
  'argv',
  'execArgv',
  'workerData',
  'niceIncrement',
  'trackUnmanagedFds',
  'timeout',
  'queueTimeout',
  'cancelGrace',
  'context',
  'closeTimeout',
  'errorClasses',
  'callerStack',
  'loadBalancer',
  'queue',
  'recordTiming',
  'worthWarnings',
  'workerHistogram',
  'spin',
  'lane',
  'backend',
  ...lifeOptionNames,
] as const satisfies readonly (keyof PoolOptions)[]

export function resolveOptions(given: unknown): PoolSettings {
  const options: PoolOptions =
    given === undefined
      ? Object.create(null)
      : ownOptions<PoolOptions>('a pool', given, knownOptions, 'filename', InvalidOptionError)
  const processes =
    options.processes === undefined ? 1 : integer('processes', options.processes, 1, MOST_PROCESSES)
  const cores = shareOfCores(usableCores(), processes)
  const { minThreads, maxThreads } = resolveSizes(options, cores)
  const { idleTimeout = DEFAULT_IDLE_TIMEOUT_MS, closeTimeout = DEFAULT_CLOSE_TIMEOUT_MS } = options
  const { concurrentTasksPerWorker = 1, recordTiming = true, workerHistogram = false } = options
  const { worthWarnings = true } = options
  const {
    lane = true,
    context = true,
    cancelGrace = DEFAULT_CANCEL_GRACE_MS,
    timeout,
    queueTimeout,
  } = options
  const limits = resolveLimits({ timeout, queueTimeout, deadline: undefined }, null, refuse)
  const backend = resolveBackend(options.backend)
  const queue = resolveQueue(options.queue)
  const maxQueue = resolveMaxQueue(options.maxQueue, maxThreads)
  const filename = resolveFilename(options.filename)
  const name = options.name === undefined ? 'default' : text('name', options.name)
  return {
    filename,
    name,
    handler: filename === null ? null : { filename, name },
    minThreads,
    maxThreads,
    processes,
    idleTimeout: durationMs('idleTimeout', idleTimeout),
    maxQueue: Math.min(maxQueue, queue.capacity ?? Number.POSITIVE_INFINITY),
    concurrentTasksPerWorker: integer('concurrentTasksPerWorker', concurrentTasksPerWorker, 1, MOST_SLOTS),
    niceIncrement: resolveNiceness(options.niceIncrement),
    timeout: limits?.timeoutMs ?? Number.POSITIVE_INFINITY,
    queueTimeout: limits?.queueTimeoutMs ?? Number.POSITIVE_INFINITY,
    limits,
    cancelGrace: durationMs('cancelGrace', cancelGrace),
    context: boolean('context', context),
    closeTimeout: durationMs('closeTimeout', closeTimeout),
    errorClasses: resolveErrorClasses(options.errorClasses),
    callerStack: options.callerStack !== undefined && boolean('callerStack', options.callerStack),
    loadBalancer: resolveBalancer(options.loadBalancer),
    queue,
    recordTiming: boolean('recordTiming', recordTiming),
    worthWarnings: boolean('worthWarnings', worthWarnings),
    workerHistogram: boolean('workerHistogram', workerHistogram),
    spinCores: options.spin === undefined || boolean('spin', options.spin) ? cores : 0,
    lane: boolean('lane', lane),
    ...resolveLife(options),
    backend,
    workerOptions: resolveWorkerOptions(options, backend),
  }
}

function resolveFilename(given: unknown): string | null {
  if (given === undefined || given === null) return null
  const file = resolvePoolFile(given)
  if (!(file instanceof HandlerFileProblem)) return file
  throw new InvalidOptionError('filename', `The option 'filename' ${file.text}.`, file.cause)
}

function resolveSizes(options: PoolOptions, cores: number): { minThreads: number; maxThreads: number } {
  const least = options.minThreads
  const most = options.maxThreads
  if (least !== undefined) integer('minThreads', least, 0, MOST_THREADS)
  if (most !== undefined) integer('maxThreads', most, 1, MOST_THREADS)
  if (least !== undefined && most !== undefined && least > most) {
    throw new InvalidOptionError(
      'minThreads',
      `The option 'minThreads' (${least}) must not be above 'maxThreads' (${most}).`,
    )
  }
  const maxThreads = most ?? Math.max(cores, least ?? 1)
  return { minThreads: least ?? Math.min(Math.max(Math.floor(cores / 2), 1), maxThreads), maxThreads }
}

function resolveMaxQueue(given: unknown, maxThreads: number): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (given === 'auto') return maxThreads ** 2
  if (typeof given === 'string')
    return refuse('maxQueue', given, "an integer of at least 0, Infinity or 'auto'")
  return integer('maxQueue', given, 0, Number.MAX_SAFE_INTEGER, true)
}

function resolveNiceness(given: unknown): number {
  if (given === undefined) return 0
  const least = process.platform === 'win32' ? -100 : 0
  return integer('niceIncrement', given, least, 100)
}

function resolveBalancer(given: unknown): LoadBalancer | null {
  if (given === undefined) return null
  if (typeof given === 'function') return given as LoadBalancer
  return refuse('loadBalancer', given, 'a function (task, workers) => worker or null')
}

function resolveQueue(given: unknown): TaskQueue {
  if (given === undefined) return new FifoQueue()
  const queue = given as TaskQueue | null
  const isQueue =
    queue !== null &&
    typeof queue === 'object' &&
    typeof queue.push === 'function' &&
    typeof queue.shift === 'function' &&
    typeof queue.remove === 'function' &&
    queue.size >= 0 &&
    (queue.capacity === undefined || (typeof queue.capacity === 'number' && queue.capacity >= 0))
  return isQueue
    ? queue
    : refuse('queue', given, 'a TaskQueue: { size, push(task), shift(), remove(task), capacity? }')
}
