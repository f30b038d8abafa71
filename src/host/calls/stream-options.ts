// The options of `pool.stream()` and `pool.transform()`.
import type { StreamOptions, TransformOptions } from '../../api/call-options.js'
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import type { TransformOrder } from '../../shared/messages/handler-ref.js'
import { isMoved, transferOf, valueSymbol } from '../../shared/messages/moved.js'
import { boolean, integer } from '../../shared/options/option-rules.js'
import {
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type Resolved,
  type RulesFor,
} from '../../shared/options/option-table.js'
import type { StreamWindow } from '../../shared/streams/chunk-bytes.js'
import type { CoreSettings } from '../options/settings.js'
import type { Call, CallTerms } from '../task/call.js'
import { runTable } from './call-options.js'
import { termsOf } from './call-terms.js'

/** Without options, as for a stream from `pool.api`. */
export const DEFAULT_WINDOW: StreamWindow = { chunks: 16, bytes: 2 ** 20 }

const { retry: _retry, transferList, ...callRules } = runTable.rules

const bothRules = {
  ...callRules,
  highWaterMark: integer({ min: 1 }, { default: DEFAULT_WINDOW.chunks }),
  highWaterMarkBytes: integer(
    { min: 1 },
    {
      default: DEFAULT_WINDOW.bytes,
    },
  ),
}

export const streamTable = new OptionTable({ ...bothRules, transferList } satisfies RulesFor<StreamOptions>)

export const transformTable = new OptionTable({
  ...bothRules,
  transfer: boolean({ default: false }),
} satisfies RulesFor<TransformOptions>)

const RETRY_REMEDY = 'A stream cannot run again, because its reader may have taken chunks. Leave it out.'
const streamErrors = new OptionErrors('stream()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  retry: RETRY_REMEDY,
})
const transformErrors = new OptionErrors('transform()', InvalidTaskError, {
  abortSignal: "Use 'signal'.",
  retry: RETRY_REMEDY,
  transferList: "Use 'transfer: true' to transfer the buffers of chunks.",
})

/** Throws `InvalidTaskError`. */
export function resolveStream(
  payload: unknown,
  given: StreamOptions | undefined,
  settings: CoreSettings,
): { call: Call; window: StreamWindow } {
  if (given !== undefined && !mayHoldOptions(given)) streamErrors.noObject(given, 'signal')
  const options = streamTable.read(given ?? {}, streamErrors)
  let value = payload
  let transferred = options.transferList
  if (isMoved(payload)) {
    transferred = [...transferred, ...transferOf(payload)]
    value = payload[valueSymbol]
  }
  const terms = streamTerms('stream', { ...options, transferList: transferred }, settings)
  return { call: { payload: value, terms }, window: windowOf(options) }
}

/** Throws `InvalidTaskError`. */
export function resolveTransform(
  given: TransformOptions | undefined,
  settings: CoreSettings,
): { call: Call; window: StreamWindow; transfers: boolean } {
  if (given !== undefined && !mayHoldOptions(given)) transformErrors.noObject(given, 'signal')
  const options = transformTable.read(given ?? {}, transformErrors)
  const { chunks, bytes } = windowOf(options)
  const payload: TransformOrder = { chunks, bytes, transfers: options.transfer }
  const terms = streamTerms('transform', { ...options, transferList: [] }, settings)
  return { call: { payload, terms }, window: { chunks, bytes }, transfers: options.transfer }
}

function streamTerms(
  call: 'stream' | 'transform',
  options: Omit<Resolved<(typeof streamTable)['rules']>, 'highWaterMark' | 'highWaterMarkBytes'>,
  settings: CoreSettings,
): CallTerms {
  const terms = termsOf({ ...options, retry: undefined }, settings)
  return { ...terms, retry: null, handler: { ...terms.handler, call } }
}

function windowOf(options: { highWaterMark: number; highWaterMarkBytes: number }): StreamWindow {
  return { chunks: options.highWaterMark, bytes: options.highWaterMarkBytes }
}
