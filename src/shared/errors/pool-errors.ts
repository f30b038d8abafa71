// The errors that a pool gives to its callers. `code` is stable. The message says what happened, then what to do.
import { globalSymbol, hasGlobalMark } from '../platform/global-symbol.js'
import { nearestName } from '../platform/nearest-name.js'
import { shorten } from '../platform/shorten.js'
import { loadMessage } from './load-advice.js'
import { messageOf } from './serialize-error.js'
import { isTooLarge } from './uncloneable-path.js'

/** A bundler may shorten the names of the classes. */
const namesByCode: Readonly<Record<string, string>> = {
  ERR_LIDO_ENGINE: 'EngineError',
  ERR_LIDO_INVALID_OPTION: 'InvalidOptionError',
  ERR_LIDO_INVALID_TASK: 'InvalidTaskError',
  ERR_LIDO_JOB_FAILED: 'JobFailedError',
  ERR_LIDO_JOB_FORMAT: 'JobFormatError',
  ERR_LIDO_JOB_LOST: 'JobLostError',
  ERR_LIDO_NOT_CLONEABLE: 'NotCloneableError',
  ERR_LIDO_PACKAGE_VERSION: 'PoolError',
  ERR_LIDO_POOL_CLOSED: 'PoolClosedError',
  ERR_LIDO_QUEUE_FULL: 'QueueFullError',
  ERR_LIDO_RESTART_LIMIT: 'RestartLimitError',
  ERR_LIDO_TASK_QUARANTINED: 'TaskQuarantinedError',
  ERR_LIDO_TEARDOWN: 'TeardownError',
  ERR_LIDO_VALUE_TOO_LARGE: 'ValueTooLargeError',
  ERR_LIDO_WORKER_EXIT: 'WorkerExitError',
  ERR_LIDO_WORKER_START: 'WorkerStartError',
  ERR_WORKER_OUT_OF_MEMORY: 'WorkerMemoryError',
}
/** The most names of exports in a message. */
const MOST_EXPORTS = 20
const poolErrorMark = globalSymbol('PoolError')

/**
 * The base class of the errors of this package. The stack begins at the line of the call, or has no frames when the error happens
 * after the call. The option `callerStack` adds the place of the call.
 */
export class PoolError extends Error {
  /** Stable, as `'ERR_LIDO_QUEUE_FULL'`. */
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    // `Reflect.set` also works where `Error` is frozen.
    const { stackTraceLimit } = Error
    Reflect.set(Error, 'stackTraceLimit', 0)
    super(message, cause === undefined ? undefined : { cause })
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    this.code = code
    const name = namesByCode[code] ?? new.target.name
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true })
    markPoolError(this)
  }
}

/** Lets `isPoolError()` recognise a copy of an error. */
export function markPoolError(error: PoolError): void {
  Object.defineProperty(error, poolErrorMark, { value: true })
}

/** True for an error of this package, also when the package is installed twice. `instanceof` does not recognise that case. */
export function isPoolError(value: unknown): value is PoolError {
  return hasGlobalMark(value, poolErrorMark)
}

export type PublicFunction = ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)

/**
 * Sets the stack of a `PoolError` to start at the line that called `entry`, a public function that is now on the stack.
 * Does not change other errors.
 */
export function withCallerFrames<T>(error: T, entry: PublicFunction): T {
  if (error instanceof PoolError) Error.captureStackTrace(error, entry)
  return error
}

/**
 * An option of the pool, of `resize()` or of an adapter does not exist, has a wrong value, or contradicts another option. Code
 * `ERR_LIDO_INVALID_OPTION`. Fix the option.
 */
export class InvalidOptionError extends PoolError {
  /** The name of the option, as `'restart.pause'`. */
  readonly option: string

  constructor(option: string, message: string, cause?: unknown) {
    super('ERR_LIDO_INVALID_OPTION', message, cause)
    this.option = option
    Error.captureStackTrace(this, new.target)
  }
}

/**
 * An option of `run()`, `room()` or `close()` is wrong, or neither the pool nor the call gives a `filename`. Code
 * `ERR_LIDO_INVALID_TASK`. Fix the option.
 */
export class InvalidTaskError extends PoolError {
  /** The name of the option. */
  readonly option: string

  constructor(option: string, message: string, cause?: unknown) {
    super('ERR_LIDO_INVALID_TASK', message, cause)
    this.option = option
    Error.captureStackTrace(this, new.target)
  }
}

/**
 * The queue holds `maxQueue` tasks. Code `ERR_LIDO_QUEUE_FULL`. Await `pool.room()` before `run()`, or raise `maxQueue` or
 * `maxWorkers`.
 */
export class QueueFullError extends PoolError {
  /** The pool's `maxQueue`. 0: no task may be queued, and all slots are taken. */
  readonly limit: number

  constructor(limit: number) {
    const what =
      limit === 0
        ? 'All workers are busy and the queue has no room (maxQueue is 0)'
        : `The queue is full: it has reached its limit of ${limit} tasks`
    super(
      'ERR_LIDO_QUEUE_FULL',
      `${what}. In a server, answer with the status 503. Elsewhere call 'await pool.room()' before run(). Or raise maxQueue or maxWorkers.`,
    )
    this.limit = limit
  }
}

const closedMessages = {
  closed:
    'The pool is closing or closed and accepts no more tasks. Create another pool, or call close() later.',
  forced:
    'The pool was closed with force while the task was queued. Call close() without force to run queued tasks.',
  timeout:
    'The task did not finish within closeTimeout after close() was called. Raise closeTimeout, or abort long tasks before close().',
  destroyed:
    'The pool was destroyed before the task finished. Call close() instead, which waits for unfinished tasks.',
} as const

/** The pool takes no more tasks, or it ended before the task finished. Code `ERR_LIDO_POOL_CLOSED`. */
export class PoolClosedError extends PoolError {
  /**
   * `'closed'`: the call came after `close()` or `destroy()`. `'forced'`: `close({ force: true })` removed the queued task.
   * `'timeout'`: the task did not finish within `closeTimeout`. `'destroyed'`: `destroy()` ended the pool.
   */
  readonly reason: keyof typeof closedMessages

  constructor(reason: keyof typeof closedMessages) {
    super('ERR_LIDO_POOL_CLOSED', closedMessages[reason])
    this.reason = reason
  }
}

/** The `signal` of the call was aborted. Code `ERR_LIDO_TASK_CANCELLED`, `name` `'AbortError'`. */
export class TaskCancelledError extends PoolError {
  /** The reason of the signal, or of `cancelQueued()`. `cause` is the same. */
  readonly reason: unknown

  constructor(reason: unknown, why = 'its signal was aborted') {
    super('ERR_LIDO_TASK_CANCELLED', `The task was cancelled: ${why}.`, reason)
    this.reason = reason
    Object.defineProperty(this, 'name', { value: 'AbortError', configurable: true, writable: true })
  }
}

/** The time limits of a task, by the names of the options. */
export type TimeLimit = 'timeout' | 'queueTimeout' | 'deadline'

const limitMessages: Record<TimeLimit, (limitMs: number) => string> = {
  timeout: limitMs =>
    `The task ran longer than its timeout of ${limitMs} ms. Raise 'timeout', or make the task smaller.`,
  queueTimeout: limitMs =>
    `The task did not start within its queueTimeout of ${limitMs} ms. Raise 'queueTimeout' or maxWorkers, or submit fewer tasks at once.`,
  deadline: limitMs =>
    limitMs === 0
      ? "The task's deadline had passed before the call. Set it to a Date, or to Date.now() + milliseconds."
      : `The task did not finish by its deadline, ${limitMs} ms after the call. Set a later deadline, or submit the task earlier.`,
}

/** A time limit of the task is over. Code `ERR_LIDO_TASK_TIMEOUT`, `name` `'TimeoutError'`. */
export class TaskTimeoutError extends PoolError {
  /** The option that set the limit. */
  readonly limit: TimeLimit
  /** The limit in milliseconds. For a deadline: the time from the call to the deadline, or 0 when the deadline had passed. */
  readonly limitMs: number

  constructor(limit: TimeLimit, limitMs: number) {
    super('ERR_LIDO_TASK_TIMEOUT', limitMessages[limit](limitMs))
    this.limit = limit
    this.limitMs = limitMs
    Object.defineProperty(this, 'name', { value: 'TimeoutError', configurable: true, writable: true })
  }
}

/** The base class of errors about one worker. */
export class WorkerError extends PoolError {
  /** The `id` of the worker, as in `pool.workers`. */
  readonly workerId: number

  constructor(code: string, workerId: number, message: string, cause?: unknown) {
    super(code, message, cause)
    this.workerId = workerId
  }
}

/**
 * A worker cannot run the handler. Code `ERR_LIDO_WORKER_START`. `cause` is what the file threw or what the system said. Fix the file;
 * the next start loads it again.
 */
export class WorkerStartError extends WorkerError {
  /** The absolute path of the handler's module. */
  readonly filename: string
  /** The name of the export. */
  readonly handlerName: string
  /**
   * `'load'`: the file is missing, does not parse, throws or exits while it loads. `'handler'`: it exports no function of that name.
   * `'thread'`: no thread or process started.
   */
  readonly stage: 'load' | 'handler' | 'thread'

  /** @param exports the names of the functions that the module has; for the stage `'handler'` */
  constructor(
    workerId: number,
    handler: { filename: string; name: string },
    stage: 'load' | 'handler' | 'thread',
    cause?: unknown,
    exports: readonly string[] = [],
  ) {
    super('ERR_LIDO_WORKER_START', workerId, startMessage(handler, stage, cause, exports), cause)
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

function startMessage(
  handler: { filename: string; name: string },
  stage: string,
  cause: unknown,
  exports: readonly string[],
): string {
  const file = handler.filename === '' ? 'its entry file' : handler.filename
  if (stage === 'handler') {
    return `No function named '${shorten(handler.name)}' is exported from ${file}. ${exportAdvice(handler.name, exports)}`
  }
  if (hasCode(cause, PACKAGE_FILE_MISSING)) return cause.message
  const why = nameAndMessageOf(cause)
  if (stage === 'thread') return `A worker could not be started (${why}). ${startAdvice(cause)}`
  return hasCode(cause, 'ERR_WORKER_OUT_OF_MEMORY') ? memoryMessage(file) : loadMessage(file, cause, why)
}

function exportAdvice(name: string, exports: readonly string[]): string {
  const how =
    name === 'default'
      ? "Write 'export default' or 'module.exports =' before the function"
      : 'Export the function'
  if (exports.length === 0) return `${how}, or set 'name' to another export.`
  const shown = exports.slice(0, MOST_EXPORTS).join(', ')
  const list = exports.length > MOST_EXPORTS ? `${shown} and ${exports.length - MOST_EXPORTS} more` : shown
  const nearest = nearestName(name, exports)
  return `It exports ${list}. ${nearest === undefined ? `${how}, or set 'name' to one of these.` : `Did you mean '${nearest}'?`}`
}

function memoryMessage(file: string): string {
  return `A worker reached its heap limit before it was ready, while it loaded ${file}. Raise resourceLimits.maxOldGenerationSizeMb, or let the file load less. A large workerData counts, too.`
}

function startAdvice(cause: unknown): string {
  if (hasCode(cause, 'ERR_ACCESS_DENIED'))
    return "Start node with --allow-worker, or for backend 'process' with --allow-child-process."
  if (cause instanceof Error && 'exitCode' in cause)
    return 'Read stderr. Check execArgv and the files that it preloads.'
  return 'Lower maxWorkers, or check the limits on threads, processes and open files.'
}

function hasCode(cause: unknown, code: string): cause is Error {
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code === code
}

/**
 * The worker ended while it ran the task. Code `ERR_LIDO_WORKER_EXIT`. Look for `process.exit()` in the handler; with `signal`, or
 * after damage to shared memory, for native code.
 */
export class WorkerExitError extends WorkerError {
  /** The exit code of the worker. If a signal ended a process: 128 plus the number of the signal. */
  readonly exitCode: number
  /** The signal that ended the process, such as `'SIGSEGV'`; `null` for a thread and for a process that exited. */
  readonly signal: string | null

  /**
   * @param wasReady false when the worker ended while it started
   * @param damage what is wrong with the worker's shared memory; `null` when the worker ended for another reason
   */
  constructor(
    workerId: number,
    exitCode: number,
    cause?: unknown,
    signal: string | null = null,
    wasReady = true,
    damage: string | null = null,
  ) {
    const message = damage === null ? exitMessage(exitCode, signal, wasReady) : damageMessage(damage)
    super('ERR_LIDO_WORKER_EXIT', workerId, message, cause)
    this.exitCode = exitCode
    this.signal = signal
  }
}

function damageMessage(damage: string): string {
  return `The pool killed the worker while it held this task, because the worker's shared memory was damaged (${damage}). Look for native code in the handler that writes outside its own memory.`
}

const abortHint =
  'Read stderr for a fatal error: process.abort() was called, native code failed, or the heap limit was reached.'
const nativeHint = 'Look for native code in the handler.'
const signalHints: Record<string, string> = {
  SIGABRT: abortHint,
  SIGKILL: 'Another process or the system killed it, often to free memory. Read the system log.',
  SIGSEGV: nativeHint,
}
/** Windows has no signals. An aborted process of Node exits with 134, and an access violation is 0xC0000005. */
const crashHints: Record<number, string> = { 134: abortHint, 3221225477: nativeHint }

function exitMessage(exitCode: number, signal: string | null, wasReady: boolean): string {
  const when = wasReady ? 'while it held this task' : 'while it started'
  if (signal !== null) {
    const hint = signalHints[signal] ?? 'Find out which process sent the signal.'
    return `The worker was killed by ${signal} ${when}. ${hint}`
  }
  const place = wasReady ? 'the handler' : "the handler's file and in files that --require and --import load"
  const hint =
    crashHints[exitCode] ?? `Look for process.exit() in ${place}, or for code that terminates the worker.`
  return `The worker exited with code ${exitCode} ${when}. ${hint}`
}

/** A payload that a worker could not read. */
export interface UnreadPayload {
  /** Of the payload in the message. `null`: not known. The heap of the worker needs more. */
  readonly bytes: number | null
  /** The option `resourceLimits.maxOldGenerationSizeMb`. `null`: not given. */
  readonly limitMb: number | null
}

/**
 * The worker reached its heap limit while it ran the task, or while it read the payload. The code is Node's own,
 * `ERR_WORKER_OUT_OF_MEMORY`. Raise `resourceLimits.maxOldGenerationSizeMb`, or give the task less data. The pool does not retry a task
 * whose payload was too large.
 */
export class WorkerMemoryError extends WorkerError {
  constructor(workerId: number, cause: unknown, unread: UnreadPayload | null = null) {
    super(
      'ERR_WORKER_OUT_OF_MEMORY',
      workerId,
      unread === null ? REACHED_LIMIT : unreadMessage(unread),
      cause,
    )
  }
}

const REACHED_LIMIT =
  'The worker reached its heap limit while it held this task. Raise resourceLimits.maxOldGenerationSizeMb, or give the task less data.'

/** A payload of this size is not the reason, but it may contain a large shared value. */
const SMALL_BYTES = 2 ** 16

function unreadMessage({ bytes, limitMb }: UnreadPayload): string {
  const limit = limitMb === null ? '' : `, which is limited to ${limitMb} MiB`
  const where = `does not fit into the heap of a worker${limit}. Raise resourceLimits.maxOldGenerationSizeMb`
  if (bytes !== null && bytes < SMALL_BYTES) return `A shared value in the payload ${where}, or share less.`
  const size = bytes === null ? '' : ` has ${(bytes / 2 ** 20).toFixed(1)} MiB in the message, and`
  return `The payload${size} ${where}, send it in parts or in a file, or share its memory.`
}

/**
 * The payload or the result cannot be copied or transferred, or is too large. Code `ERR_LIDO_NOT_CLONEABLE`. `cause` is the reason; if
 * the value is too large, it has `bytes` and `limitBytes`. Send plain data, or `move()` a transferable object.
 */
export class NotCloneableError extends PoolError {
  /** The part that cannot be sent, as `'result.items[3].callback'` or `'transferList[1]'`. */
  readonly path: string

  constructor(path: string, cause: unknown) {
    const why = messageOf(cause)
    // A TypeError says itself what to do. For a process it is the cause of the refusal.
    const saysWhatToDo = hasRemedy(cause) || hasRemedy((cause as Error | undefined)?.cause)
    const advice = saysWhatToDo ? '' : adviceFor(why)
    const message = isTooLarge(cause)
      ? `${path} is too large (${why}). Send it in parts or in a file. Between threads, move() it or share its memory.`
      : `${path} cannot be sent to the other thread: ${why.replace(/\.$/, '')}.${advice}`
    super('ERR_LIDO_NOT_CLONEABLE', message, cause)
    this.path = path
  }
}

function hasRemedy(cause: unknown): boolean {
  return cause instanceof TypeError || (cause instanceof Error && 'remedy' in cause)
}

function adviceFor(why: string): string {
  return why.includes('detached')
    ? ' It was moved before. Create a new buffer for each call, or send a copy.'
    : ' Functions, promises and open resources cannot be copied. Send plain data; move() transfers buffers and ports.'
}

/**
 * Too many workers failed to start, no worker is alive, and the pool starts none for now. Code `ERR_LIDO_RESTART_LIMIT`. `cause` is the
 * failure of the last start. Fix the handler's file; `pool.reload()` tries at once.
 */
export class RestartLimitError extends WorkerError {
  /** The option `restart.failures`. */
  readonly failures: number
  /** The option `restart.period`, in milliseconds. */
  readonly period: number
  /** Milliseconds until a call starts one worker again. `Infinity`: never. */
  readonly retryAfter: number

  constructor(
    workerId: number,
    { failures, period, retryAfter }: { failures: number; period: number; retryAfter: number },
    cause: Error,
  ) {
    const pause =
      retryAfter < Number.POSITIVE_INFINITY
        ? `The pool starts no worker for ${retryAfter} ms; the first call after that tries again`
        : 'The pool starts no more workers'
    super(
      'ERR_LIDO_RESTART_LIMIT',
      workerId,
      `${failures} workers failed to start within ${period} ms (the last: ${cause.message}) ${pause}. Change these limits with the option 'restart', or call pool.reload() to try now.`,
      cause,
    )
    this.failures = failures
    this.period = period
    this.retryAfter = retryAfter
  }
}

/**
 * Two or more workers ended while they ran this task, which has `retry` and no attempt left. Code `ERR_LIDO_TASK_QUARANTINED`. `cause` is
 * the error of the last attempt. Look at the payload.
 */
export class TaskQuarantinedError extends PoolError {
  /** How many workers ended. */
  readonly workers: number

  constructor(workers: number, cause: unknown) {
    super(
      'ERR_LIDO_TASK_QUARANTINED',
      `The pool does not run the task again: ${workers} workers died while they ran it (the last: ${messageOf(cause)}) Check its payload, or raise retry.attempts.`,
      cause,
    )
    this.workers = workers
  }
}

/**
 * A `teardown` export threw `cause`. Without a `cause`: it took longer than `teardownTimeout`. Code `ERR_LIDO_TEARDOWN`. The pool emits it
 * as the event `error`.
 */
export class TeardownError extends WorkerError {
  constructor(workerId: number, timeout: number, cause?: unknown) {
    const what =
      cause === undefined
        ? `did not finish within ${timeout} ms, so the pool killed the worker. Make it faster, or raise teardownTimeout`
        : `threw (${nameAndMessageOf(cause)}). The worker stopped anyway. Fix the teardown of the handler's module`
    super('ERR_LIDO_TEARDOWN', workerId, `The teardown of worker ${workerId} ${what}.`, cause)
  }
}
