// The errors a pool gives its callers. A family says who must act: the caller's code, the caller's pace, the order of
// events, the operator, the caller's data. `code` is stable; the message says what to do next.
import { globalSymbol, hasGlobalMark } from '../platform/global-symbol.js'
import { OwnFileError } from './own-file-error.js'
import { messageOf } from './plain-copy.js'
import { isTooLarge } from './too-large.js'

const poolErrorBrand = globalSymbol('PoolError')

export class PoolError extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true })
    Object.defineProperty(this, poolErrorBrand, { value: true })
  }
}

/** Tells an error of this package from a handler's own, also when the package is present twice. */
export function isPoolError(value: unknown): value is PoolError {
  return hasGlobalMark(value, poolErrorBrand)
}

/** An option of the pool has the wrong type or value, contradicts another, or does not exist. `option` names it. */
export class InvalidOptionError extends PoolError {
  readonly option: string

  constructor(option: string, message: string, cause?: unknown) {
    super('ERR_LIDO_INVALID_OPTION', message, cause)
    this.option = option
  }
}

/** An option of one call is wrong, or the call names no file. `option` names it. */
export class InvalidTaskError extends PoolError {
  readonly option: string

  constructor(option: string, message: string, cause?: unknown) {
    super('ERR_LIDO_INVALID_TASK', message, cause)
    this.option = option
  }
}

/** `limit` tasks wait already. */
export class QueueFullError extends PoolError {
  readonly limit: number

  constructor(limit: number) {
    const holds =
      limit === 0
        ? 'All workers are busy and no task may wait'
        : `The queue holds its limit of ${limit} tasks`
    super(
      'ERR_LIDO_QUEUE_FULL',
      `${holds}. Call 'await pool.room()' before run(), or raise maxQueue or maxThreads.`,
    )
    this.limit = limit
  }
}

const closedMessages = {
  closed: 'The pool is closing or closed and takes no more tasks. Create another, or close it later.',
  forced: 'The pool was closed with force while the task waited.',
  timeout:
    'The task did not finish within closeTimeout of close(). Raise closeTimeout, or abort such tasks before.',
  destroyed: 'The pool was destroyed before the task finished.',
} as const

/**
 * The pool takes no more tasks (`reason` is `'closed'`), or it ended before this one could finish: it was closed with
 * force while the task waited (`'forced'`), `closeTimeout` was over (`'timeout'`), or it was destroyed (`'destroyed'`).
 */
export class PoolClosedError extends PoolError {
  readonly reason: keyof typeof closedMessages

  constructor(reason: keyof typeof closedMessages) {
    super('ERR_LIDO_POOL_CLOSED', closedMessages[reason])
    this.reason = reason
  }
}

/** The task was cancelled: its signal was aborted. `reason` and `cause` are the signal's reason. */
export class TaskCancelledError extends PoolError {
  readonly reason: unknown

  constructor(
    reason: unknown,
    code = 'ERR_LIDO_TASK_CANCELLED',
    message = 'The task was cancelled: its signal was aborted.',
    name = 'AbortError',
  ) {
    super(code, message, reason)
    this.reason = reason
    Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true })
  }
}

/** The limits of a task's time, by the names of the options. */
export type TimeLimit = 'timeout' | 'queueTimeout' | 'deadline'

const limitMessages: Record<TimeLimit, (limitMs: number) => string> = {
  timeout: limitMs =>
    `The task ran longer than its timeout of ${limitMs} ms. Raise 'timeout', or give it less to do.`,
  queueTimeout: limitMs =>
    `The task did not begin within its queueTimeout of ${limitMs} ms. Raise 'queueTimeout' or maxThreads, or submit fewer at once.`,
  deadline: limitMs =>
    limitMs === 0
      ? "The task's deadline had passed when it was submitted. Give a Date, or Date.now() + milliseconds."
      : `The task was not done by its deadline, ${limitMs} ms after the call. Give it more time, or submit it earlier.`,
}

/**
 * A limit of the task's time is over: `limit` names the option, `limitMs` says how many milliseconds it came to. It is a
 * `TaskCancelledError` whose `name` is `'TimeoutError'` and whose `reason` is `undefined`.
 */
export class TaskTimeoutError extends TaskCancelledError {
  readonly limit: TimeLimit
  /** For a deadline: what was left of the time when the task was submitted; 0 when it had passed. */
  readonly limitMs: number

  constructor(limit: TimeLimit, limitMs: number) {
    super(undefined, 'ERR_LIDO_TASK_TIMEOUT', limitMessages[limit](limitMs), 'TimeoutError')
    this.limit = limit
    this.limitMs = limitMs
  }
}

/** Something happened to a worker, `workerId` (as in `pool.workers`), that the operator should know. */
export class WorkerError extends PoolError {
  readonly workerId: number

  constructor(code: string, workerId: number, message: string, cause?: unknown) {
    super(code, message, cause)
    this.workerId = workerId
  }
}

/** The handler could not be had: its file is missing, throws, exits, does not parse, or has no such function. */
export class WorkerStartError extends WorkerError {
  readonly filename: string
  /** The export that was asked for. */
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

function nameAndMessageOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : messageOf(cause)
}

function startMessage(handler: { filename: string; name: string }, stage: string, cause: unknown): string {
  const file = handler.filename === '' ? 'its entry file' : handler.filename
  if (stage === 'handler') {
    return `No function named '${handler.name}' is exported from ${file}. Export one, or give its name in 'name'.`
  }
  if (cause instanceof OwnFileError) return cause.message
  const why = nameAndMessageOf(cause)
  if (stage === 'thread') return `A worker could not be started (${why}). ${startAdvice(cause)}`
  // Of a module, or of a native addon; or it is a folder.
  const { code } = Object(cause)
  if (/MODULE_NOT_FOUND|DIR_IMPORT/.test(code) && why.includes(`'${file}'`)) {
    return `There is no file ${file}. Give the right one in 'filename'; once it is there, later calls find it.`
  }
  const mend = hasCode(cause, 'ERR_UNKNOWN_FILE_EXTENSION')
    ? "This Node.js does not run such files: compile it, or give a loader, as in execArgv: ['--import', 'tsx'] (inline: to the program)."
    : 'Mend the file; later calls try it again.'
  return `A worker could not load ${file} (${why}). ${mend}`
}

function startAdvice(cause: unknown): string {
  if (hasCode(cause, 'ERR_ACCESS_DENIED'))
    return "Start node with --allow-worker, for backend 'process' --allow-child-process."
  if (cause instanceof Error && 'exitCode' in cause)
    return 'Look on stderr, and at execArgv and what it has Node load first.'
  return 'Lower maxThreads, or check the limits on threads, processes and open files.'
}

function hasCode(cause: unknown, code: string): cause is Error {
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code === code
}

/** The worker ended while it held the task. */
export class WorkerExitError extends WorkerError {
  /** Of a process that a signal ended: 128 and the signal's number, as shells count. */
  readonly exitCode: number
  /** The signal that ended the worker's process, as `'SIGSEGV'`; `null` for a thread and for a process that exited. */
  readonly signal: string | null

  /** @param wasReady it had started */
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
    'Look on stderr for a fatal error: process.abort() was called, native code gave up, or, where the runtime does not tell, the heap limit was reached.',
  SIGKILL: 'It was killed from outside, often for memory: look at what the system logged.',
  SIGSEGV: 'Look for native code in the handler.',
}

function exitMessage(exitCode: number, signal: string | null, wasReady: boolean): string {
  const when = wasReady ? 'while it held this task' : 'while it started'
  if (signal !== null) {
    const hint = signalHints[signal] ?? 'Look for who sent it.'
    return `The worker was ended by ${signal} ${when}. ${hint}`
  }
  const place = wasReady ? 'the handler' : "the handler's file, or in what --require and --import load"
  return `The worker ended with exit code ${exitCode} ${when}. Look for process.exit() in ${place}, or for code that ended the worker.`
}

/** The worker reached its heap limit while it held the task. The code is Node's own. */
export class WorkerMemoryError extends WorkerError {
  constructor(workerId: number, cause: unknown) {
    super(
      'ERR_WORKER_OUT_OF_MEMORY',
      workerId,
      'The worker reached its heap limit while it held this task. Raise resourceLimits.maxOldGenerationSizeMb or give it less at once.',
      cause,
    )
  }
}

/** A payload or a result cannot be copied to the other thread or process, or is too large for that. `path` says where, as in `result.items[3].callback`. */
export class NotCloneableError extends PoolError {
  readonly path: string

  constructor(path: string, cause: unknown) {
    const why = messageOf(cause)
    const message = isTooLarge(cause)
      ? `${path} is too large (${why}). Send it in parts, or by a file; between threads move() it, or share its memory.`
      : `${path} cannot be sent to the other thread (${why}). Send plain data, or move() what can be transferred.`
    super('ERR_LIDO_NOT_CLONEABLE', message, cause)
    this.path = path
  }
}

/**
 * Workers failed to start `failures` times within `period` ms, so none is started for a while; `retryAfter` says in how many ms
 * one may be tried again, after which a call does so. `cause` is what the last start failed of.
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

/** The task's `retry` let it run again, and it lost `workers` workers, each while it ran. `cause` is how the last one ended. */
export class TaskQuarantinedError extends PoolError {
  readonly workers: number

  constructor(workers: number, cause: unknown) {
    const why = messageOf(cause)
    super(
      'ERR_LIDO_TASK_QUARANTINED',
      `The task is not run again: ${workers} workers ended while it ran (the last: ${why}) Look at its payload, or raise retry.attempts.`,
      cause,
    )
    this.workers = workers
  }
}

/** A `teardown` export threw, or it was not done within `teardownTimeout` (then there is no `cause`). Told as an event `error`. */
export class TeardownError extends WorkerError {
  constructor(workerId: number, timeout: number, cause?: unknown) {
    const why = nameAndMessageOf(cause)
    const what =
      cause === undefined
        ? `was not done within ${timeout} ms, so the worker was killed. Make it quicker, or raise teardownTimeout`
        : `threw (${why}). The worker ended all the same; mend the teardown of the handler's module`
    super('ERR_LIDO_TEARDOWN', workerId, `The teardown of worker ${workerId} ${what}.`, cause)
  }
}
