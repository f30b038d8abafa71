// The payload and the resolved options of one call of `run()`.

import type { TransferItem } from '../../api/call-options.js'
import type { SerializedError } from '../../shared/errors/serialize-error.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { FailureReason } from '../../shared/messages/messages.js'
import type { AsyncContext } from '../../shared/platform/async-context.js'
import type { Exchange } from './exchange.js'
import type { RetrySettings } from './retry.js'
import type { TakenPayload } from './taken-payload.js'

/** `Infinity`: no limit. Calls without limits of their own share the object of the pool. */
export interface Limits {
  /** Counts from the start of the task in a worker. */
  readonly timeoutMs: number
  /** Counts from the call until a worker starts the task. */
  readonly queueTimeoutMs: number
  /** Milliseconds since the epoch. */
  readonly deadline: number
}

/** Learns how tasks with items of a map run. */
export interface ItemsListener {
  /** A task of the call was answered. */
  onRun(runMs: number): void
  /** The next item of a pack has its result. */
  onItem(result: unknown): void
  /** The next item of a pack has failed. */
  onItemFailed(failure: { reason: FailureReason; error: SerializedError; path: string }): void
  /** The host could not read the result of the next item. */
  onItemUnreadable(): void
}

/** The resolved options of a call. All calls without options share one object. */
export interface CallTerms {
  readonly handler: HandlerRef
  readonly transferList: readonly TransferItem[]
  readonly signal: AbortSignal | null
  readonly limits: Limits | null
  /** The worker runs no other task beside this one. */
  readonly isExclusive: boolean
  readonly priority: number
  /** `null`: no key. */
  readonly key: string | null
  /** Tasks with the same key run one after another. */
  readonly isSerial: boolean
  /** `null`: the group of the tasks without a group. */
  readonly group: string | null
  readonly queueOptions: unknown
  readonly retry: RetrySettings | null
  readonly exchange: Exchange
  /** The only worker that may run the task; 0: any worker. */
  readonly workerId: number
  /** The caller's async context, for `loadBalancer` and `retry.when`. Missing where the pool and the call have neither. */
  readonly context?: AsyncContext | undefined
  /** Only for the tasks of maps. */
  readonly items?: ItemsListener | undefined
  /** The values of the carried stores. Missing when the task carries none. */
  readonly carrier?: TakenPayload
}

export interface Call {
  readonly payload: unknown
  readonly terms: CallTerms
}

/** The terms with carried values. Names each field, because a spread of frozen terms takes longer than a short task. */
export function carryingTerms(terms: CallTerms, carrier: TakenPayload): CallTerms {
  return {
    handler: terms.handler,
    transferList: terms.transferList,
    signal: terms.signal,
    limits: terms.limits,
    isExclusive: terms.isExclusive,
    priority: terms.priority,
    key: terms.key,
    isSerial: terms.isSerial,
    group: terms.group,
    queueOptions: terms.queueOptions,
    retry: terms.retry,
    exchange: terms.exchange,
    workerId: terms.workerId,
    context: terms.context,
    items: terms.items,
    carrier,
  }
}
