// What a user may say of one call, checked before the task exists.
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import type { Handler } from '../../shared/messages/handler.js'
import { isMoved, type TransferItem, transferOf, valueSymbol } from '../../shared/messages/move.js'
import type { Call, CallTerms } from '../task/call.js'
import type { RetryOptions, RetrySettings } from '../task/retry.js'
import { ownOptions, refuseFor, resolveSignal } from './call-options.js'
import { HandlerFileProblem, resolveHandlerFile } from './handler-file.js'
import { resolveRetryOfCall } from './life-options.js'
import type { PoolSettings } from './options.js'
import { resolveLimits } from './time-options.js'

export interface RunOptions {
  /** Which export is the handler. Default: the pool's. */
  name?: string | undefined
  /** The handler's file: an absolute path, a `file:` string or a `URL`. Default: the pool's. */
  filename?: string | URL | undefined
  /** Aborting it cancels the task, waiting or running; the call rejects at once with `TaskCancelledError`. */
  signal?: AbortSignal | undefined
  /**
   * Milliseconds from the moment a worker begins the task, after which the call rejects with `TaskTimeoutError`;
   * `Infinity`: no limit. Default: the pool's.
   */
  timeout?: number | undefined
  /**
   * Milliseconds from the call, within which a worker must have begun the task; else the call rejects with
   * `TaskTimeoutError`. `Infinity`: no limit. Default: the pool's.
   */
  queueTimeout?: number | undefined
  /** When the answer must be there: a `Date` or milliseconds of the epoch; else the call rejects with `TaskTimeoutError`. */
  deadline?: Date | number | undefined
  /** The task has its worker to itself, whatever `concurrentTasksPerWorker` says. Default `false`. */
  exclusive?: boolean | undefined
  /** What of the payload is transferred, not copied. */
  transferList?: readonly TransferItem[] | undefined
  /** Higher first; read by `PriorityQueue`. Default 0. */
  priority?: number | undefined
  /** Handed to your own queue. */
  queueOptions?: unknown
  /**
   * Lets the task run again when its worker died while it ran. Not for a task with a `transferList`, whose payload is gone
   * with the worker. Default: the pool's; `{ attempts: 1 }`: never.
   */
  retry?: RetryOptions | undefined
}

const knownOptions = [
  'name',
  'filename',
  'signal',
  'timeout',
  'queueTimeout',
  'deadline',
  'exclusive',
  'transferList',
  'priority',
  'queueOptions',
  'retry',
] as const
const NOTHING: readonly TransferItem[] = Object.freeze([])
const EMPTY: RunOptions = Object.freeze(Object.create(null))

/** The terms of a call that says nothing but its payload. `null`: without a handler from its pool there is no such call. */
export function plainTerms({ handler, limits, retry }: PoolSettings): CallTerms | null {
  if (handler === null) return null
  return Object.freeze({
    handler,
    transferList: NOTHING,
    signal: null,
    limits,
    isExclusive: false,
    priority: 0,
    queueOptions: undefined,
    retry,
  })
}

export function resolveRun(
  payload: unknown,
  given: RunOptions | undefined,
  settings: PoolSettings,
  plain: CallTerms | null,
): Call {
  if (given === undefined && plain !== null && !isMoved(payload)) return { payload, terms: plain }
  const options = given === undefined ? EMPTY : ownOptions<RunOptions>('run()', given, knownOptions, 'signal')
  const handler = resolveHandler(options, settings)
  let transferList = resolveTransferList(options.transferList)
  if (isMoved(payload)) {
    transferList = [...transferList, ...transferOf(payload)]
    payload = payload[valueSymbol]
  }
  const terms = {
    handler,
    transferList,
    signal: resolveSignal('run()', options.signal),
    limits: resolveLimits(options, settings.limits, refuse),
    isExclusive: resolveExclusive(options.exclusive),
    priority: resolvePriority(options.priority),
    queueOptions: options.queueOptions,
    retry: resolveRetry(options.retry, transferList, settings),
  }
  return { payload, terms }
}

/** What was transferred cannot be sent a second time; the pool's default is not meant for such tasks. */
function resolveRetry(
  given: unknown,
  transferList: readonly TransferItem[],
  settings: PoolSettings,
): RetrySettings | null {
  const retry = given === undefined ? settings.retry : resolveRetryOfCall(given)
  if (transferList.length === 0 || retry === null) return retry
  if (given === undefined) return null
  throw new InvalidTaskError(
    'retry',
    "The option 'retry' of run() does not go with a payload that is moved or has a transferList: it is gone with the worker that had it. Leave one of the two out.",
  )
}

/** One object for all calls that say nothing of it. */
function resolveHandler({ filename, name }: RunOptions, settings: PoolSettings): Handler {
  if (filename === undefined && name === undefined && settings.handler !== null) return settings.handler
  return { filename: resolveFilename(filename, settings), name: resolveName(name, settings) }
}

function resolveFilename(given: unknown, settings: PoolSettings): string {
  if (given !== undefined && given !== null) {
    const file = resolveHandlerFile(given)
    if (!(file instanceof HandlerFileProblem)) return file
    throw new InvalidTaskError('filename', `The option 'filename' of run() ${file.text}.`, file.cause)
  }
  if (settings.filename !== null) return settings.filename
  throw new InvalidTaskError('filename', "No handler: give 'filename' to the pool or to run().")
}

function resolveName(given: unknown, settings: PoolSettings): string {
  if (given === undefined || given === null) return settings.name
  if (typeof given === 'string' && given !== '') return given
  return refuse('name', given, 'a string that is not empty')
}

function resolveTransferList(given: unknown): readonly TransferItem[] {
  if (given === undefined) return NOTHING
  if (Array.isArray(given)) return given
  return refuse('transferList', given, 'an array')
}

function resolveExclusive(given: unknown): boolean {
  if (given === undefined) return false
  return typeof given === 'boolean' ? given : refuse('exclusive', given, 'true or false')
}

function refuse(option: string, value: unknown, expected: string): never {
  return refuseFor('run()', option, value, expected)
}

function resolvePriority(given: unknown): number {
  if (given === undefined) return 0
  if (typeof given === 'number' && !Number.isNaN(given)) return given
  return refuse('priority', given, 'a number')
}
