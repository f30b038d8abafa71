// Creates the settings of a pool from its options, once, in the constructor. Checks that the options do not contradict
// each other, and computes the values that the parts of the pool need.

import type { PoolOptions, PoolSettings, RetryOptions } from '../../api/pool-options.js'
import type { TaskQueue } from '../../api/queue.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { ErrorClasses, messageOf } from '../../shared/errors/serialize-error.js'
import { type HandlerRef, loadingFiles, MODULE_OPTION } from '../../shared/messages/handler-ref.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import { mayHoldOptions, OptionErrors, OptionTable, ownFields } from '../../shared/options/option-table.js'
import { SHARE_ENV } from '../../shared/platform/host-node-modules.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import { fileMeantBy } from '../../shared/platform/source-file.js'
import { HEAP_FLAG, HEAP_FLAG_REMEDY } from '../backend/heap-flags.js'
import { inheritedFlags, processEnvironment } from '../backend/process-surroundings.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { GroupQueue } from '../queue/group-queue.js'
import { PriorityQueue } from '../queue/priority-queue.js'
import type { Limits } from '../task/call.js'
import type { RetrySettings } from '../task/retry.js'
import type { PoolSize } from '../workers/scaling.js'
import { HandlerFileProblem, isLoadingNow, loadingText, resolvePoolFile } from './handler-file.js'
import { baseOf, fileOfThunk, isThunk, relativeTo } from './handler-module.js'
import { shareOfCores, usableCores } from './sizing.js'
import { poolReplacements, poolTable } from './table.js'

/** The settings from which the parts of a pool are built. */
export interface CoreSettings
  extends Omit<PoolSettings, 'minWorkers' | 'maxWorkers' | 'retry' | 'errorClasses'> {
  /** The value of `pool.options`, frozen. */
  readonly options: PoolSettings
  /** `resize()` changes it. */
  readonly size: PoolSize
  /** The handler that workers load before they are ready. `null` without a file. */
  readonly handler: HandlerRef | null
  /**
   * Why this pool runs no tasks of its own file. A worker that loads the handler may also load the program's file, if a bundler put code
   * of both into one file. The pool that the program's file creates there must not start workers.
   */
  readonly handlerProblem: string | null
  /** The time limits of calls without their own limits. `null`: no limit. */
  readonly limits: Limits | null
  /** `null`: a task runs once. */
  readonly retry: RetrySettings | null
  readonly errorClasses: ErrorClasses
  /** A worker may busy-wait while fewer workers than this are awake. 0: never. */
  readonly spinCores: number
  /** How many cores this pool may use. */
  readonly cores: number
  /** The options for the start of each worker, as for `new Worker()` of `worker_threads`. */
  readonly workerOptions: Readonly<Record<string, unknown>>
}

const poolErrors = new OptionErrors('a pool', InvalidOptionError, poolReplacements)
const resizeErrors = new OptionErrors('resize()', InvalidOptionError, poolReplacements)
const { minWorkers, maxWorkers } = poolTable.rules
const resizeTable = new OptionTable({ minWorkers, maxWorkers })

/**
 * @param callerFile the file that calls the constructor; `null`: not known
 * @param startAhead called if the pool starts a thread at once; another option may still be refused after it
 */
export function resolveOptions(
  given: PoolOptions | undefined,
  callerFile: () => string | null = () => null,
  startAhead: (workerOptions: Record<string, unknown>) => void = () => {},
): CoreSettings {
  if (given !== undefined && !mayHoldOptions(given))
    poolErrors.noObject(given, "module: () => import('./work.js'), base: import.meta.url")
  const read = poolTable.read(given ?? {}, poolErrors)
  const workerOptions = workerOptionsOf(read)
  // The thread starts while the file is looked for.
  const startsNow = read.backend === 'thread' && read.minWorkers !== 0 && loadingFiles().size === 0
  if (startsNow) startAhead(workerOptions)
  const filename = handlerFile(read, callerFile)
  const handlerProblem = filename !== undefined && isLoadingNow(filename) ? loadingText(filename) : null
  if (handlerProblem !== null && callerFile() === (fileMeantBy(filename!) ?? filename))
    throw new InvalidOptionError('filename', `The option 'filename' ${handlerProblem}.`)
  const startsLater = handlerProblem !== null || isLoadingWith(callerFile)
  const cores = shareOfCores(usableCores(), read.clusterSize)
  const size = sizeOf(startsLater ? { ...read, minWorkers: 0 } : read, cores)
  const queue = queueOf(read)
  const maxQueue = read.maxQueue === 'auto' ? size.maxWorkers ** 2 : read.maxQueue
  const options: PoolSettings = Object.freeze({
    ...read,
    ...size,
    filename,
    module: filename === undefined ? read.module : undefined,
    queue,
    maxQueue: Math.min(maxQueue, queue.capacity ?? Number.POSITIVE_INFINITY),
  })
  return {
    ...options,
    options,
    size,
    handler: handlerProblem === null ? handlerOf(options) : null,
    handlerProblem,
    limits: limitsOf(
      { timeout: options.timeout, queueTimeout: options.queueTimeout, deadline: undefined },
      null,
    ),
    retry: retryOf(options.retry),
    errorClasses: new ErrorClasses(options.errorClasses),
    // On a single core, a busy-wait takes the time of the thread that it waits for.
    spinCores: options.busyWait !== false && cores > 1 ? cores : 0,
    cores,
    workerOptions,
  }
}

/**
 * True in a worker that loads a handler, for a pool of another file. The file may be the program's, which the handler imports. Its pools start
 * workers only for calls.
 */
function isLoadingWith(callerFile: () => string | null): boolean {
  const loading = loadingFiles()
  return loading.size > 0 && !loading.has(callerFile() ?? '')
}

/** Returns the new size. A missing limit changes only if it would contradict the given limit. */
export function resolveResize(given: unknown, present: PoolSize): PoolSize {
  if (!mayHoldOptions(given)) return resizeErrors.noObject(given, 'maxWorkers')
  const { minWorkers, maxWorkers } = resizeTable.read(given, resizeErrors)
  refuseContradiction(minWorkers, maxWorkers)
  const most = maxWorkers ?? Math.max(present.maxWorkers, minWorkers ?? 0)
  return { minWorkers: minWorkers ?? Math.min(present.minWorkers, most), maxWorkers: most }
}

function sizeOf(
  given: { minWorkers: number | undefined; maxWorkers: number | undefined },
  cores: number,
): PoolSize {
  const { minWorkers, maxWorkers } = given
  refuseContradiction(minWorkers, maxWorkers)
  const most = maxWorkers ?? Math.max(cores, minWorkers ?? 1)
  return {
    minWorkers: minWorkers ?? Math.min(Math.max(Math.floor(cores / 2), 1), most),
    maxWorkers: most,
  }
}

function refuseContradiction(minWorkers: number | undefined, maxWorkers: number | undefined): void {
  if (minWorkers === undefined || maxWorkers === undefined || minWorkers <= maxWorkers) return
  poolErrors.contradiction(
    'minWorkers',
    `The option 'minWorkers' (${minWorkers}) must not be above 'maxWorkers' (${maxWorkers}).`,
  )
}

function queueOf({ queue, groups, aging, recordTiming }: ReturnType<typeof poolTable.read>): TaskQueue {
  if (queue !== undefined) {
    const other = groups !== undefined ? 'groups' : 'aging'
    if (groups !== undefined || aging !== undefined)
      poolErrors.contradiction(
        other,
        `The options 'queue' and '${other}' both decide the order of the tasks. Leave one of them out.`,
      )
    return queue
  }
  if (groups !== undefined) return new GroupQueue(groups, aging ?? NONE, recordTiming)
  return aging === undefined ? new FifoQueue() : new PriorityQueue({ aging })
}

/** The file of the option `filename`, or of `module` where its function is not called. */
function handlerFile(
  read: ReturnType<typeof poolTable.read>,
  callerFile: () => string | null,
): string | undefined {
  const { module, backend } = read
  const base = pathOf('base', baseOf(read.base))
  if (read.filename !== undefined && read.filename !== null) {
    if (module !== undefined)
      poolErrors.contradiction(
        'module',
        "The options 'module' and 'filename' both name the handlers. Leave one of them out.",
      )
    const { filename } = read
    const isRelative = base !== null && typeof filename === 'string' && /^\.{1,2}\//.test(filename)
    return pathOf('filename', isRelative ? relativeTo(base, filename) : resolvePoolFile(filename, callerFile))
  }
  if (module === undefined || backend === 'inline') return undefined
  if (isThunk(module)) return pathOf('module', fileOfThunk(module, base, callerFile))
  if (typeof module === 'function')
    return poolErrors.contradiction(
      'module',
      "The option 'module' must be a function without parameters, as in module: () => import('./work.js').",
    )
  return poolErrors.contradiction(
    'module',
    `The option 'module' must be a function with backend '${backend}', because a worker cannot get the functions of this thread. Write module: () => import('./work.js'), base: import.meta.url. Or, in a test, set backend: 'inline'.`,
  )
}

function pathOf<Path extends string | null>(option: string, path: Path | HandlerFileProblem): Path {
  if (!(path instanceof HandlerFileProblem)) return path
  throw new InvalidOptionError(option, `The option '${option}' ${path.text}.`, path.cause)
}

function handlerOf({ filename, module, name }: PoolSettings): HandlerRef | null {
  if (filename !== undefined) return { filename, name }
  return module === undefined ? null : { filename: MODULE_OPTION, name }
}

export function retryOf(retry: RetryOptions | undefined): RetrySettings | null {
  if (retry === undefined || retry.attempts === 1) return null
  return { attempts: retry.attempts, when: retry.when ?? null }
}

interface GivenLimits {
  timeout: number | undefined
  queueTimeout: number | undefined
  /** Milliseconds of the epoch. */
  deadline: number | undefined
}

const NONE = Number.POSITIVE_INFINITY
const UNLIMITED: Limits = { timeoutMs: NONE, queueTimeoutMs: NONE, deadline: NONE }

/** Returns the object `defaults` itself when nothing is given. Returns `null` when nothing is limited. */
export function limitsOf(given: GivenLimits, defaults: Limits | null): Limits | null {
  const { timeout, queueTimeout, deadline } = given
  if (timeout === undefined && queueTimeout === undefined && deadline === undefined) return defaults
  const base = defaults ?? UNLIMITED
  const limits: Limits = {
    timeoutMs: timeout ?? base.timeoutMs,
    queueTimeoutMs: queueTimeout ?? base.queueTimeoutMs,
    deadline: deadline ?? base.deadline,
  }
  const isLimited = Math.min(limits.timeoutMs, limits.queueTimeoutMs, limits.deadline) < NONE
  return isLimited ? limits : null
}

type StartOptions = Pick<
  PoolSettings,
  | 'backend'
  | 'label'
  | 'env'
  | 'argv'
  | 'execArgv'
  | 'workerData'
  | 'resourceLimits'
  | 'trackUnmanagedFds'
  | 'output'
>

/** Copies what the program may change later, so that all workers of the pool start alike. */
function workerOptionsOf(options: StartOptions): Record<string, unknown> {
  const { backend, label, env, argv, execArgv, workerData, resourceLimits, trackUnmanagedFds, output } =
    options
  const isProcess = backend === 'process'
  if (isProcess) refuseForProcesses(options)
  else refuseHeapFlags(env)
  refuseHiddenState(workerData)
  const inherited = isProcess ? inheritedFlags(process.execArgv) : flagsOfThreads()
  const given = {
    eval: false,
    name: label,
    env: isProcess ? processEnvironment(env) : threadEnvironment(env),
    argv: argv && [...argv],
    execArgv: execArgv ? [...execArgv] : inherited,
    inheritsFlags: execArgv === undefined && env === undefined,
    cwd: isProcess ? currentDirectory() : undefined,
    workerData,
    resourceLimits,
    trackUnmanagedFds,
    output: isProcess ? output : undefined,
  }
  return Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  )
}

/** A copy of the given environment, or of the one of this process. */
function threadEnvironment(given: unknown = process.env): unknown {
  return given === SHARE_ENV ? given : ownFields(given as object)
}

/** `undefined` where the folder no longer exists. */
function currentDirectory(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}

/** Throws for a flag in the environment of threads that has an effect only on the whole program. Node would ignore it. */
function refuseHeapFlags(env: unknown): void {
  const given = (env as NodeJS.ProcessEnv | undefined)?.NODE_OPTIONS
  if (env === SHARE_ENV || typeof given !== 'string') return
  const known = process.env.NODE_OPTIONS?.split(/\s+/) ?? []
  const flag = given.split(/\s+/).find(word => HEAP_FLAG.test(word) && !known.includes(word))
  if (flag === undefined) return
  throw new InvalidOptionError(
    'env',
    `NODE_OPTIONS in the option 'env' has ${flag}, which has no effect on threads. ${HEAP_FLAG_REMEDY}`,
  )
}

/** Throws `InvalidOptionError` for an object whose copy would be empty. */
function refuseHiddenState(workerData: unknown): void {
  try {
    outgoing(workerData)
  } catch (failure) {
    throw new InvalidOptionError(
      'workerData',
      `The option 'workerData' cannot be sent. ${messageOf(failure)}`,
      failure,
    )
  }
}

/**
 * Threads inherit the flags of the process by themselves. With `--input-type` of `--eval`, Node would refuse to start a file, so the
 * thread gets a list of the other flags.
 */
function flagsOfThreads(): string[] | undefined {
  const isForText = process.execArgv.some(flag => flag.startsWith('--input-type'))
  return isForText ? inheritedFlags(process.execArgv) : undefined
}

/** Bun tells it since version 1.4. Only Node has `node:sea`. */
function mayBeSingleExecutable(): boolean {
  if (process.versions.bun === undefined) return getBuiltinModule('node:sea')?.isSea() === true
  const { Bun } = globalThis as { Bun?: { isStandaloneExecutable?: boolean } }
  return Bun?.isStandaloneExecutable !== false
}

/** Refuses options that threads support and processes do not. */
function refuseForProcesses({ env, resourceLimits }: StartOptions): void {
  if (mayBeSingleExecutable()) {
    poolErrors.wrong(
      'backend',
      'process',
      "'thread' or 'inline' in a single executable and in Bun before 1.4: each process would run the program again",
    )
  }
  if (env === SHARE_ENV) {
    poolErrors.wrong(
      'env',
      'SHARE_ENV',
      "an object with backend 'process': each process has its own environment",
    )
  }
  for (const limit of ['stackSizeMb', 'codeRangeSizeMb'] as const) {
    const value = resourceLimits?.[limit]
    if (value === undefined) continue
    poolErrors.wrong(
      `resourceLimits.${limit}`,
      value,
      "left out with backend 'process': only the heap of a process is limited",
    )
  }
}
