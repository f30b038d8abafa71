// Makes the terms of a call from its options and the settings of the pool.
import type { RunOptions, TransferItem } from '../../api/call-options.js'
import type { RetryOptions } from '../../api/pool-options.js'
import { type ParentTask, parentTask } from '../../shared/context/parent-task.js'
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import { isMoved, transferOf, valueSymbol } from '../../shared/messages/moved.js'
import { mayHoldOptions, OptionErrors } from '../../shared/options/option-table.js'
import { AsyncContext } from '../../shared/platform/async-context.js'
import { HandlerFileProblem, resolveHandlerFile } from '../options/handler-file.js'
import { type CoreSettings, limitsOf, retryOf } from '../options/settings.js'
import type { Call, CallTerms } from '../task/call.js'
import type { Exchange } from '../task/exchange.js'
import type { RetrySettings } from '../task/retry.js'
import { NOTHING, type ReadRunOptions, runTable } from './call-options.js'
import { noFunctions, withFunctions, withProgress } from './exchange.js'

const runErrors = new OptionErrors('run()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  transfer: "Use 'transferList'.",
})

/** The terms of all calls without options. `null`: the pool has no handler, so each call needs options. */
export function plainTerms({ handler, limits, retry }: CoreSettings): CallTerms | null {
  if (handler === null) return null
  return Object.freeze({
    handler,
    transferList: NOTHING,
    signal: null,
    limits,
    isExclusive: false,
    priority: 0,
    key: null,
    isSerial: false,
    group: null,
    queueOptions: undefined,
    retry,
    exchange: noFunctions,
    workerId: 0,
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
  if (given !== undefined && !mayHoldOptions(given)) {
    runErrors.noObject(given, 'signal', severalArguments(payload, given, settings))
  }
  const options = runTable.read(given ?? {}, runErrors)
  let { transferList } = options
  if (isMoved(payload)) {
    transferList = [...transferList, ...transferOf(payload)]
    payload = payload[valueSymbol]
  }
  return { payload, terms: termsOf({ ...options, transferList }, settings) }
}

/** The advice for a second argument that is no object with options. Shows no texts and objects: logs keep messages. */
function severalArguments(payload: unknown, given: unknown, { handler, name }: CoreSettings): string {
  const shown = [payload, given].map(value => (typeof value === 'number' ? String(value) : '…'))
  const naming = typeof given === 'string' ? ' To choose the function, write { name }.' : ''
  return `${naming} To call the function with several arguments, use pool.api.${handler?.name ?? name}(${shown.join(', ')}).`
}

/** Throws `InvalidTaskError`. */
export function termsOf(
  options: ReadRunOptions,
  settings: CoreSettings,
  handler = handlerOf(options, settings),
): CallTerms {
  const { timeout, queueTimeout, transferList } = options
  const parent = options.inherit ? parentTask() : null
  const deadline = earlier(options.deadline, parent?.deadline)
  return {
    handler,
    transferList,
    signal: signalOf(options.signal ?? null, parent),
    limits: limitsOf({ timeout, queueTimeout, deadline }, settings.limits),
    // A worker with one slot runs one task anyway.
    isExclusive: options.exclusive && settings.concurrentTasksPerWorker > 1,
    priority: options.priority,
    ...placesOf(options, settings),
    queueOptions: options.queueOptions,
    retry: retryOfCall(options.retry, transferList, settings),
    exchange: exchangeOf(options),
    workerId: 0,
  }
}

/** The options that say which tasks a task follows. Throws `InvalidTaskError`. */
function placesOf(
  { key, keyOrder, group }: Pick<ReadRunOptions, 'key' | 'keyOrder' | 'group'>,
  { groups }: CoreSettings,
): Pick<CallTerms, 'key' | 'isSerial' | 'group'> {
  if (keyOrder !== undefined && key === undefined)
    throw new InvalidTaskError(
      'keyOrder',
      `The option 'keyOrder' ('${keyOrder}') has no effect without 'key'. Add 'key', or leave out 'keyOrder'.`,
    )
  if (group !== undefined && groups === undefined)
    throw new InvalidTaskError(
      'group',
      `The option 'group' ('${group}') needs the option 'groups' of the pool. Create the pool with 'groups: {}'.`,
    )
  return { key: key ?? null, isSerial: key !== undefined && keyOrder !== 'none', group: group ?? null }
}

function earlier(own: Date | number | undefined, ofParent: Date | undefined): number | undefined {
  if (own === undefined) return ofParent?.getTime()
  return Math.min(Number(own), ofParent?.getTime() ?? Number.POSITIVE_INFINITY)
}

function signalOf(own: AbortSignal | null, parent: ParentTask | null): AbortSignal | null {
  if (parent === null) return own
  return own === null ? parent.signal : AbortSignal.any([own, parent.signal])
}

function exchangeOf({ onProgress, functions }: ReadRunOptions): Exchange {
  const exchange = functions === undefined ? noFunctions : withFunctions(functions)
  if (onProgress === undefined) return exchange
  const context = new AsyncContext('lido.progress')
  return withProgress(exchange, given => context.run(() => onProgress(given)))
}

/** The call with the same terms for another payload. */
export function callOf(payload: unknown, terms: CallTerms): Call {
  if (!isMoved(payload)) return { payload, terms }
  return {
    payload: payload[valueSymbol],
    terms: { ...terms, transferList: transferOf(payload), retry: null },
  }
}

/** The terms of a call whose payload is an array of arguments. Throws `InvalidTaskError`. */
export function termsOfFunction(name: string, options: ReadRunOptions, settings: CoreSettings): CallTerms {
  const terms = termsOf({ ...options, name }, settings)
  return { ...terms, handler: { ...terms.handler, call: 'arguments' } }
}

/** A transferred payload cannot be sent again, so the pool's option `retry` does not apply to such a task. */
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
    "The option 'retry' of run() cannot be combined with a moved payload or a transferList, because such a payload is lost when its worker dies. Leave out one of the two.",
  )
}

/** Calls without a name and a file share the handler object of the pool. */
function handlerOf({ filename, name }: ReadRunOptions, settings: CoreSettings): HandlerRef {
  if (filename === undefined && name === undefined && settings.handler !== null) return settings.handler
  return { filename: handlerFileOf(filename, settings), name: name ?? settings.name }
}

/** The absolute path of a file that a call names. Throws `InvalidTaskError`. */
export function fileOf(given: unknown, name: string, place: string): string {
  const file = resolveHandlerFile(given)
  if (!(file instanceof HandlerFileProblem)) return file
  throw new InvalidTaskError(name, `The ${place} ${file.text}.`, file.cause)
}

function handlerFileOf(given: unknown, settings: CoreSettings): string {
  if (given !== undefined && given !== null) return fileOf(given, 'filename', "option 'filename' of run()")
  if (settings.handler !== null) return settings.handler.filename
  if (settings.handlerProblem !== null)
    throw new InvalidTaskError('filename', `The handler's file of this pool ${settings.handlerProblem}.`)
  throw new InvalidTaskError(
    'filename',
    "The call has no handler file. Give 'module' or 'filename' to the pool, or 'filename' to run().",
  )
}
