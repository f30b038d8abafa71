// The errors that a pool gives to its callers. Each family says who must act: the caller's code, the caller's pace, the order
// of events, the operator, the caller's data. `code` is stable. The message ends with the next step.
import { globalSymbol, hasGlobalMark } from '../platform/global-symbol.js'
import { messageOf } from './serialize-error.js'
import { isTooLarge } from './uncloneable-path.js'

const poolErrorMark = globalSymbol('PoolError')

/**
 * An error of this package. Most are made long after the call, so the stack holds no frames: those of this package tell a
 * user nothing. `withCallerFrames` adds the frames of a caller.
 */
export class PoolError extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    // `Reflect.set` also works where `Error` is frozen.
    const { stackTraceLimit } = Error
    Reflect.set(Error, 'stackTraceLimit', 0)
    super(message, cause === undefined ? undefined : { cause })
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    this.code = code
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true })
    Object.defineProperty(this, poolErrorMark, { value: true })
  }
}

/** Tells an error of this package from a handler's own error, also when the package is installed twice. */
export function isPoolError(value: unknown): value is PoolError {
  return hasGlobalMark(value, poolErrorMark)
}

export type PublicFunction = ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)

/**
 * Lets the stack of a `PoolError` begin at the line that called `entry`, a public function that is running now. Other errors
 * stay as they are.
 */
export function withCallerFrames<T>(error: T, entry: PublicFunction): T {
  if (error instanceof PoolError) Error.captureStackTrace(error, entry)
  return error
}

/** An option of the pool has the wrong type or value, contradicts another, or does not exist. `option` names it. */
export class InvalidOptionError extends PoolError {
  readonly option: string

  constructor(option: string, message: string, cause?: unknown) {
    super('ERR_LIDO_INVALID_OPTION', message, cause)
    this.option = option
    Error.captureStackTrace(this, new.target)
  }
}

/** An option of one call is wrong, or the call names no file. `option` names it. */
export class InvalidTaskError extends PoolError {
  readonly option: string

  constructor(option: string, message: string, cause?: unknown) {
    super('ERR_LIDO_INVALID_TASK', message, cause)
    this.option = option
    Error.captureStackTrace(this, new.target)
  }
}

/** The queue holds `limit` tasks, and no more are allowed to wait. */
export class QueueFullError extends PoolError {
  readonly limit: number

  constructor(limit: number) {
    const what =
      limit === 0
        ? 'All workers are busy and no task may wait'
        : `The queue holds its limit of ${limit} tasks`
    super(
      'ERR_LIDO_QUEUE_FULL',
      `${what}. Call 'await pool.room()' before run(), or raise maxQueue or maxWorkers.`,
    )
    this.limit = limit
  }
}

const closedMessages = {
  closed: 'The pool is closing or closed and takes no more tasks. Create another, or close it later.',
  forced: 'The pool was closed with force while the task waited. Call close() without force to let it run.',
  timeout:
    'The task did not finish within closeTimeout after close() was called. Raise closeTimeout, or abort long tasks before close().',
  destroyed: 'The pool was destroyed before the task finished. Call close() instead to let tasks finish.',
} as const

/**
 * The pool takes no more tasks (`reason` is `'closed'`), or it ended before this task could finish: it was closed with
 * force while the task waited (`'forced'`), `closeTimeout` was over (`'timeout'`), or it was destroyed (`'destroyed'`).
 */
export class PoolClosedError extends PoolError {
  readonly reason: keyof typeof closedMessages

  constructor(reason: keyof typeof closedMessages) {
    super('ERR_LIDO_POOL_CLOSED', closedMessages[reason])
    this.reason = reason
  }
}

/** The signal of the call was aborted. `reason` and `cause` are the signal's reason. Its `name` is `'AbortError'`. */
export class TaskCancelledError extends PoolError {
  readonly reason: unknown

  constructor(reason: unknown) {
    super('ERR_LIDO_TASK_CANCELLED', 'The task was cancelled: its signal was aborted.', reason)
    this.reason = reason
    Object.defineProperty(this, 'name', { value: 'AbortError', configurable: true, writable: true })
  }
}

/** The limits of a task's time, by the names of the options. */
export type TimeLimit = 'timeout' | 'queueTimeout' | 'deadline'

const limitMessages: Record<TimeLimit, (limitMs: number) => string> = {
  timeout: limitMs =>
    `The task ran longer than its timeout of ${limitMs} ms. Raise 'timeout', or give it less to do.`,
  queueTimeout: limitMs =>
    `The task did not start within its queueTimeout of ${limitMs} ms. Raise 'queueTimeout' or maxWorkers, or submit fewer tasks at once.`,
  deadline: limitMs =>
    limitMs === 0
      ? "The task's deadline had passed when it was submitted. Give a Date, or Date.now() + milliseconds."
      : `The task was not done by its deadline, ${limitMs} ms after the call. Give it more time, or submit it earlier.`,
}

/** A limit of the task's time is over. `limit` names the option. Its `name` is `'TimeoutError'`. */
export class TaskTimeoutError extends PoolError {
  readonly limit: TimeLimit
  /** The limit in milliseconds. For a deadline: the time from the call to the deadline, 0 when it had passed. */
  readonly limitMs: number

  constructor(limit: TimeLimit, limitMs: number) {
    super('ERR_LIDO_TASK_TIMEOUT', limitMessages[limit](limitMs))
    this.limit = limit
    this.limitMs = limitMs
    Object.defineProperty(this, 'name', { value: 'TimeoutError', configurable: true, writable: true })
  }
}

/** Something happened to the worker `workerId` (as in `pool.workers`), and the operator should know. */
export class WorkerError extends PoolError {
  readonly workerId: number

  constructor(code: string, workerId: number, message: string, cause?: unknown) {
    super(code, message, cause)
    this.workerId = workerId
  }
}

/** A worker cannot run the handler: its file is missing, throws, exits, does not parse, or has no such function. */
export class WorkerStartError extends WorkerError {
  readonly filename: string
  /** The name of the export. */
  readonly handlerName: string
  /** `'load'`: the file did not load. `'handler'`: it loaded, but has no such function. `'thread'`: no thread or process started. */
  readonly stage: 'load' | 'handler' | 'thread'

  constructor(
    workerId: number,
    handler: { filename: string; name: string },
    stage: 'load' | 'handler' | 'thread',
    cause?: unknown,
  ) {
    super('ERR_LIDO_WORKER_START', workerId, startMessage(handler, stage, cause), cause)
    this.filename = handler.filename
    this.handlerName = handler.name
    this.stage = stage
  }
}

/** The `code` of an error of the backend: a file of this package is missing. */
export const PACKAGE_FILE_MISSING = 'ERR_LIDO_PACKAGE_FILE_MISSING'

function nameAndMessageOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : messageOf(cause)
}

function startMessage(handler: { filename: string; name: string }, stage: string, cause: unknown): string {
  const file = handler.filename === '' ? 'its entry file' : handler.filename
  if (stage === 'handler') {
    return `No function named '${handler.name}' is exported from ${file}. Export one, or give its name in 'name'.`
  }
  if (hasCode(cause, PACKAGE_FILE_MISSING)) return cause.message
  const why = nameAndMessageOf(cause)
  if (stage === 'thread') return `A worker could not be started (${why}). ${startAdvice(cause)}`
  // The file of a module or of a native addon is missing, or it is a folder.
  const { code } = Object(cause)
  if (/MODULE_NOT_FOUND|DIR_IMPORT/.test(code) && why.includes(`'${file}'`)) {
    return `There is no file ${file}. Give the right one in 'filename'. Later calls find it once it exists.`
  }
  const advice = hasCode(cause, 'ERR_UNKNOWN_FILE_EXTENSION')
    ? "This Node.js does not run such files: compile it, or give a loader, as in execArgv: ['--import', 'tsx'] (inline: to the program)."
    : 'Fix the file. The next call loads it again.'
  return `A worker could not load ${file} (${why}). ${advice}`
}

function startAdvice(cause: unknown): string {
  if (hasCode(cause, 'ERR_ACCESS_DENIED'))
    return "Start node with --allow-worker, for backend 'process' --allow-child-process."
  if (cause instanceof Error && 'exitCode' in cause)
    return 'Read stderr. Check execArgv and the files that it preloads.'
  return 'Lower maxWorkers, or check the limits on threads, processes and open files.'
}

function hasCode(cause: unknown, code: string): cause is Error {
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code === code
}

/** The worker ended while it held the task. A process that a signal ended has an `exitCode` of 128 and the signal's number. */
export class WorkerExitError extends WorkerError {
  readonly exitCode: number
  /** The signal that ended the process, such as `'SIGSEGV'`; `null` for a thread and for a process that exited. */
  readonly signal: string | null

  /** @param wasReady false when the worker ended while it started */
  constructor(
    workerId: number,
    exitCode: number,
    cause?: unknown,
    signal: string | null = null,
    wasReady = true,
  ) {
    super('ERR_LIDO_WORKER_EXIT', workerId, exitMessage(exitCode, signal, wasReady), cause)
    this.exitCode = exitCode
    this.signal = signal
  }
}

const signalHints: Record<string, string> = {
  SIGABRT:
    'Read stderr for a fatal error: process.abort() was called, native code failed, or the heap limit was reached.',
  SIGKILL: 'Another process or the system killed it, often to free memory. Read the system log.',
  SIGSEGV: 'Look for native code in the handler.',
}

function exitMessage(exitCode: number, signal: string | null, wasReady: boolean): string {
  const when = wasReady ? 'while it held this task' : 'while it started'
  if (signal !== null) {
    const hint = signalHints[signal] ?? 'Find out which process sent the signal.'
    return `The worker was ended by ${signal} ${when}. ${hint}`
  }
  const place = wasReady ? 'the handler' : "the handler's file and in files that --require and --import load"
  return `The worker ended with exit code ${exitCode} ${when}. Look for process.exit() in ${place}, or for code that ends the worker.`
}

/** The worker reached its heap limit while it held the task. The code is Node's own. */
export class WorkerMemoryError extends WorkerError {
  constructor(workerId: number, cause: unknown) {
    super(
      'ERR_WORKER_OUT_OF_MEMORY',
      workerId,
      'The worker reached its heap limit while it held this task. Raise resourceLimits.maxOldGenerationSizeMb, or give the task less data.',
      cause,
    )
  }
}

/** A payload or a result cannot be copied to the other side, or is too large. `path` names the part: `result.items[3].callback`. */
export class NotCloneableError extends PoolError {
  readonly path: string

  constructor(path: string, cause: unknown) {
    const why = messageOf(cause)
    const message = isTooLarge(cause)
      ? `${path} is too large (${why}). Send it in parts or in a file. Between threads, move() it or share its memory.`
      : `${path} cannot be sent to the other thread (${why}). Send plain data, or move() a transferable object.`
    super('ERR_LIDO_NOT_CLONEABLE', message, cause)
    this.path = path
  }
}

/**
 * Workers failed to start `failures` times within `period` ms, so the pool starts none for a while. After `retryAfter` ms a
 * call tries one. `cause` is the failure of the last start.
 */
export class RestartLimitError extends WorkerError {
  readonly failures: number
  readonly period: number
  readonly retryAfter: number

  constructor(
    workerId: number,
    { failures, period, retryAfter }: { failures: number; period: number; retryAfter: number },
    cause: Error,
  ) {
    const next =
      retryAfter < Number.POSITIVE_INFINITY ? `now; a call in ${retryAfter} ms tries one` : 'any more'
    super(
      'ERR_LIDO_RESTART_LIMIT',
      workerId,
      `${failures} workers failed to start within ${period} ms (the last: ${cause.message}) None is started ${next}. The option 'restart' sets these limits; pool.reload() tries at once.`,
      cause,
    )
    this.failures = failures
    this.period = period
    this.retryAfter = retryAfter
  }
}

/** The task may run again (option `retry`), and `workers` workers ended while they ran it. `cause` says why the last one ended. */
export class TaskQuarantinedError extends PoolError {
  readonly workers: number

  constructor(workers: number, cause: unknown) {
    super(
      'ERR_LIDO_TASK_QUARANTINED',
      `The task is not run again: ${workers} workers ended while it ran (the last: ${messageOf(cause)}) Look at its payload, or raise retry.attempts.`,
      cause,
    )
    this.workers = workers
  }
}

/** A `teardown` export threw `cause`, or without a `cause` it took longer than `teardownTimeout`. The event `error` tells it. */
export class TeardownError extends WorkerError {
  constructor(workerId: number, timeout: number, cause?: unknown) {
    const what =
      cause === undefined
        ? `was not done within ${timeout} ms, so the worker was killed. Make it faster, or raise teardownTimeout`
        : `threw (${nameAndMessageOf(cause)}). The worker ended anyway. Fix the teardown of the handler's module`
    super('ERR_LIDO_TEARDOWN', workerId, `The teardown of worker ${workerId} ${what}.`, cause)
  }
}
