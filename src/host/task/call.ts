// What a call asks for, apart from where it stands.
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { TransferItem } from '../../shared/messages/move.js'
import type { RetrySettings } from './retry.js'

/** The time limits of a call or its pool; `Infinity`: no limit. Calls that leave it to the pool share one object. */
export interface Limits {
  /** From the moment a worker starts the task. */
  readonly timeoutMs: number
  /** From the call until a worker starts the task. */
  readonly queueTimeoutMs: number
  /** In milliseconds of the epoch. */
  readonly deadline: number
}

/** What a call says beside its payload. One object for all calls that leave it to the pool. */
export interface CallTerms {
  readonly handler: HandlerRef
  readonly transferList: readonly TransferItem[]
  readonly signal: AbortSignal | null
  readonly limits: Limits | null
  /** The task has its worker to itself. */
  readonly isExclusive: boolean
  readonly priority: number
  readonly queueOptions: unknown
  readonly retry: RetrySettings | null
}

export interface Call {
  readonly payload: unknown
  readonly terms: CallTerms
}
