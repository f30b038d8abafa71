// The options of `run()`, `room()` and `close()`: their types, their tables, and the terms of a call made from them.
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import { isMoved, type TransferItem, transferOf, valueSymbol } from '../../shared/messages/move.js'
import { boolean, milliseconds, unchecked, value } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  type OptionRule,
  OptionTable,
  type Resolved,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { types } from '../../shared/platform/node-modules.js'
import type { Call, CallTerms } from '../task/call.js'
import type { RetryOptions, RetrySettings } from '../task/retry.js'
import { HandlerFileProblem, resolveHandlerFile } from './handler-file.js'
import { type CoreSettings, limitsOf, retryOf } from './options.js'
import { retryRule } from './pool-table.js'

export interface RunOptions {
  /** Which export is the handler. Default: the pool's. */
  name?: string | undefined
  /** The handler's file: an absolute path, a `file:` string or a `URL`. Default: the pool's. */
  filename?: string | URL | undefined
  /** Aborting it cancels the task, waiting or running; the call rejects at once with `TaskCancelledError`. */
  signal?: AbortSignal | undefined
  /**
   * Milliseconds that the task may run, from its start in a worker. Then the call rejects with `TaskTimeoutError`;
   * `Infinity`: no limit. Default: the pool's.
   */
  timeout?: number | undefined
  /**
   * Milliseconds that the task may wait, from the call until a worker starts it. Then the call rejects with
   * `TaskTimeoutError`; `Infinity`: no limit. Default: the pool's.
   */
  queueTimeout?: number | undefined
  /** When the answer must be there: a `Date` or milliseconds of the epoch. Then the call rejects with `TaskTimeoutError`. */
  deadline?: Date | number | undefined
  /** The task has its worker to itself, whatever `concurrentTasksPerWorker` says. Default `false`. */
  exclusive?: boolean | undefined
  /** Parts of the payload that are transferred, not copied. */
  transferList?: readonly TransferItem[] | undefined
  /** Higher first; read by `PriorityQueue`. Default 0. */
  priority?: number | undefined
  /** Handed to your own queue. */
  queueOptions?: unknown
  /**
   * Runs the task again when its worker died. Not for a task with a `transferList`, whose payload is gone with the worker.
   * Default: the pool's; `{ attempts: 1 }`: never.
   */
  retry?: RetryOptions | undefined
}

export interface RoomOptions {
  /** Aborting it ends the wait: the call rejects with `TaskCancelledError`. */
  signal?: AbortSignal | undefined
}

export interface CloseOptions {
  /** Rejects the tasks that wait with `PoolClosedError` instead of running them. Default `false`. */
  force?: boolean | undefined
}

export interface CloseReport {
  /** Accepted tasks that did not get to finish. */
  cutOff: number
  /** `closeTimeout` was over before the tasks, or the workers' teardowns, were done. */
  timedOut: boolean
}

const { isDate } = types
const NOTHING: readonly TransferItem[] = Object.freeze([])

function isSignal(given: unknown): boolean {
  if (given === null) return true
  const signal = given as AbortSignal
  return (
    typeof signal === 'object' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function' &&
    'aborted' in signal
  )
}

function signalRule(description: string): OptionRule<AbortSignal | null | undefined> {
  return value(isSignal, 'an AbortSignal', { type: '`AbortSignal`', default: undefined, description })
}

export const runTable = new OptionTable({
  name: value<string | null | undefined>(
    given => given === null || (typeof given === 'string' && given !== ''),
    'a string that is not empty',
    {
      type: 'string',
      default: undefined,
      defaultText: "the pool's",
      description: 'which export of the module is the handler',
    },
  ),
  filename: unchecked<string | URL | undefined>({
    type: 'absolute path, `file:` string or `URL`',
    default: undefined,
    defaultText: "the pool's",
    description: 'module with the handler',
  }),
  signal: signalRule('cancels the task when it is aborted'),
  timeout: milliseconds(false, {
    default: undefined,
    defaultText: "the pool's",
    description: 'how long the task may run, from its start in a worker',
  }),
  queueTimeout: milliseconds(true, {
    default: undefined,
    defaultText: "the pool's",
    description: 'how long the task may wait, from the call until a worker starts it',
  }),
  deadline: value<Date | number | undefined>(
    given => !Number.isNaN(isDate(given) ? given.getTime() : typeof given === 'number' ? given : Number.NaN),
    'a valid Date, or milliseconds of the epoch',
    { type: '`Date`, or ms of the epoch', default: undefined, description: 'when the result must be there' },
  ),
  exclusive: boolean({ default: false, description: 'gives the task its worker to itself' }),
  transferList: value<readonly TransferItem[]>(Array.isArray, 'an array', {
    type: 'array',
    default: NOTHING,
    description: 'parts of the payload that are transferred, not copied',
  }),
  priority: value<number>(given => typeof given === 'number' && !Number.isNaN(given), 'a number', {
    type: 'number',
    default: 0,
    description: 'higher first; read by `PriorityQueue`',
  }),
  queueOptions: unchecked<unknown>({
    type: 'any',
    default: undefined,
    description: 'value for your own queue',
  }),
  retry: { ...retryRule, defaultText: "the pool's" },
} satisfies RulesFor<RunOptions>)

const roomTable = new OptionTable({
  signal: signalRule('ends the wait when it is aborted'),
} satisfies RulesFor<RoomOptions>)

const closeTable = new OptionTable({
  force: boolean({ default: false, description: 'rejects the tasks that wait' }),
} satisfies RulesFor<CloseOptions>)

const runErrors = new OptionErrors('run()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  transfer: "Use 'transferList'.",
})
const roomErrors = new OptionErrors('room()', InvalidTaskError)
const closeErrors = new OptionErrors('close()', InvalidTaskError)

/** The terms of a call that has no options. `null`: without a handler of its pool there is no such call. */
export function plainTerms({ handler, limits, retry }: CoreSettings): CallTerms | null {
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

/** Throws `InvalidTaskError`. */
export function resolveRun(
  payload: unknown,
  given: RunOptions | undefined,
  settings: CoreSettings,
  plain: CallTerms | null,
): Call {
  if (given === undefined && plain !== null && !isMoved(payload)) return { payload, terms: plain }
  if (given !== undefined && !mayHoldOptions(given)) runErrors.noObject(given, 'signal')
  const options = runTable.read(given ?? {}, runErrors)
  const handler = handlerOf(options, settings)
  let { transferList } = options
  if (isMoved(payload)) {
    transferList = [...transferList, ...transferOf(payload)]
    payload = payload[valueSymbol]
  }
  const { timeout, queueTimeout, deadline } = options
  const terms: CallTerms = {
    handler,
    transferList,
    signal: options.signal ?? null,
    limits: limitsOf({ timeout, queueTimeout, deadline: deadline && Number(deadline) }, settings.limits),
    isExclusive: options.exclusive,
    priority: options.priority,
    queueOptions: options.queueOptions,
    retry: retryOfCall(options.retry, transferList, settings),
  }
  return { payload, terms }
}

/** Throws `InvalidTaskError`. */
export function resolveRoom(given: unknown): AbortSignal | null {
  if (given === undefined) return null
  if (!mayHoldOptions(given)) return roomErrors.noObject(given, 'signal')
  return roomTable.read(given, roomErrors).signal ?? null
}

/** Throws `InvalidTaskError`. */
export function resolveClose(given: unknown): Resolved<(typeof closeTable)['rules']> {
  if (!mayHoldOptions(given)) return closeErrors.noObject(given, 'force')
  return closeTable.read(given, closeErrors)
}

/** A transferred payload cannot be sent a second time. The pool's default leaves such tasks out. */
function retryOfCall(
  given: RetryOptions | undefined,
  transferList: readonly TransferItem[],
  settings: CoreSettings,
): RetrySettings | null {
  const retry = given === undefined ? settings.retry : retryOf(given)
  if (transferList.length === 0 || retry === null) return retry
  if (given === undefined) return null
  throw new InvalidTaskError(
    'retry',
    "The option 'retry' of run() does not go with a payload that is moved or has a transferList: it is gone with the worker that had it. Leave one of the two out.",
  )
}

type ReadRunOptions = Resolved<(typeof runTable)['rules']>

/** The pool's own object for all calls that name no handler. */
function handlerOf({ filename, name }: ReadRunOptions, settings: CoreSettings): HandlerRef {
  if (filename === undefined && name === undefined && settings.handler !== null) return settings.handler
  return { filename: fileOf(filename, settings), name: name ?? settings.name }
}

function fileOf(given: unknown, settings: CoreSettings): string {
  if (given !== undefined && given !== null) {
    const file = resolveHandlerFile(given)
    if (!(file instanceof HandlerFileProblem)) return file
    throw new InvalidTaskError('filename', `The option 'filename' of run() ${file.text}.`, file.cause)
  }
  if (settings.filename !== undefined) return settings.filename
  throw new InvalidTaskError('filename', "No handler: give 'filename' to the pool or to run().")
}
